"""What may stand in a name that people read: nothing invisible that acts on the text around it."""

import unicodedata

_BIDI_OVERRIDES = frozenset("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")


def is_nameable(name: str) -> bool:
    """False with control characters, unpaired surrogates, or marks that turn the direction of what follows."""
    return not any(
        unicodedata.category(character) in ("Cc", "Cs") or character in _BIDI_OVERRIDES for character in name
    )
