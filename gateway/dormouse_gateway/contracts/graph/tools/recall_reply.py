"""What a recall answers with: a line that counts, the memories themselves, and the same as data.

Source: graph contract, "recall".
"""

from collections.abc import Sequence
from typing import Any

from mcp.types import CallToolResult

from dormouse.model.instant import local_time, zone_at
from dormouse.model.interval import Interval
from dormouse.model.memory import MemoryVersion
from dormouse.model.passage import Passage
from dormouse.model.recall import Hit, RecallResult, SessionHit
from dormouse_gateway.contracts.graph import texts
from dormouse_gateway.mcp.tool import reply
from dormouse_gateway.web.instants import iso, iso_or_none

MEMORY_META = "cognee/memory"
BODY_LIMIT_CHARACTERS = 40_000  # clients refuse results of more than about 25,000 tokens

_DEGRADED = "Part of the search did not answer ({parts}); there may be more."


def recall_reply(result: RecallResult, *, notes: Sequence[str]) -> CallToolResult:
    """`notes` are said in the body as the system's, and count as nothing found."""
    state = result.outcome
    meta = {"count": _count(result), "state": state, **_progress(result)}
    said = list(notes)
    if result.degraded:
        said.append(_DEGRADED.format(parts=", ".join(result.degraded)))
    text = "\n".join(part for part in (_summary(result), "\n\n".join(_body(result, said))) if part)
    hits = [*map(_session_view, result.session_hits), *map(_hit_view, result.hits)]
    structured = {**meta, "hits": hits, "notes": said}
    if result.answer is not None:
        structured |= {
            "answer": result.answer,
            "answer_model": result.answer_model,
            "answer_sources": [position + 1 for position in result.answer_sources],
        }
    return reply(text, structured=structured, meta={MEMORY_META: meta})


def _count(result: RecallResult) -> int:
    return len(result.session_hits) + len(result.hits)


def _progress(result: RecallResult) -> dict[str, Any]:
    """What is known beyond count and state; nothing that is not."""
    known: dict[str, Any] = {"completed": result.completed, "total": result.total}
    if result.degraded:
        known["degraded"] = list(result.degraded)
    return {name: value for name, value in known.items() if value is not None}


def _summary(result: RecallResult) -> str:
    if _count(result):
        return texts.summary(
            ["sessions"] * len(result.session_hits) + [hit.dataset_name for hit in result.hits]
        )
    if result.outcome == "indexing":
        return texts.still_indexing(result.completed, result.total)
    return texts.BUILD_FAILED if result.outcome == "build_failed" else texts.NOTHING_FOUND


def _body(result: RecallResult, notes: Sequence[str]) -> list[str]:
    """An answer first, then the memories, best first; what does not fit is counted, not cut in the middle."""
    items = [texts.body_item("answer", _answer(result))] if result.answer and _count(result) else []
    memories = [texts.body_item("session", hit.entry.text) for hit in result.session_hits]
    memories += [texts.body_item("graph", _shown(hit)) for hit in result.hits]
    room = BODY_LIMIT_CHARACTERS
    shown = 0
    for memory in memories:
        room -= len(memory)
        if room < 0 and shown:
            break
        shown += 1
    items += memories[:shown]
    if shown < len(memories):
        notes = [
            *notes,
            f"{len(memories) - shown} more left out for length; ask more narrowly.",
        ]
    return items + [texts.body_item("system", note) for note in notes]


def _answer(result: RecallResult) -> str:
    """With a line for each source it names, since the memories below carry no numbers."""
    sources = [(position + 1, result.hits[position]) for position in sorted(result.answer_sources)]
    lines = [f"[{number}] {_source(hit)}" for number, hit in sources if f"[{number}" in (result.answer or "")]
    return "\n".join([result.answer or "", *lines])


def _source(hit: Hit) -> str:
    """Where a memory is from: its document, who said it, and when."""
    passage = hit.passage
    day = (_as_written(passage) or "")[:10]
    return ", ".join(part for part in (passage.document_name, passage.speaker, day) if part)


def _shown(hit: Hit) -> str:
    """What was said; under it the derived memories by whose words it was found, and what no longer holds. Where
    it is from stands in the structured result: this text is as it was recorded."""
    ended = [each for each in hit.memories if each.valid.has_end and each not in hit.through]
    derived = [f"→ {each.content}{_end(each.valid)}" for each in (*hit.through, *ended)]
    return "\n".join([_readable(hit.passage), *derived])


def _end(valid: Interval) -> str:
    return f" (until {iso(valid.end_ms)[:10]})" if valid.has_end else ""


def _readable(passage: Passage) -> str:
    """Date, speaker or heading path stand before the text; a file's bare name says nothing about it."""
    return passage.text if passage.heading == passage.document_name else passage.indexed_text


def _hit_view(hit: Hit) -> dict[str, Any]:
    passage = hit.passage
    view = {
        "source": "graph",
        "text": passage.text,
        "heading": passage.heading or None,
        "score": hit.score,
        "dataset": hit.dataset_name,
        "dataset_id": passage.dataset,
        "data_id": passage.document,
        "document": passage.document_name or None,
        "external_id": passage.external_id,
        "occurred": _as_written(passage),
        "remembered": iso_or_none(hit.remembered_ms),
        "precision": passage.precision.value if passage.precision else None,
        "session": passage.session if passage.session != passage.document else None,
        "speaker": passage.speaker or None,
        "role": passage.role or None,
        "pending": hit.is_pending,
        "memories": [_memory_view(memory) for memory in hit.memories],
        "found_by": [memory.memory for memory in hit.through] or None,
    }
    return {name: value for name, value in view.items() if value not in (None, "")}


def _as_written(passage: Passage) -> str | None:
    """The time a passage is from, in the offset of whoever wrote it."""
    if passage.occurred_ms is None:
        return None
    written = local_time(passage.occurred_ms, zone_at(passage.offset_minutes))
    return written.isoformat(timespec="milliseconds")


def _session_view(hit: SessionHit) -> dict[str, Any]:
    return {
        "source": "session",
        "text": hit.entry.text,
        "score": hit.score,
        "session": hit.entry.session,
        "created": iso(hit.entry.created_ms),
    }


def _memory_view(memory: MemoryVersion) -> dict[str, Any]:
    return {
        "id": memory.memory,
        "type": memory.kind.value,
        "content": memory.content,
        "quote": memory.quote,
        "source": memory.source.value,
        "confidence": memory.confidence,
        "derived_by": memory.derived_by or None,
        "valid": _interval_view(memory.valid),
        "about": _interval_view(memory.about) if memory.about else None,
    }


def _interval_view(interval: Interval) -> dict[str, str | None]:
    return {
        "from": iso_or_none(interval.start_ms if interval.has_start else None),
        "to": iso_or_none(interval.end_ms if interval.has_end else None),
    }
