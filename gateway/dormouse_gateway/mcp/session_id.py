"""Who a client said it is, in a session id that any replica can read: `payload.signature`.

Clients that shake hands name themselves once, then only echo the session id. Nothing is kept on the server.
The id proves no right and is never required: one that is absent, foreign or altered means "no name known".
"""

import base64
import binascii
import hashlib
import hmac
import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

MAX_NAME_CHARACTERS = 128
MAX_VERSION_CHARACTERS = 32

_MAX_CHARACTERS = 2048  # an id of ours is shorter; whatever is longer is not worth a hash
_SIGNATURE_BYTES = 16


@dataclass(frozen=True, slots=True)
class ClientName:
    name: str
    version: str


class _ForeignError(Exception):
    """An id that no key of ours signed."""


class SessionIds:
    """Signs with the first key and reads with all of them, so that a key can be replaced."""

    def __init__(self, keys: Sequence[bytes]) -> None:
        if not keys or not all(keys):
            raise ValueError("at least one key, and none of them empty")
        self._keys = tuple(keys)
        self._read_signed = lru_cache(maxsize=1024)(self._named)  # a client sends the same one with every call

    def mint(self, client: ClientName) -> str:
        """Visible ASCII, as a header needs."""
        named = [client.name[:MAX_NAME_CHARACTERS], client.version[:MAX_VERSION_CHARACTERS]]
        payload = _encode(json.dumps(named, separators=(",", ":")).encode())
        return f"{payload}.{_encode(_sign(self._keys[0], payload))}"

    def read(self, session_id: str | None) -> ClientName | None:
        if not session_id or len(session_id) > _MAX_CHARACTERS or not session_id.isascii():
            return None
        try:
            return self._read_signed(session_id)
        except _ForeignError:
            return None

    def _named(self, session_id: str) -> ClientName:
        """Raises `_ForeignError`, so that only ids of ours are kept."""
        payload, _, signature = session_id.partition(".")
        given = _decode(signature)
        if not any(hmac.compare_digest(given, _sign(key, payload)) for key in self._keys):
            raise _ForeignError
        name, version = json.loads(_decode(payload))
        return ClientName(name, version)


def _sign(key: bytes, payload: str) -> bytes:
    return hmac.digest(key, payload.encode(), hashlib.sha256)[:_SIGNATURE_BYTES]


def _encode(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).decode().rstrip("=")


def _decode(text: str) -> bytes:
    """Empty when it is not base64: an empty signature fits no payload."""
    try:
        return base64.b64decode(text + "=" * (-len(text) % 4), altchars=b"-_", validate=True)
    except (binascii.Error, ValueError):
        return b""
