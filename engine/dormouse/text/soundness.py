"""Characters that not every store can hold: a lone surrogate cannot be encoded, a NUL ends strings. Pure."""

import re

_UNSOUND = re.compile(r"[\x00\ud800-\udfff]")


def is_encodable(value: str) -> bool:
    try:
        value.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True


def is_sound(value: str) -> bool:
    return "\0" not in value and is_encodable(value)


def made_sound(value: str) -> str:
    """Without the characters that no store takes."""
    return _UNSOUND.sub("", value)
