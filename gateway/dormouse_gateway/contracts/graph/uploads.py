"""A file that came as base64 with a name: decoded strictly, and named by its last part only.

Source: graph contract, "remember".
"""

import base64
import binascii
import re

from dormouse.model.document import CONTENT_LIMIT_BYTES
from dormouse_gateway.contracts.graph import texts
from dormouse_gateway.mcp.tool import ToolRefusal

UNNAMED = "upload.txt"
MAX_NAME_CHARACTERS = 200

_CONTROL = re.compile(r"[\x00-\x1f\x7f]")


def decode_upload(content_base64: str) -> bytes:
    """Raises ToolRefusal for anything but base64, and for more than the limit once decoded."""
    try:
        content = base64.b64decode(content_base64, validate=True)
    except (binascii.Error, ValueError):
        raise ToolRefusal(texts.NOT_BASE64) from None
    if len(content) > CONTENT_LIMIT_BYTES:
        raise ToolRefusal(texts.too_large(len(content)))
    return content


def upload_name(filename: str | None) -> str:
    """Where the client kept the file is nobody's business; what has no suffix is text."""
    last = re.split(r"[/\\]", _CONTROL.sub("", filename or ""))[-1].strip()
    if last.strip(".") == "":
        return UNNAMED
    stem, dot, suffix = last.rpartition(".")
    if not (dot and stem and suffix):
        last = f"{last.rstrip('.')}.txt"
    return last if len(last) <= MAX_NAME_CHARACTERS else _shortened(last)


def _shortened(name: str) -> str:
    """The suffix decides how a file is read, so it is the stem that gives way."""
    stem, _, suffix = name.rpartition(".")
    suffix = suffix[:20]
    return f"{stem[: MAX_NAME_CHARACTERS - len(suffix) - 1]}.{suffix}"
