"""`server.json`: where the owner of a data folder answers, and the token it knows its own user by.

Written whole or not at all, readable by its user alone (mode 0600). A file that a killed owner left behind
says nothing by itself: whoever reads it asks the address before trusting it (`find.py`).
"""

import json
import os
import secrets
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path

SERVER_FILE = "server.json"


@dataclass(frozen=True, slots=True)
class ServerAddress:
    """`url` is without a trailing slash; `token` opens it as the user of this machine."""

    pid: int
    url: str
    token: str
    version: str


def new_token() -> str:
    """256 random bits, new with every start of an owner."""
    return secrets.token_urlsafe(32)


def publish(folder: Path, address: ServerAddress) -> None:
    """Replace the file in one step; it never exists with wider rights than 0600."""
    draft = folder / f".{SERVER_FILE}.{address.pid}"
    draft.unlink(missing_ok=True)
    handle = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(handle, "w", encoding="utf-8") as stream:
        json.dump(asdict(address), stream)
    draft.replace(folder / SERVER_FILE)


def published(folder: Path) -> ServerAddress | None:
    """What the file says, or None when there is none or it is not one of ours."""
    try:
        said = json.loads((folder / SERVER_FILE).read_text(encoding="utf-8"))
        return ServerAddress(
            pid=int(said["pid"]), url=str(said["url"]), token=str(said["token"]), version=str(said["version"])
        )
    except (OSError, ValueError, KeyError, TypeError):
        return None


def withdraw(folder: Path, pid: int) -> None:
    """Remove the file if it is still this process's own; a successor's stays."""
    address = published(folder)
    if address is not None and address.pid == pid:
        with suppress(OSError):
            (folder / SERVER_FILE).unlink()
