"""A PostgreSQL URL as users write it, in the driver's words."""

import ssl
from dataclasses import dataclass, field
from typing import Any

from sqlalchemy import URL, make_url
from sqlalchemy.exc import ArgumentError

from dormouse.errors import MisconfiguredError

SETTING = "DATABASE__URL"
SCHEMES = ("postgresql", "postgres", "postgresql+asyncpg")
_NAME_MISMATCHES = {62, 64}  # OpenSSL's numbers for a host name and an IP address
_MODES = ("disable", "allow", "prefer", "require", "verify-ca", "verify-full")


@dataclass(frozen=True, slots=True)
class Address:
    """`arguments` are the driver's, beside what `url` says."""

    url: URL
    arguments: dict[str, Any] = field(default_factory=dict)


def is_postgresql(url: str) -> bool:
    return url.partition(":")[0] in SCHEMES


def address_of(url: str) -> Address:
    """Raises `MisconfiguredError`, without repeating what may hold a password."""
    try:
        parsed = make_url(url)
    except (ArgumentError, ValueError) as exc:
        raise _wrong("is not a URL; write postgresql://user:password@host:5432/database") from exc
    if not parsed.database:
        raise _wrong("names no database; write postgresql://user:password@host:5432/database")
    given = dict(parsed.query)
    mode, authorities = given.pop("sslmode", None), given.pop("sslrootcert", None)
    if given:
        raise _wrong(f"has the option {min(given)}, which is not known: sslmode and sslrootcert are")
    address = parsed.set(drivername="postgresql+asyncpg", query={})
    return Address(address, _encryption(mode, authorities))


def _encryption(mode: Any, authorities: Any) -> dict[str, Any]:  # noqa: ANN401  one value, or several of a name
    if mode is not None and mode not in _MODES:
        raise _wrong(f"has an sslmode that is none of {', '.join(_MODES)}")
    if mode not in ("verify-ca", "verify-full"):
        if authorities is not None:
            raise _wrong("has sslrootcert, which needs sslmode=verify-ca or verify-full")
        return {} if mode is None else {"ssl": mode}
    try:
        context = ssl.create_default_context(cafile=authorities)
    except (OSError, TypeError) as exc:
        raise _wrong("names a file in sslrootcert that cannot be read as certificates") from exc
    context.check_hostname = mode == "verify-full"
    return {"ssl": context}


def encryption_failure(failure: BaseException) -> MisconfiguredError | None:
    """What is wrong about `sslmode` and `sslrootcert`, if it is that."""
    if isinstance(failure, ssl.SSLCertVerificationError):
        if failure.verify_code in _NAME_MISMATCHES:
            return _wrong(
                "names the server otherwise than its certificate does, which sslmode=verify-full compares"
            )
        return _wrong("names a server whose certificate sslrootcert, or without it the system, does not verify")
    # The driver has no type of its own for a server that declines.
    if type(failure) is ConnectionError and "SSL" in str(failure):
        return _wrong("has an sslmode that wants TLS, and the server answers without it")
    return None


def _wrong(rule: str) -> MisconfiguredError:
    return MisconfiguredError(f"DORMOUSE_{SETTING} {rule}", setting=SETTING)
