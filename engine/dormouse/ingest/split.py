"""A parsed document to passages with ids that survive an edit elsewhere in it.

A passage is named by its document and its indexed text: what stands over it is part of what it means, so a
corrected speaker, date or heading makes another passage. Source: retrieval, "Indexed units"; writes §2.
"""

from collections import Counter, deque
from collections.abc import Iterator
from dataclasses import dataclass, replace

from dormouse.ids import PassageId, passage_id, sha256_hex
from dormouse.ingest.chunks import MAX_WORDS, chunks_of, weight_of
from dormouse.ingest.parsed import ParsedDocument, Section, Turn
from dormouse.model.document import ContentKind, Document, Revision
from dormouse.model.passage import WINDOW_BEFORE, Passage, PassageKind, Precision
from dormouse.text.language import detect_language

_PATH_MARK = " › "
_MAX_HEADING_CHARACTERS = 300


def split(parsed: ParsedDocument, document: Document, revision: Revision) -> tuple[Passage, ...]:
    """In reading order; empty only if `parsed` holds no text."""
    naming = _Naming(document, revision)
    if parsed.turns:
        return tuple(naming.named(draft) for draft in _of_turns(parsed.turns, document, revision))
    return tuple(naming.named(draft) for draft in _of_sections(parsed, document, revision))


@dataclass(frozen=True, slots=True)
class _Draft:
    kind: PassageKind
    text: str
    heading: str
    session: str
    speaker: str = ""
    role: str = ""
    occurred_ms: int | None = None
    offset_minutes: int | None = None
    precision: Precision | None = None
    external_id: str | None = None


class _Naming:
    """Gives drafts their id, order and neighbours; remembers two ids a session and a count a text."""

    def __init__(self, document: Document, revision: Revision) -> None:
        self._document = document
        self._revision = revision
        self._seen: Counter[str] = Counter()
        self._before: dict[str, deque[PassageId]] = {}
        self._order = 0

    def named(self, draft: _Draft) -> Passage:
        digest = sha256_hex(f"{draft.heading}\0{draft.text}".encode())
        identifier = passage_id(self._document.id, digest, self._seen[digest])
        self._seen[digest] += 1
        before = self._before.setdefault(draft.session, deque(maxlen=WINDOW_BEFORE))
        passage = self._passage(draft, identifier, tuple(before))
        before.appendleft(identifier)
        self._order += 1
        return passage

    def _passage(self, draft: _Draft, identifier: PassageId, previous: tuple[PassageId, ...]) -> Passage:
        document, revision = self._document, self._revision
        return Passage(
            id=identifier,
            workspace=document.workspace,
            dataset=document.dataset,
            document=document.id,
            dataset_generation=document.dataset_generation,
            first_revision=revision.number,
            last_revision=revision.number,
            kind=draft.kind,
            order=self._order,
            session=draft.session,
            text=draft.text,
            heading=draft.heading,
            previous=previous,
            speaker=draft.speaker,
            role=draft.role,
            language=detect_language(draft.text),
            occurred_ms=draft.occurred_ms,
            offset_minutes=draft.offset_minutes,
            precision=draft.precision,
            external_id=draft.external_id or document.external_id,
            document_name=document.name,
        )


def _of_turns(turns: tuple[Turn, ...], document: Document, revision: Revision) -> Iterator[_Draft]:
    said_ms: dict[str, int] = {}
    for turn in turns:
        # Sessions of different documents may have one name and are still not one conversation.
        session = f"{document.id}:{turn.session}" if turn.session else str(document.id)
        draft = _Draft(
            kind=PassageKind.TURN,
            text="",
            heading=_who_and_what(turn),
            session=session,
            speaker=turn.speaker,
            role=turn.role,
            occurred_ms=turn.occurred_ms,
            offset_minutes=turn.offset_minutes,
            precision=turn.precision,
            external_id=turn.external_id,
        )
        if turn.occurred_ms is not None:
            said_ms[session] = turn.occurred_ms
        elif session in said_ms:  # said some time after what was said before it
            draft = replace(draft, occurred_ms=said_ms[session], precision=Precision.FUZZY)
        else:
            draft = _dated_by_caller(draft, revision)
        for text in _texts_of(turn.text):
            yield replace(draft, text=text)


def _who_and_what(turn: Turn) -> str:
    said = f"{turn.time} {turn.speaker}".strip()
    return f"{said}, {turn.subject}".strip(", ")[:_MAX_HEADING_CHARACTERS] if turn.subject else said


def _texts_of(message: str) -> Iterator[str]:
    """Short messages stay whole, whatever their shape."""
    if weight_of(message) <= MAX_WORDS:
        yield message.strip()
    else:
        yield from chunks_of(message)


def _of_sections(parsed: ParsedDocument, document: Document, revision: Revision) -> Iterator[_Draft]:
    for section in parsed.sections:
        for text in chunks_of(section.text, keeps_lines=section.keeps_lines):
            draft = _Draft(
                kind=PassageKind.CHUNK,
                text=text,
                heading=_heading(parsed, section, text, document, revision),
                session=str(document.id),
                occurred_ms=parsed.occurred_ms,
                precision=None if parsed.occurred_ms is None else Precision.DAY,
            )
            yield draft if parsed.occurred_ms is not None else _dated_by_caller(draft, revision)


def _heading(
    parsed: ParsedDocument, section: Section, text: str, document: Document, revision: Revision
) -> str:
    """The path under the document's title, or a file's name; never what the text begins with."""
    is_file = revision.kind is ContentKind.FILE
    top = parsed.title or (document.name if is_file else "")
    path = list(section.heading)
    if top and path[:1] != [top]:
        path.insert(0, top)
    if path and text.startswith(path[0]):
        path = path[1:]
    return _PATH_MARK.join(path)[:_MAX_HEADING_CHARACTERS]


def _dated_by_caller(draft: _Draft, revision: Revision) -> _Draft:
    """By the caller; else a note was said when it was handed over, and a file at no known time."""
    if revision.occurred_ms is not None:
        return replace(
            draft,
            occurred_ms=revision.occurred_ms,
            offset_minutes=revision.offset_minutes,
            precision=Precision.INSTANT,
        )
    if revision.kind is ContentKind.TEXT and draft.kind is PassageKind.CHUNK:
        return replace(draft, occurred_ms=revision.created_ms, precision=Precision.INSTANT)
    return draft
