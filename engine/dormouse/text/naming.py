"""What may stand in a name that people read, and when two spellings of it are one name. Pure.

Names are compared in Unicode's composed form (NFC): some systems spell the same letters differently.
"""

import unicodedata

RULE = "must not contain control, invisible or undecodable characters, nor be '.' or '..'"

_JOINERS = frozenset("\u200c\u200d")  # between letters of some scripts, and in emoji
_UNDECODABLE = "\ufffd"
_REFUSED = frozenset({"Cc", "Cf", "Cs", "Zl", "Zp"})


def is_nameable(name: str) -> bool:
    """False with what nobody sees or what acts on the text around it, and for what means a folder."""
    return name not in {".", ".."} and all(
        character in _JOINERS or (character != _UNDECODABLE and unicodedata.category(character) not in _REFUSED)
        for character in name
    )


def composed(name: str) -> str:
    """The one spelling of a name, whatever it is; text that cannot be encoded stays as it is."""
    return unicodedata.normalize("NFC", name)
