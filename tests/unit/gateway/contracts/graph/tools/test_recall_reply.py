"""What a recall answers with."""

from dataclasses import replace

import pytest
from mcp.types import CallToolResult

from dormouse.model.recall import Hit, Outcome, RecallResult, SessionHit
from dormouse_gateway.contracts.graph.tools.recall_reply import BODY_LIMIT_CHARACTERS, recall_reply
from tests.builders import a_passage, a_session_entry


def _hit(text: str, *, dataset: str = "docs", heading: str = "") -> Hit:
    return Hit(passage=replace(a_passage(text), heading=heading), dataset_name=dataset, score=1.0)


def _text(reply: CallToolResult) -> str:
    (block,) = reply.content
    assert block.type == "text"
    return block.text


def _meta(reply: CallToolResult) -> object:
    return (reply.content[0].meta or {})["cognee/memory"]


def test_sessions_come_first_and_a_heading_stands_before_its_text() -> None:
    result = RecallResult(
        "found",
        hits=(_hit("Tea is at four.", heading="2026-01-05 Ada"), _hit("Rome", dataset="cities")),
        session_hits=(SessionHit(a_session_entry(text="Deploy on Monday"), 1.0),),
    )

    reply = recall_reply(result, notes=[])

    assert _text(reply) == (
        "3 memories found (1 from sessions, 1 from docs, 1 from cities)\n"
        "[session] Deploy on Monday\n\n[graph] 2026-01-05 Ada: Tea is at four.\n\n[graph] Rome"
    )
    assert _meta(reply) == {"count": 3, "state": "found"}


def test_a_files_bare_name_is_no_heading_worth_reading() -> None:
    hit = _hit("Rome", heading="notes.txt")
    named = Hit(replace(hit.passage, document_name="notes.txt"), "docs", 1.0)

    assert _text(recall_reply(RecallResult("found", hits=(named,)), notes=[])).endswith("\n[graph] Rome")


@pytest.mark.parametrize(
    ("outcome", "text"),
    [
        ("none", "no matching memories"),
        ("indexing", "still indexing — 2/5 items processed, retry shortly"),
        ("build_failed", "memory indexing failed — check cognify_status"),
    ],
)
def test_nothing_found_says_which_nothing_it_is(outcome: Outcome, text: str) -> None:
    reply = recall_reply(RecallResult(outcome, completed=2, total=5), notes=[])

    assert _text(reply) == text
    assert _meta(reply) == {"count": 0, "state": outcome, "completed": 2, "total": 5}


def test_what_did_not_answer_is_told_and_counts_for_nothing() -> None:
    reply = recall_reply(RecallResult("none", degraded=("vector",)), notes=["By words only."])

    assert _text(reply) == (
        "no matching memories\n[system] By words only.\n\n"
        "[system] Part of the search did not answer (vector); there may be more."
    )
    assert _meta(reply) == {"count": 0, "state": "none", "degraded": ["vector"]}


def test_an_answer_precedes_what_it_rests_on_and_is_no_memory() -> None:
    result = RecallResult("found", hits=(_hit("Tea is at four."),), answer="At four.", answer_model="m")

    reply = recall_reply(result, notes=[])

    assert _text(reply) == "1 memory found (1 from docs)\n[answer] At four.\n\n[graph] Tea is at four."
    assert reply.structured_content["answer"] == "At four."


def test_a_body_that_is_too_long_leaves_out_whole_memories_and_says_how_many() -> None:
    long = "x" * (BODY_LIMIT_CHARACTERS // 2 - 10)

    reply = recall_reply(RecallResult("found", hits=(_hit(long), _hit(long), _hit("last"))), notes=[])

    assert _text(reply).startswith("3 memories found (3 from docs)\n")
    assert _text(reply).endswith("[system] 1 more left out for length; ask more narrowly.")
    assert len(reply.structured_content["hits"]) == 3


def test_times_are_told_in_the_offset_of_whoever_wrote_them() -> None:
    passage = replace(a_passage("Tea"), occurred_ms=1_767_614_400_000, offset_minutes=330, external_id="e-1")

    reply = recall_reply(RecallResult("found", hits=(Hit(passage, "docs", 0.5),)), notes=[])

    (hit,) = reply.structured_content["hits"]
    assert hit["occurred"] == "2026-01-05T17:30:00.000+05:30"
    assert hit["external_id"] == "e-1"
    assert hit["score"] == 0.5
