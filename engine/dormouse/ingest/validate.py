"""What may be remembered: whole, readable, of a sensible size. Pure but for the zone database.

Nothing of the content is ever repeated in a message. Source: architecture §8; graph contract, "remember".
"""

from dormouse.errors import InvalidInputError, TooLargeError
from dormouse.ingest.sound_text import check_characters, check_text
from dormouse.ingest.timestamps import zone_named
from dormouse.model.document import CONTENT_LIMIT_BYTES, Content, ContentKind
from dormouse.model.instant import has_date
from dormouse.text.naming import RULE, is_nameable

MAX_LABEL_CHARACTERS = 1_000


def check(content: Content) -> None:
    """Raises `TooLargeError` or `InvalidInputError` naming the field and the rule."""
    if len(content.body) > CONTENT_LIMIT_BYTES:
        raise TooLargeError(
            f"content may have at most {CONTENT_LIMIT_BYTES // (1024 * 1024)} MiB", field="content"
        )
    if content.kind is not ContentKind.FILE:
        _check_text(content.body)
    elif not content.body:
        raise InvalidInputError("content must not be empty", field="content")
    _check_label(content.external_id, "external_id")
    _check_label(content.filename or None, "filename")
    if content.occurred_ms is not None and not has_date(content.occurred_ms):
        raise InvalidInputError("occurred_at must be within the years 1 to 9999, in UTC", field="occurred_at")
    zone_named(content.zone)


def _check_text(body: bytes) -> None:
    try:
        text = body.decode()
    except UnicodeDecodeError as exc:
        raise InvalidInputError("content must be valid Unicode text", field="content") from exc
    check_text(text, "content")


def _check_label(label: str | None, field: str) -> None:
    if label is None:
        return
    if not label.strip() or len(label) > MAX_LABEL_CHARACTERS:
        raise InvalidInputError(f"{field} must have 1 to {MAX_LABEL_CHARACTERS} characters", field=field)
    check_characters(label, field)
    if not is_nameable(label):
        raise InvalidInputError(f"{field} {RULE}", field=field)
