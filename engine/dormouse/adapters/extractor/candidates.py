"""A model's items to drafts, each held to its passage; what cannot be is dropped and counted by reason. Pure.

Reasons: `malformed` (no object of ours), `unknown_passage`, `no_quote` (the passage does not say so),
`no_content`, `repeated`, `too_many`.
"""

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from dormouse.adapters.extractor.instants import stretch_of
from dormouse.adapters.extractor.names import MAX_NAME_CHARACTERS
from dormouse.adapters.extractor.quotes import found_in
from dormouse.adapters.extractor.salvage import Salvaged
from dormouse.ids import PassageId
from dormouse.model.interval import BEGINNING_MS, END_MS, Interval
from dormouse.model.memory import (
    Basis,
    Claim,
    EntityDraft,
    Extraction,
    MemoryDraft,
    MemoryKind,
    SourceKind,
)
from dormouse.model.passage import Passage, PassageKind, Precision
from dormouse.ports.extractor import Window
from dormouse.text.soundness import is_sound

MAX_PER_PASSAGE = 16
MAX_CONTENT_CHARACTERS = 600
MAX_ENTITIES = 24  # of one passage
STATED_CONFIDENCE, INFERRED_CONFIDENCE = 0.9, 0.6

_KINDS = {kind.value: kind for kind in MemoryKind}
_ENTITY_KINDS = frozenset({"person", "organisation", "place", "product", "project", "event"})


@dataclass(slots=True)
class Sifted:
    extractions: tuple[Extraction, ...] = ()
    dropped: Counter[str] = field(default_factory=Counter)
    repaired: int = 0


def sift(salvaged: Salvaged, window: Window) -> Sifted:
    """One extraction per passage of the window, in order."""
    sifted = Sifted(dropped=Counter({"malformed": salvaged.broken} if salvaged.broken else {}))
    passages = {f"p{number}": passage for number, passage in enumerate(window.passages, 1)}
    drafts: dict[PassageId, list[MemoryDraft]] = {passage.id: [] for passage in window.passages}
    for item in salvaged.items:
        if not _is_sound(item):
            sifted.dropped["malformed"] += 1
            continue
        passage = passages.get(_text(item, "passage"))
        if passage is None:
            sifted.dropped["unknown_passage"] += 1
            continue
        draft = _draft(item, passage, window.zone, sifted)
        if draft is not None:
            _keep(draft, drafts[passage.id], sifted)
    kinds = _kinds(salvaged)
    sifted.extractions = tuple(
        Extraction(
            passage=passage.id,
            memories=tuple(drafts[passage.id]),
            entities=tuple(_entities(drafts[passage.id], kinds)),
        )
        for passage in window.passages
    )
    return sifted


def _is_sound(item: dict[str, Any]) -> bool:
    """Every text of an item, and every text in its lists, could be stored: what lies deeper is never read."""
    lists = (value if isinstance(value, list) else [value] for value in item.values())
    return all(is_sound(text) for texts in lists for text in texts if isinstance(text, str))


def _keep(draft: MemoryDraft, kept: list[MemoryDraft], sifted: Sifted) -> None:
    if any((each.kind, each.content) == (draft.kind, draft.content) for each in kept):
        sifted.dropped["repeated"] += 1
    elif len(kept) >= MAX_PER_PASSAGE:
        sifted.dropped["too_many"] += 1
    else:
        kept.append(draft)


def _draft(item: dict[str, Any], passage: Passage, zone: str, sifted: Sifted) -> MemoryDraft | None:
    kind = _KINDS.get(_text(item, "type"))
    content = _text(item, "content")
    if kind is None or not content or len(content) > MAX_CONTENT_CHARACTERS:
        sifted.dropped["malformed" if kind is None else "no_content"] += 1
        return None
    said = _text(item, "quote")
    quote = found_in(said, passage.text)
    if quote is None:
        sifted.dropped["no_quote"] += 1
        return None
    sifted.repaired += quote != said
    is_stated = item.get("stated") is not False
    valid, basis, about, precision = _times(kind, item, passage, zone)
    return MemoryDraft(
        kind=kind,
        content=content,
        quote=quote,
        source=_source(passage, is_stated=is_stated),
        confidence=STATED_CONFIDENCE if is_stated else INFERRED_CONFIDENCE,
        valid=valid,
        valid_basis=basis,
        about=about,
        precision=precision,
        entity_names=tuple(_names(item)),
        claim=_claim(item) if kind is MemoryKind.FACT else None,
    )


def _source(passage: Passage, *, is_stated: bool) -> SourceKind:
    if not is_stated:
        return SourceKind.INFERRED
    return SourceKind.STATED if passage.kind is PassageKind.TURN else SourceKind.DOCUMENT


def _times(
    kind: MemoryKind, item: dict[str, Any], passage: Passage, zone: str
) -> tuple[Interval, Basis, Interval | None, Precision | None]:
    """Valid interval and where its start comes from; what an episode or a plan is about."""
    first, last = stretch_of(item.get("from"), zone), stretch_of(item.get("to"), zone)
    said_ms = BEGINNING_MS if passage.occurred_ms is None else passage.occurred_ms
    precision = first[1] if first else last[1] if last else passage.precision
    if kind is MemoryKind.FACT:
        start_ms = first[0].start_ms if first else said_ms
        # "Until June" ends when June begins; with both ends given, the second one is part of the stretch.
        end_ms = END_MS if last is None else last[0].end_ms if first else last[0].start_ms
        basis = Basis.STATED if first else Basis.ASSERTED
        return _interval(start_ms, end_ms), basis, None, precision
    about = _about(first[0] if first else None, last[0] if last else None)
    if about is None and kind is MemoryKind.EPISODE and passage.occurred_ms is not None:
        about = Interval(passage.occurred_ms, passage.occurred_ms + 1)
    is_dated = kind is MemoryKind.EPISODE and first is not None
    start_ms = first[0].start_ms if first and is_dated else said_ms
    return _interval(start_ms, END_MS), Basis.STATED if is_dated else Basis.ASSERTED, about, precision


def _about(first: Interval | None, last: Interval | None) -> Interval | None:
    if first is None or last is None:
        return first or last
    return Interval(first.start_ms, max(first.end_ms, last.end_ms))


def _interval(start_ms: int, end_ms: int) -> Interval:
    return Interval(start_ms, end_ms) if end_ms > start_ms else Interval(start_ms, END_MS)


def _claim(item: dict[str, Any]) -> Claim | None:
    """Folded by whoever resolves names; a triple with a gap is none."""
    parts = [_text(item, name)[:MAX_NAME_CHARACTERS] for name in ("subject", "predicate", "object")]
    predicate = "_".join(parts[1].lower().replace("-", " ").replace("_", " ").split())
    return Claim(parts[0], predicate, parts[2]) if all((parts[0], predicate, parts[2])) else None


def _names(item: dict[str, Any]) -> Iterator[str]:
    names = item.get("entities")
    wanted = [*(names if isinstance(names, list) else ()), item.get("subject")]
    seen: set[str] = set()
    for name in wanted:
        plain = " ".join(name.split()) if isinstance(name, str) else ""
        if plain and len(plain) <= MAX_NAME_CHARACTERS and plain not in seen and len(seen) < MAX_ENTITIES:
            seen.add(plain)
            yield plain


def _kinds(salvaged: Salvaged) -> Mapping[str, str]:
    return {
        " ".join(_text(each, "name").split()).casefold(): kind
        for each in salvaged.entities
        if (kind := _text(each, "kind").lower()) in _ENTITY_KINDS
    }


def _entities(drafts: list[MemoryDraft], kinds: Mapping[str, str]) -> Iterator[EntityDraft]:
    names = dict.fromkeys(name for draft in drafts for name in draft.entity_names)
    for name in list(names)[:MAX_ENTITIES]:
        yield EntityDraft(name, kinds.get(name.casefold(), "thing"))


def _text(item: dict[str, Any], name: str) -> str:
    value = item.get(name)
    if isinstance(value, int) and not isinstance(value, bool):
        value = str(value)  # "passage": 1
    text = value.strip() if isinstance(value, str) else ""
    return f"p{text}" if name == "passage" and text.isdecimal() else text
