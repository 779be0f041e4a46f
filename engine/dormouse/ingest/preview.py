"""What a revision that is not yet searchable will be cut into, for whoever reads their own fresh writes."""

from collections.abc import Sequence

from dormouse.errors import InvalidInputError
from dormouse.ingest.parse import parse
from dormouse.ingest.split import split
from dormouse.model.document import Document, Revision
from dormouse.model.passage import Passage
from dormouse.ports.document_reader import DocumentReader, ReadDocument


class _ReadsNothing:
    """A recall does not wait for PDF or Office files to be read; they are found once they are searchable."""

    async def read(self, content: bytes, filename: str) -> ReadDocument:  # noqa: ARG002 - the port's shape
        raise InvalidInputError("formats that are not text are not previewed", field="content")


_READER: DocumentReader = _ReadsNothing()


async def preview(document: Document, revision: Revision) -> Sequence[Passage]:
    """Its passages with the ids they will have; none if it does not lie inline or is no readable text."""
    if not revision.inline:
        return ()
    try:
        parsed = await parse(revision.inline, revision.kind, revision.filename, revision.zone, _READER)
    except InvalidInputError:  # its job will fail and say so
        return ()
    return split(parsed, document, revision)
