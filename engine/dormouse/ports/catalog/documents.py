"""Catalog concern: documents and their revisions."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from dormouse.ids import BlobKey, DatasetId, DocumentId, JobId
from dormouse.model.document import Document, Item, Revision, Shown


@dataclass(frozen=True, slots=True)
class Derived:
    """Jobs that brought or hid what revisions of a document said; of their blobs, `originals` are texts."""

    jobs: Sequence[JobId]
    originals: frozenset[BlobKey]


class DocumentRegister(Protocol):
    """Documents that are not forgotten, and their revisions.

    "Live" means: of the dataset's current generation and not forgotten itself.
    """

    async def live_by_identity(self, dataset: DatasetId, identity: str) -> Document | None: ...

    async def live_by_content(self, dataset: DatasetId, content_sha256: str) -> Document | None:
        """The oldest live document without an external id whose newest revision that has not failed is this."""
        ...

    async def get(self, document: DocumentId) -> Document | None:
        """None if it never was, is forgotten or of a past generation."""
        ...

    async def live(self, documents: Collection[DocumentId]) -> Mapping[DocumentId, Shown]:
        """Those that are live and not suppressed: what hydration shows."""
        ...

    async def listing(
        self, dataset: DatasetId, *, after: DocumentId | None = None, limit: int = 100
    ) -> Sequence[Document]:
        """Live documents by id, a page at a time."""
        ...

    async def count(self, dataset: DatasetId) -> int:
        """Of live documents."""
        ...

    async def item_generation(self, dataset: DatasetId, identity: str) -> int:
        """0 until something of this identity is forgotten; kept as a hash for ever."""
        ...

    async def save(self, document: Document, *, is_new: bool = False) -> None:
        """Insert, or replace all its columns; `is_new` where the caller's transaction knows that it is."""
        ...

    async def forget(self, document: DocumentId) -> Document | None:
        """Raise the item's generation, so that it is not live from this commit on; None if it is not live."""
        ...

    async def erase(
        self, dataset: DatasetId, *, document: DocumentId | None, below_generation: int | None
    ) -> Sequence[JobId]:
        """Delete rows, names, inline text and revisions of what was forgotten; returns jobs whose blobs go."""
        ...


class RevisionRegister(Protocol):
    async def add(self, revision: Revision) -> None: ...

    async def get(self, document: DocumentId, number: int) -> Revision | None: ...

    async def items(self, documents: Collection[DocumentId]) -> Mapping[DocumentId, Item]:
        """Live documents with their newest revision, failed or not, without its inline text."""
        ...

    async def staged(self, dataset: DatasetId, *, limit: int) -> Sequence[tuple[Document, Revision]]:
        """Live documents whose newest revision waits to be taken up, by document id."""
        ...

    async def take_up(self, document: DocumentId, number: int, job: JobId, options: dict[str, str]) -> None:
        """The staged revision is this job's from now on."""
        ...

    async def newest_sound(self, document: DocumentId) -> Revision | None:
        """The newest that has not failed: what deduplication compares with."""
        ...

    async def mark_failed(self, document: DocumentId, number: int) -> None: ...

    async def move_inline(self, document: DocumentId, number: int, blob: BlobKey) -> None:
        """Once searchable: drop the inline text in favour of the blob."""
        ...

    async def recent_inline(
        self, datasets: Collection[DatasetId], limit: int
    ) -> Sequence[tuple[Document, Revision]]:
        """The newest live revisions, of nothing suppressed, that are not yet searchable and lie inline.

        Newest first.
        """
        ...

    async def erase_derived(self, document: DocumentId, below: int) -> Derived:
        """Delete all rows of what was derived from revisions before `below`, but none that tells of a text.

        Applied changes of theirs lose their change sets, so that no rebuild follows them.
        """
        ...
