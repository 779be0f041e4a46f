"""What a revision that is not yet searchable will be cut into, for whoever reads their own fresh writes.

Cut as extraction will cut it: the ids are the same as later, so that a passage in both lanes is one. Formats
that need the document reader are found once they are searchable; a recall does not wait for them.
"""

from collections import OrderedDict
from collections.abc import Sequence

from dormouse.clock import Clock
from dormouse.errors import InvalidInputError
from dormouse.ids import DocumentId
from dormouse.ingest.parse import parse
from dormouse.ingest.split import split
from dormouse.model.document import Document, Revision
from dormouse.model.passage import Passage
from dormouse.ports.document_reader import DocumentReader, ReadDocument

KEPT = 200  # documents; twice what one recall looks at
KEPT_MS = 30_000  # by then it is searchable, or forgotten and must not linger here


class _ReadsNothing:
    async def read(self, content: bytes, filename: str) -> ReadDocument:  # noqa: ARG002 - the port's shape
        raise InvalidInputError("formats that are not text are not previewed", field="content")


_READER: DocumentReader = _ReadsNothing()


class Preview:
    """Keeps what it cut for a while: a bulk ingest has the same notes waiting at every recall."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._kept: OrderedDict[tuple[DocumentId, int], tuple[int, Sequence[Passage]]] = OrderedDict()

    async def passages_of(self, document: Document, revision: Revision) -> Sequence[Passage]:
        """None if it does not lie inline or is no readable text: its job will fail and say so."""
        now_ms = self._clock.now_ms()
        self._let_go(now_ms)
        key = (document.id, revision.number)
        if key not in self._kept:
            self._kept[key] = (now_ms, await _cut(document, revision))
        return self._kept[key][1]

    def _let_go(self, now_ms: int) -> None:
        """Oldest first: they were put in in the order of time."""
        while self._kept:
            cut_ms, _ = next(iter(self._kept.values()))
            if len(self._kept) <= KEPT and now_ms - cut_ms <= KEPT_MS:
                return
            self._kept.popitem(last=False)


async def _cut(document: Document, revision: Revision) -> Sequence[Passage]:
    if not revision.inline:
        return ()
    try:
        parsed = await parse(revision.inline, revision.kind, revision.filename, revision.zone, _READER)
    except InvalidInputError:
        return ()
    return split(parsed, document, revision)
