"""API keys: 256 random bits, shown once, kept as a hash, each naming the user it speaks for.

A fast hash suffices: a key is random, so there is no word list to try. The file (`DORMOUSE_API_KEYS_FILE`)
is JSON, mode 0600, and read anew when it changes, so that a revoked key ends without a restart.
"""

import json
import os
import re
import secrets
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from dormouse.errors import InvalidInputError, MisconfiguredError, NotFoundError
from dormouse.ids import PrincipalId, sha256_hex

PREFIX = "dm_"  # secret scanners and people recognise a key by it
MAX_KEYS = 10_000
_USER = re.compile(r"[A-Za-z0-9][A-Za-z0-9._@-]{0,99}")


@dataclass(frozen=True, slots=True)
class ApiKey:
    """`id` names the key in lists and is no part of it; `user` is the principal it speaks for."""

    id: str
    user: str
    name: str
    sha256: str
    created_ms: int


class KeyFile:
    """The keys of one file. A missing file holds no key; a damaged one raises `MisconfiguredError`."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._seen: tuple[int, int, int] | None = None
        self._by_hash: dict[str, ApiKey] = {}

    def listing(self) -> Sequence[ApiKey]:
        """All keys, oldest first."""
        self._refresh()
        return sorted(self._by_hash.values(), key=lambda key: (key.created_ms, key.id))

    def principal_of(self, secret: str) -> PrincipalId | None:
        """Whom the key speaks for. Looked up by hash, so the time taken tells nothing of other keys."""
        self._refresh()
        key = self._by_hash.get(_hash(secret))
        return None if key is None else PrincipalId(key.user)

    def create(self, user: str, name: str, now_ms: int) -> tuple[ApiKey, str]:
        """A new key and its secret, which is never to be had again."""
        if not _USER.fullmatch(user):
            raise InvalidInputError(
                "a user is 1 to 100 letters, digits or ._@-, beginning with a letter or digit", field="user"
            )
        held = self.listing()
        if len(held) >= MAX_KEYS:
            raise InvalidInputError(f"at most {MAX_KEYS:,} keys fit in one file", field="user")
        secret = PREFIX + secrets.token_urlsafe(32)
        key = ApiKey(secrets.token_hex(4), user, name, _hash(secret), now_ms)
        self._write([*held, key])
        return key, secret

    def revoke(self, key_id: str) -> ApiKey:
        """Raises `NotFoundError` for an id that is not in the file."""
        held = self.listing()
        revoked = next((key for key in held if key.id == key_id), None)
        if revoked is None:
            raise NotFoundError("there is no key with this id; `dormouse keys list` shows them")
        self._write([key for key in held if key is not revoked])
        return revoked

    def _refresh(self) -> None:
        try:
            stat = self._path.stat()
        except FileNotFoundError:
            self._seen, self._by_hash = None, {}
            return
        # The inode too: a replaced file may have the same size within one tick of the clock.
        seen = (stat.st_mtime_ns, stat.st_size, stat.st_ino)
        if seen != self._seen:
            self._by_hash = {key.sha256: key for key in _read(self._path)}
            self._seen = seen

    def _write(self, keys: Sequence[ApiKey]) -> None:
        self._path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        draft = self._path.with_name(f".{self._path.name}.{os.getpid()}")
        draft.unlink(missing_ok=True)
        with os.fdopen(
            os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="utf-8"
        ) as stream:
            json.dump({"keys": [asdict(key) for key in keys]}, stream, indent=1)
        draft.replace(self._path)


def _hash(secret: str) -> str:
    return sha256_hex(secret.encode("utf-8", "surrogatepass"))


def _read(path: Path) -> list[ApiKey]:
    try:
        return [ApiKey(**row) for row in json.loads(path.read_text(encoding="utf-8"))["keys"]]
    except (ValueError, KeyError, TypeError, OSError) as exc:
        raise MisconfiguredError(
            "the API keys file cannot be read; make a new one with `dormouse keys create`",
            setting="API_KEYS_FILE",
        ) from exc
