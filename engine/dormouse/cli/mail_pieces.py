"""A mailbox larger than a document may be, cut into pieces between messages.

Filled from the start, so that mail which comes later changes the last piece only.
"""

import mmap
import re
from collections.abc import Iterator
from pathlib import Path

from dormouse.model.document import CONTENT_LIMIT_BYTES

_NEXT_MESSAGE = re.compile(rb"(?:(?<=\n\n)|(?<=\n\r\n))From [^\r\n]*\r?\n(?=[!-9;-~]+:)")


def pieces(path: Path, size_bytes: int, limit_bytes: int = CONTENT_LIMIT_BYTES) -> Iterator[tuple[int, int]]:
    """Where each piece begins and ends; a message over the limit is one too, for the server to refuse."""
    with path.open("rb") as stream, mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ) as mapped:
        start = end = 0
        for boundary in (*(each.start() for each in _NEXT_MESSAGE.finditer(mapped)), size_bytes):
            if boundary - start > limit_bytes and end > start:
                yield start, end
                start = end
            end = boundary
        yield start, end
