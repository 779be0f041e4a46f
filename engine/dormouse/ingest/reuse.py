"""Which results of an older revision still hold for a passage of a newer one. Pure.

A passage's vectors depend on its own indexed text and on its window's; what was extracted depends on the time
it was said at too. Results of another model or extractor are never taken. Source: writes §2.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from dormouse.codec.part import Part
from dormouse.ids import PassageId
from dormouse.model.memory import Extraction
from dormouse.model.passage import Passage, PassageKind, PassageVectors


@dataclass(frozen=True, slots=True)
class Versions:
    """What computes results now."""

    embedder: str
    extractor: str
    zone: str


class Reuse:
    """The results of one older revision, by passage; empty for a first revision."""

    def __init__(self, parts: Iterable[Part], versions: Versions) -> None:
        self._passages: dict[PassageId, Passage] = {}
        self._vectors: dict[PassageId, PassageVectors] = {}
        self._extractions: dict[PassageId, Extraction] = {}
        for part in parts:
            self._take(part, versions)

    def vectors(self, passage: Passage, others: Mapping[PassageId, Passage]) -> PassageVectors | None:
        """Its vectors, if neither it nor its window changed."""
        older = self._passages.get(passage.id)
        if older is None or _said(older, self._passages) != _said(passage, others):
            return None
        return self._vectors.get(passage.id)

    def extraction(self, passage: Passage, others: Mapping[PassageId, Passage]) -> Extraction | None:
        """What was found in it, if it was also said at the same time."""
        older = self._passages.get(passage.id)
        if older is None or _when(older) != _when(passage):
            return None
        if _said(older, self._passages) != _said(passage, others):
            return None
        return self._extractions.get(passage.id)

    def _take(self, part: Part, versions: Versions) -> None:
        for passage, extraction, vectors in zip(part.passages, part.extractions, part.vectors, strict=True):
            self._passages[passage.id] = passage
            if part.embedder == versions.embedder:
                self._vectors[passage.id] = vectors
            if (part.extractor, part.zone) == (versions.extractor, versions.zone):
                self._extractions[passage.id] = extraction


def _said(passage: Passage, others: Mapping[PassageId, Passage]) -> tuple[object, ...]:
    """What vectors are computed from; only turns have a window."""
    own = (passage.indexed_text, passage.kind, passage.speaker, passage.role, passage.language)
    if passage.kind is not PassageKind.TURN:
        return own
    return (*own, *(others[each].indexed_text if each in others else None for each in passage.previous))


def _when(passage: Passage) -> tuple[object, ...]:
    return (passage.occurred_ms, passage.offset_minutes, passage.precision)
