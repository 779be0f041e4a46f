"""The socket a server listens on, taken before anything else starts, so that a taken port is told at once."""

import errno
import socket

from dormouse.errors import MisconfiguredError

BACKLOG = 2048


def listen(host: str, port: int) -> socket.socket:
    """Bound and listening; port 0 takes a free one. Raises MisconfiguredError that says what to do."""
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(
            host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
    except OSError as exc:
        raise MisconfiguredError(
            f"'{host}' is no address of this machine: set DORMOUSE_HOST to one, such as 127.0.0.1",
            setting="DORMOUSE_HOST",
        ) from exc
    taken = socket.socket(family, kind, protocol)
    try:
        if hasattr(socket, "SO_EXCLUSIVEADDRUSE"):  # Windows lets two share a port otherwise
            taken.setsockopt(socket.SOL_SOCKET, socket.SO_EXCLUSIVEADDRUSE, 1)
        else:
            taken.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        taken.bind(address)
        taken.listen(BACKLOG)
    except OSError as exc:
        taken.close()
        raise _refusal(host, port, exc) from exc
    taken.setblocking(False)  # noqa: FBT003 - the standard library's signature
    return taken


def url_of(listening: socket.socket) -> str:
    """The address to reach it by from this machine: one that stands for all is shown as loopback."""
    host, port = listening.getsockname()[:2]
    host = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(host, host)  # noqa: S104 - compared, not bound
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


def _refusal(host: str, port: int, error: OSError) -> MisconfiguredError:
    if error.errno == errno.EADDRINUSE:
        return MisconfiguredError(
            f"port {port} of {host} is taken: end the program that uses it, or set DORMOUSE_PORT to another "
            "port (0 takes any free one)",
            setting="DORMOUSE_PORT",
        )
    if error.errno == errno.EACCES:
        return MisconfiguredError(
            f"port {port} of {host} needs rights that this user lacks: set DORMOUSE_PORT to one above 1023",
            setting="DORMOUSE_PORT",
        )
    return MisconfiguredError(
        f"cannot listen on {host}: set DORMOUSE_HOST to an address of this machine", setting="DORMOUSE_HOST"
    )
