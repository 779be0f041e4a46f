"""Which document a remembered content belongs to, and whether it is already there. Pure.

Compared is the newest revision that has not failed. Source: writes §2; architecture §5.
"""

from dataclasses import dataclass
from typing import Literal

from dormouse.ids import sha256_hex
from dormouse.model.document import Content, Document, Revision


@dataclass(frozen=True, slots=True)
class Known:
    """A live document and its newest sound revision, None when every one has failed."""

    document: Document
    newest: Revision | None


@dataclass(frozen=True, slots=True)
class Decision:
    """`known` is the document meant by "duplicate" and "new_revision"."""

    action: Literal["duplicate", "new_revision", "new_document"]
    known: Known | None = None


def identity_of(content: Content) -> str:
    """The key under which a later version of the same thing is found again.

    The caller's own name for it, else a file's name, else the content itself: text without a name has no
    later version.
    """
    if content.external_id is not None:
        return f"external:{content.external_id}"
    if content.filename:
        return f"file:{content.filename}"
    return f"content:{sha256_hex(content.body)}"


def decide(content_sha256: str, named: Known | None, twin: Known | None) -> Decision:
    """`named` has the content's identity; `twin` is another live document with the same content.

    A caller who gave an external id gets no twin: two names are two documents.
    """
    if named is not None:
        is_same = named.newest is not None and named.newest.content_sha256 == content_sha256
        return Decision("duplicate" if is_same else "new_revision", named)
    if twin is not None:
        return Decision("duplicate", twin)
    return Decision("new_document")
