"""Memories without a model: sentences that claim something, with their exact words and their times.

Bounded for each passage, deterministic, nothing inferred. What an assistant, a system or a tool says is advice
or echo and makes no facts. Source: retrieval, "Extraction without an LLM"; contract-recall, "Time".
"""

import asyncio
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from dormouse.adapters.extractor.claims import Claim, claim_of, is_code, is_prose
from dormouse.adapters.extractor.names import MAX_NAME_CHARACTERS, names
from dormouse.model.interval import END_MS, Interval
from dormouse.model.memory import Basis, EntityDraft, Extraction, MemoryDraft, MemoryKind, SourceKind
from dormouse.model.passage import Passage, PassageKind, Precision
from dormouse.text.dates import DatedSpan, find_dates
from dormouse.text.sentences import sentences

MAX_MEMORIES = 30
CONFIDENCE = {Claim.FACT: 0.6, Claim.HAPPENED: 0.7, Claim.PLAN: 0.6}
SESSION_CONFIDENCE = 0.5

_SILENT_ROLES = frozenset({"assistant", "system", "tool"})
_SINCE = re.compile(
    r"\b(?:since|from|starting|beginning|effective|as of|seit|ab|depuis|desde)\b[\w ,]{0,12}$", re.IGNORECASE
)
_UNTIL = re.compile(r"\b(?:until|till|bis|jusqu['’]en|hasta)\b[\w ,]{0,8}$", re.IGNORECASE)
_THROUGH = re.compile(r"\b(?:through|to|and|–|-)\s*$", re.IGNORECASE)
_TO_YEAR = re.compile(r"\s*(?:to|until|till|through|and|–|-)\s*((?:1[5-9]|20)\d\d)\b")
_FENCE = re.compile(r"^[^\S\n]*```.*?(?:^[^\S\n]*```[^\S\n]*$|\Z)", re.MULTILINE | re.DOTALL)


class LexicalExtractor:
    """The same passages give the same drafts, always."""

    @property
    def version(self) -> str:
        return "lexical-1"

    async def extract(self, passages: Sequence[Passage], zone: str) -> Sequence[Extraction]:
        """One result per passage, in order; in a thread, for a part is up to half a second of work."""
        return await asyncio.to_thread(extract, tuple(passages), zone)


def extract(passages: Sequence[Passage], zone: str) -> tuple[Extraction, ...]:
    speakers = frozenset(_speaker(passage) for passage in passages) - {""}
    sessions = _session_ends(passages)
    return tuple(
        _of_passage(passage, zone, speakers, sessions.get(position))
        for position, passage in enumerate(passages)
    )


@dataclass(frozen=True, slots=True)
class _Session:
    speakers: tuple[str, ...]
    last_ms: int


@dataclass(frozen=True, slots=True)
class _Sentence:
    text: str
    before: str
    dates: tuple[DatedSpan, ...]
    start: int
    zone: str


def _speaker(passage: Passage) -> str:
    """Somebody's name; a mere role is none."""
    speaker = passage.speaker[:MAX_NAME_CHARACTERS]
    return "" if passage.role and speaker.lower() == passage.role else speaker


def _session_ends(passages: Sequence[Passage]) -> dict[int, _Session]:
    """By the position of a conversation's first passage: who speaks in it and when it was last spoken."""
    firsts: dict[str, int] = {}
    members: dict[int, list[Passage]] = {}
    for position, passage in enumerate(passages):
        if passage.kind is PassageKind.TURN and (passage.session in firsts or not passage.previous):
            first = firsts.setdefault(passage.session, position)
            members.setdefault(first, []).append(passage)
    return {
        first: _Session(
            tuple(dict.fromkeys(name for turn in turns if (name := _speaker(turn)))),
            max((turn.occurred_ms for turn in turns if turn.occurred_ms is not None), default=0),
        )
        for first, turns in members.items()
        if len(turns) > 1
    }


def _of_passage(passage: Passage, zone: str, speakers: frozenset[str], session: _Session | None) -> Extraction:
    said = list(_sentences(passage, zone))
    prose = " ".join(sentence.text for sentence in said) if is_code(passage.text) else passage.text
    found = names(prose, passage.language, speakers)
    speaker = _speaker(passage)
    everybody = tuple(dict.fromkeys([*([speaker] if speaker else []), *found]))
    drafts = list(_episode_of_session(passage, session)) if session else []
    if passage.role not in _SILENT_ROLES:
        drafts.extend(_claims(passage, said, everybody))
    return Extraction(
        passage=passage.id,
        memories=tuple(drafts[:MAX_MEMORIES]),
        entities=tuple(EntityDraft(name) for name in everybody),
    )


def _episode_of_session(passage: Passage, session: _Session) -> Iterator[MemoryDraft]:
    """That they talked, when, and how it began; without a time it is no event."""
    if passage.occurred_ms is None or passage.precision is Precision.FUZZY:
        return
    start, end = next(sentences(passage.text), (0, 0))
    opening = passage.text[start:end]
    who = " and ".join(session.speakers[:4]) or "user and assistant"
    yield MemoryDraft(
        kind=MemoryKind.EPISODE,
        content=f"Conversation of {who}, beginning: {opening}",
        quote=opening,
        source=SourceKind.STATED,
        confidence=SESSION_CONFIDENCE,
        valid=_from(passage.occurred_ms),
        valid_basis=Basis.ASSERTED,
        about=Interval(passage.occurred_ms, max(session.last_ms, passage.occurred_ms) + 1),
        precision=passage.precision,
        entity_names=session.speakers,
    )


def _claims(passage: Passage, said: Sequence[_Sentence], entities: tuple[str, ...]) -> Iterator[MemoryDraft]:
    for sentence in said:
        claim = claim_of(
            sentence.text,
            has_past_date=any(not date.is_future for date in sentence.dates),
            has_future_date=any(date.is_future for date in sentence.dates),
        )
        if claim is not Claim.NOTHING:
            yield _draft(passage, sentence, claim, entities)


def _sentences(passage: Passage, zone: str) -> Iterator[_Sentence]:
    text = passage.text
    dates = find_dates(text, passage.occurred_ms, zone)
    fences = [match.span() for match in _FENCE.finditer(text)] if "```" in text else []
    has_code = is_code(text)
    for start, end in sentences(text):
        is_kept = is_prose(text[start:end]) if has_code else True
        if is_kept and not any(opens <= start < closes for opens, closes in fences):
            inside = tuple(date for date in dates if start <= date.start and date.end <= end)
            yield _Sentence(text[start:end], text, inside, start, zone)


def _draft(passage: Passage, sentence: _Sentence, claim: Claim, entities: tuple[str, ...]) -> MemoryDraft:
    speaker = _speaker(passage)
    valid, basis, date = _times(passage, sentence, claim)
    is_stretch = basis is Basis.STATED and claim is Claim.HAPPENED and _is_stretch(sentence)
    kind = _KINDS[Claim.FACT if is_stretch else claim]
    return MemoryDraft(
        kind=kind,
        content=f"{speaker}: {sentence.text}" if speaker else sentence.text,
        quote=sentence.text,
        source=SourceKind.STATED if passage.kind is PassageKind.TURN else SourceKind.DOCUMENT,
        confidence=CONFIDENCE[claim],
        valid=valid,
        valid_basis=basis,
        about=_about(kind, date, passage),
        precision=date.precision if date else passage.precision,
        entity_names=tuple(name for name in entities if name == speaker or name in sentence.text),
    )


_KINDS = {
    Claim.FACT: MemoryKind.FACT,
    Claim.HAPPENED: MemoryKind.EPISODE,
    Claim.PLAN: MemoryKind.FORESIGHT,
}


def _about(kind: MemoryKind, date: DatedSpan | None, passage: Passage) -> Interval | None:
    if kind is MemoryKind.FACT:
        return None
    if date:
        return date.interval
    if kind is MemoryKind.EPISODE and passage.occurred_ms is not None:
        return Interval(passage.occurred_ms, passage.occurred_ms + 1)
    return None


def _times(passage: Passage, sentence: _Sentence, claim: Claim) -> tuple[Interval, Basis, DatedSpan | None]:
    """Valid interval, where its start comes from, and the date it or the event or window rests on."""
    said = _from(passage.occurred_ms)
    if claim is Claim.PLAN:
        return said, Basis.ASSERTED, next((date for date in sentence.dates if date.is_future), None)
    past = [date for date in sentence.dates if not date.is_future]
    ending = next((date for date in sentence.dates if _matches(_UNTIL, sentence, date)), None)
    starting = next((date for date in past if date is not ending), None)
    if starting is None:
        return _ended(said, ending), Basis.ASSERTED, ending
    closing = ending or _closing(sentence, starting)
    return _ended(_from(starting.interval.start_ms), closing, starting), Basis.STATED, starting


def _closing(sentence: _Sentence, starting: DatedSpan) -> DatedSpan | None:
    """The second date of "from X to Y"."""
    if not _matches(_SINCE, sentence, starting) and not _is_between(sentence, starting):
        return None
    year = _TO_YEAR.match(sentence.before, starting.end)
    if year:  # a bare year is a date only in such company
        return next(iter(find_dates(f"in {year[1]}", None, sentence.zone)), None)
    following = next((date for date in sentence.dates if date.start >= starting.end), None)
    return following if following and _matches(_THROUGH, sentence, following) else None


def _is_between(sentence: _Sentence, date: DatedSpan) -> bool:
    return sentence.before[: date.start].rstrip().lower().endswith("between")


def _is_stretch(sentence: _Sentence) -> bool:
    """Said to hold from or until a date: a state, whatever its verb."""
    return any(_matches(_SINCE, sentence, date) or _matches(_UNTIL, sentence, date) for date in sentence.dates)


def _matches(pattern: re.Pattern[str], sentence: _Sentence, date: DatedSpan) -> bool:
    """`pattern` is what leads to the date; a span may hold its own preposition ("since 2019")."""
    lead = sentence.before[max(sentence.start, date.start - 30) : date.start]
    first, space, _ = sentence.before[date.start : date.end].partition(" ")
    return bool(pattern.search(lead) or (space and pattern.search(f"{first} ")))


def _ended(valid: Interval, ending: DatedSpan | None, starting: DatedSpan | None = None) -> Interval:
    """ "Until June" ends when June begins; the second of two dates belongs to the stretch."""
    if ending is None:
        return valid
    end_ms = ending.interval.start_ms if starting is None else ending.interval.end_ms
    return Interval(valid.start_ms, end_ms) if end_ms > valid.start_ms else valid


def _from(instant_ms: int | None) -> Interval:
    """At the end of all time there is nothing left that it could be valid for, and so no start either."""
    return Interval() if instant_ms is None or instant_ms >= END_MS else Interval(instant_ms, END_MS)
