"""`Idempotency-Key`: a repeated call is answered from the first one. Source: writes §1."""

import hashlib
from collections.abc import Iterable

from starlette.requests import Request

from dormouse.errors import InvalidInputError
from dormouse.model.receipt import IdempotencyKey
from dormouse_gateway.web.operation import Parameter

MAX_CHARACTERS = 255
IDEMPOTENCY_KEY = Parameter(
    "Idempotency-Key",
    "A call that is repeated with its key and body is answered from the first one; with another body it is "
    "refused.",
    {"type": "string", "minLength": 1, "maxLength": MAX_CHARACTERS, "pattern": "^[ -~]+$"},
    "header",
)


def idempotency_of(request: Request, route: str, body: Iterable[bytes]) -> IdempotencyKey | None:
    """The key with the hash of what counts as the body, or None when the caller sent none."""
    key = request.headers.get("idempotency-key")
    if key is None:
        return None
    if not (0 < len(key) <= MAX_CHARACTERS and key.isascii() and key.isprintable()):
        raise InvalidInputError(
            f"Idempotency-Key must be 1 to {MAX_CHARACTERS} visible ASCII characters", field="Idempotency-Key"
        )
    digest = hashlib.sha256()
    for part in body:
        # Length first, so that moving a byte from one part to the next is another body.
        digest.update(len(part).to_bytes(8, "big") + part)
    return IdempotencyKey(route=route, key=key, body_sha256=digest.hexdigest())
