"""The form under which spellings of one name meet. Pure."""

import unicodedata


def folded(name: str) -> str:
    """Case and spacing do not tell names apart; accents do."""
    return " ".join(unicodedata.normalize("NFC", unicodedata.normalize("NFC", name).casefold()).split())
