"""What the term statistics hold of passages that are to go: exactly what applied parts once added.

Terms are read from the part blobs that were counted, not computed anew: another version of the text rules
must not leave a remainder, and a part that never was applied was never counted. Source: writes §3.
"""

from collections import Counter
from collections.abc import Sequence

import structlog

from dormouse.codec.change_set import TermDelta
from dormouse.codec.part import Part, decode_part
from dormouse.errors import NotFoundError, StoreUnavailableError
from dormouse.ids import BlobKey, DocumentId, PassageId, TermId
from dormouse.model.change import Change
from dormouse.model.passage import Passage
from dormouse.ports.blob_store import BlobStore
from dormouse.ports.catalog.transaction import Catalog

PATIENT_ATTEMPTS = 4  # at counting; after that erasing goes before exact statistics

log = structlog.get_logger()


class UncountableError(Exception):
    """Counts as an attempt, unlike a store that is away: one damaged blob must not park a workspace."""


def added(part: Part, new: frozenset[PassageId]) -> Counter[TermId]:
    """How many of the new passages hold each term."""
    return Counter(
        term
        for passage, vectors in zip(part.passages, part.vectors, strict=True)
        if passage.id in new
        for term in vectors.terms
    )


class CountedTerms:
    def __init__(self, catalog: Catalog, blobs: BlobStore) -> None:
        self._catalog = catalog
        self._blobs = blobs

    async def removal(self, change: Change, passages: Sequence[Passage]) -> TermDelta:
        """The negative delta for these passages of the change's document; nothing while it is suppressed, for
        then they are not counted."""
        if change.document is not None:
            async with self._catalog.reading() as tx:
                if (await tx.hidden.of(change.document)).is_applied:
                    return TermDelta(change.dataset, change.generation)
        return await self.share(change, passages)

    async def share(self, change: Change, passages: Sequence[Passage]) -> TermDelta:
        """What they take from the statistics when they go, whether they are counted now or not."""
        waiting = {passage.id for passage in passages}
        terms: Counter[TermId] = Counter()
        counted = 0
        if change.document is not None and waiting:
            revisions = {
                each for passage in passages for each in (passage.last_revision, passage.first_revision)
            }
            for blob in await self._counted_parts(change.document, sorted(revisions, reverse=True)):
                part = await self._part(change, blob)
                if part is None:
                    continue
                for passage, vectors in zip(part.passages, part.vectors, strict=True):
                    if passage.id in waiting:
                        waiting.remove(passage.id)
                        counted += 1
                        terms.subtract(vectors.terms.keys())
        return TermDelta(change.dataset, change.generation, -counted, dict(terms))

    async def _part(self, change: Change, blob: BlobKey) -> Part | None:
        """None for a part that is lost: a damaged blob must not keep a forget from erasing.

        Raises `UncountableError` while trying again may still help.
        """
        try:
            return decode_part(await self._blobs.get(blob))
        except NotFoundError:
            pass
        except StoreUnavailableError as exc:
            if change.attempts < PATIENT_ATTEMPTS:
                raise UncountableError("what the statistics hold of it cannot be read") from exc
        log.warning("terms_left_counted", workspace=change.workspace, seq=change.seq)
        return None

    async def _counted_parts(self, document: DocumentId, revisions: Sequence[int]) -> list[BlobKey]:
        blobs: list[BlobKey] = []
        async with self._catalog.reading() as tx:
            for number in revisions:
                revision = await tx.revisions.get(document, number)
                if revision is None:
                    continue
                applied = (await tx.jobs.get(revision.job)).counts.parts_applied
                blobs += [part.blob for part in await tx.work.parts(revision.job) if part.index < applied]
        return blobs
