"""Text is sound when every store can hold it and a reader could see something: checked before storing.

A lone surrogate cannot be encoded, a NUL ends strings in some stores, blank text can never be found.
"""

from dormouse.errors import InvalidInputError
from dormouse.text.soundness import is_encodable


def check_text(value: str, field: str) -> None:
    """Raises `InvalidInputError` naming `field` and the rule; cheap enough for every request."""
    if not value or value.isspace():
        raise InvalidInputError(f"{field} must not be empty or blank", field=field)
    check_characters(value, field)


def check_characters(value: str, field: str) -> None:
    """The same without the rule against blank text, for parts of a document that may be empty."""
    if "\0" in value:
        raise InvalidInputError(f"{field} must not contain NUL characters", field=field)
    if not is_encodable(value):
        raise InvalidInputError(f"{field} must not contain unpaired surrogates", field=field)
