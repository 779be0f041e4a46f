"""Enrichment in the real server, with a scripted server where the language model would be."""

import json
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.contract.language_model.scripted_server import (
    MARKER,
    Asked,
    Said,
    ScriptedServer,
    document_of,
    item_of,
    refusal,
)
from tests.contract.mcp.talk import a_call, as_modern
from tests.contract.program import Program, kill, wait_until

NOTE = "The vault code is kept by Zanzibarquux."
BOOK = "\n\n".join(
    " ".join(f"Sentence {n} of chapter {chapter} tells of thing {chapter * 100 + n}." for n in range(60))
    for chapter in range(8)
)


def remember(client: httpx.Client, text: str = NOTE, name: str = "note.txt", **fields: str) -> dict[str, Any]:
    """The receipt's job, once it is searchable."""
    reply = client.post(
        "/api/v1/remember",
        data={"datasetName": "notes", **fields},
        files={"data": (name, text.encode())},
    )
    assert reply.status_code == 200, reply.text
    return job(client, reply.json()["pipeline_run_id"])


def job(client: httpx.Client, id: str) -> dict[str, Any]:  # noqa: A002 - what the route calls it
    found: dict[str, Any] = client.get(f"/api/v1/jobs/{id}").json()
    return found


def ended(client: httpx.Client, id: str) -> dict[str, Any]:  # noqa: A002
    wait_until(lambda: job(client, id)["finishedAt"] is not None)
    return job(client, id)


def files_with(folder: Path, needle: str) -> list[str]:
    return [
        path.name
        for path in sorted(folder.rglob("*"))
        if path.is_file() and needle.encode() in path.read_bytes()
    ]


def test_it_is_searchable_before_the_model_answers_and_the_derived_memory_is_found_with_its_source(
    scripted: ScriptedServer, program_with: Callable[..., Program]
) -> None:
    def worded(_number: int, asked: Asked) -> Said | None:
        document = document_of(asked)
        if "passages" not in document:
            return None
        item = item_of(document["passages"][0], content=f"{MARKER}: a quokka guards the safe's combination.")
        return Said(json.dumps({"items": [item], "entities": [{"name": "Zanzibarquux", "kind": "person"}]}))

    scripted.script.reply = worded
    scripted.script.gate.clear()
    program = program_with(**scripted.environment)
    with program.serving(), program.client() as client:
        waiting = remember(client, custom_prompt="Look for guards.")
        assert waiting["stage"] in {"searchable", "enriching"}
        chunks = {"query": "vault code", "searchType": "CHUNKS"}
        (early,) = client.post("/api/v1/recall", json=chunks).json()
        scripted.script.gate.set()
        done = ended(client, waiting["id"])
        (late,) = client.post(
            "/api/v1/recall", json={"query": "quokka combination", "searchType": "CHUNKS"}
        ).json()

    assert early["text"] == NOTE
    assert early["metadata"]["derived"] == []
    assert [step["stage"] for step in done["steps"]][-3:] == ["searchable", "enriching", "complete"]
    assert done["enrichmentError"] is None
    assert (done["counts"]["derived"], done["counts"]["modelCalls"]) == (1, 1)
    assert done["counts"]["tokensIn"] > 0
    assert late["text"] == NOTE
    assert late["metadata"]["derived"] == [f"{MARKER}: a quokka guards the safe's combination."]
    assert late["metadata"]["document_name"] == "note.txt"
    assert "Look for guards." in scripted.chats[0]["messages"][0]["content"]


def test_a_hanging_model_holds_up_neither_search_nor_the_next_remember_nor_a_stop(
    scripted: ScriptedServer, program_with: Callable[..., Program]
) -> None:
    scripted.script.gate.clear()
    program = program_with(**scripted.environment)
    with program.serving(), program.client() as client:
        for number in range(4):
            found = remember(client, f"Note {number} of the hanging model.", f"{number}.txt")
            assert found["searchableAt"] is not None
        hits = client.post("/api/v1/recall", json={"query": "hanging model", "searchType": "CHUNKS"}).json()
        began_s = time.monotonic()

    assert len(hits) == 4
    assert time.monotonic() - began_s < 60  # generous: it would hang for ever


def test_killed_in_the_middle_it_goes_on_without_asking_twice(
    scripted: ScriptedServer, program_with: Callable[..., Program]
) -> None:
    third = threading.Event()

    def stop_at_three(number: int, _asked: Asked) -> Said | None:
        if number == 3:
            third.set()
            scripted.script.gate.clear()
            scripted.script.gate.wait()
        return None

    scripted.script.reply = stop_at_three
    program = program_with(**scripted.environment, DORMOUSE_LLM__CONCURRENT_CALLS="1")
    with program.serving(), program.client() as client:
        id_ = remember(client, BOOK)["id"]
        assert third.wait(60)
        wait_until(lambda: job(client, id_)["counts"]["windowsDone"] == 2)
        kill(program.address.pid)
    scripted.script.gate.set()
    with program.serving(), program.client() as client:
        done = ended(client, id_)

    asked = [document["passages"][0]["text"] for document in scripted.extractions]
    counts = done["counts"]
    assert (done["stage"], done["enrichmentError"]) == ("complete", None)
    assert counts["windowsDone"] == counts["windows"] > 3
    # Only the call that was under way when the process died is made again.
    assert len(asked) == counts["windows"] + 1
    assert len(set(asked)) == counts["windows"]
    assert counts["derived"] == counts["passages"]


def test_a_forget_while_the_model_thinks_leaves_no_byte(
    scripted: ScriptedServer, program_with: Callable[..., Program]
) -> None:
    scripted.script.gate.clear()
    program = program_with(**scripted.environment)
    with program.serving(), program.client() as client:
        id_ = remember(client)["id"]
        wait_until(lambda: len(scripted.extractions) == 1)
        forgotten = client.post("/api/v1/forget", json={"dataset": "notes"})
        scripted.script.gate.set()
        done = ended(client, id_)
        found = client.post("/api/v1/recall", json={"query": "vault", "searchType": "CHUNKS"})

    assert forgotten.status_code == 200
    assert "Zanzibarquux" not in found.text
    assert (done["stage"], done["cancelReason"]) == ("cancelled", "forgotten")
    assert files_with(program.folder, "Zanzibarquux") == []
    assert files_with(program.folder, MARKER) == []


def _truncated(_number: int, asked: Asked) -> Said:
    items = [item_of(each) for each in document_of(asked)["passages"]]
    text = json.dumps({"items": [*items, *items], "entities": []})
    return Said(text[: len(text) * 2 // 3], finish="length")


def _no_json(_number: int, _asked: Asked) -> Said:
    return Said("I am sorry, but I would rather talk about the weather.")


def _invented(_number: int, asked: Asked) -> Said:
    passage = document_of(asked)["passages"][0]
    return Said(json.dumps({"items": [item_of(passage, quote="The vault is empty and nobody keeps a code")]}))


def _busy_once(number: int, _asked: Asked) -> Said | None:
    return refusal(429, "Slow down.", "rate_limit", **{"Retry-After": "1"}) if number == 1 else None


def _down_once(number: int, _asked: Asked) -> Said | None:
    return refusal(500, "Oops.", "server_error") if number == 1 else None


@pytest.mark.parametrize(
    ("reply", "expected"),
    [
        (_truncated, {"derived": 1}),
        (_no_json, {"derived": 0, "modelCalls": 1}),
        (_invented, {"derived": 0}),
        (_busy_once, {"derived": 1, "modelCalls": 2}),
        (_down_once, {"derived": 1, "modelCalls": 2}),
    ],
)
def test_whatever_the_endpoint_does_the_job_is_complete(
    scripted: ScriptedServer,
    program_with: Callable[..., Program],
    reply: Callable[[int, Asked], Said | None],
    expected: dict[str, int],
) -> None:
    scripted.script.reply = reply
    program = program_with(**scripted.environment)
    with program.serving(), program.client() as client:
        done = ended(client, remember(client)["id"])
        hits = client.post("/api/v1/recall", json={"query": "vault", "searchType": "CHUNKS"}).json()

    assert (done["stage"], done["enrichmentError"]) == ("complete", None)
    assert {name: done["counts"][name] for name in expected} == expected
    assert [hit["text"] for hit in hits] == [NOTE]


@pytest.mark.parametrize(
    ("environment", "code"),
    [
        ({"DORMOUSE_LLM__API_KEY": "wrong"}, "model_refused"),
        ({"DORMOUSE_LLM__MODEL": "unknown"}, "model_refused"),
        ({"DORMOUSE_LLM__JOB_TOKENS": "100"}, "llm_budget_spent"),
    ],
)
def test_what_cannot_be_derived_is_said_on_the_receipt(
    scripted: ScriptedServer, program_with: Callable[..., Program], environment: dict[str, str], code: str
) -> None:
    program = program_with(**(scripted.environment | environment))
    with program.serving(), program.client() as client:
        done = ended(client, remember(client)["id"])

    assert done["stage"] == "complete"
    assert done["enrichmentError"]["code"] == code
    assert len(scripted.chats) <= 1


def test_what_could_not_be_derived_is_derived_by_a_retry(
    scripted: ScriptedServer, program_with: Callable[..., Program]
) -> None:
    scripted.script.reply = lambda *_: refusal(403, "Billing is not set up.", "billing")
    program = program_with(**scripted.environment)
    with program.serving(), program.client() as client:
        lacking = ended(client, remember(client)["id"])
        shown = program.run("jobs", "show", lacking["id"]).stdout
        scripted.script.reply = lambda *_: None
        again = client.post(f"/api/v1/jobs/{lacking['id']}/retry")
        done = ended(client, again.json()["id"])
        twice = client.post(f"/api/v1/jobs/{done['id']}/retry")
        (hit,) = client.post("/api/v1/recall", json={"query": "vault", "searchType": "CHUNKS"}).json()

    assert lacking["enrichmentError"]["code"] == "model_refused"
    assert f"dormouse jobs retry {lacking['id']}" in shown
    assert (done["stage"], done["enrichmentError"], done["counts"]["derived"]) == ("complete", None, 1)
    assert MARKER in hit["metadata"]["derived"][0]
    assert twice.status_code == 409


def _cut_off_beyond_two_passages(_number: int, asked: Asked) -> Said | None:
    passages = document_of(asked)["passages"]
    items = [json.dumps(item_of(each)) for each in passages]
    if len(passages) <= 2:
        return None
    return Said(f'{{"items": [{items[0]}, {items[1][:40]}', finish="length")


def test_a_window_whose_reply_is_cut_off_is_asked_for_in_parts(
    scripted: ScriptedServer, program_with: Callable[..., Program]
) -> None:
    scripted.script.reply = _cut_off_beyond_two_passages
    talk = [{"speaker": "Ada", "text": f"Note {n} is about thing {n}."} for n in range(6)]
    program = program_with(**scripted.environment)
    with program.serving(), program.client() as client:
        done = ended(client, remember(client, json.dumps(talk), "talk.json", kind="chat")["id"])

    assert done["counts"]["passages"] == 6
    assert (done["counts"]["windows"], done["counts"]["modelCalls"]) == (1, 7)
    assert (done["counts"]["derived"], sum(done["counts"]["dropped"].values())) == (6, 0)


def _claims_a_home(_number: int, asked: Asked) -> Said | None:
    document = document_of(asked)
    if "passages" not in document:
        return None
    text = document["passages"][0]["text"]
    city = text.removesuffix(".").split()[-1]
    item = item_of(document["passages"][0], quote=text, content=text) | {
        "subject": "Ada",
        "predicate": "lives_in",
        "object": city,
    }
    return Said(json.dumps({"items": [item], "entities": []}))


def test_what_holds_no_longer_is_marked_everywhere(
    scripted: ScriptedServer, program_with: Callable[..., Program]
) -> None:
    scripted.script.reply = _claims_a_home
    program = program_with(**scripted.environment)
    with program.serving(), program.client() as client:
        for city, day in (("Lisbon", "2026-01-05"), ("Porto", "2026-05-01")):
            text, at = f"Ada lives in {city}.", f"{day}T09:00:00Z"
            ended(client, remember(client, text, f"{city}.txt", occurred_at=at)["id"])
        entries = client.post("/api/v1/recall", json={"query": "Where is Ada?", "searchType": "CHUNKS"}).json()
        shown = program.run("recall", "Where is Ada?", "--search-type", "CHUNKS").stdout
        message, headers = as_modern(a_call("recall", {"query": "Where is Ada?", "search_type": "CHUNKS"}))
        told = client.post("/mcp", json=message, headers=headers).json()["result"]["content"][0]["text"]

    until = {entry["text"]: entry["metadata"]["memories"][0]["valid_until"] for entry in entries}
    assert until == {"Ada lives in Lisbon.": "2026-05-01T09:00:00.000Z", "Ada lives in Porto.": None}
    for words in (told, shown):
        assert "Ada lives in Lisbon. (until 2026-05-01)" in words
        assert "Ada lives in Porto. (until" not in words


def test_an_endpoint_that_knows_no_formats_is_asked_in_plain_words(
    scripted: ScriptedServer, program_with: Callable[..., Program]
) -> None:
    scripted.script.refuses_format = True
    program = program_with(**scripted.environment)
    with program.serving(), program.client() as client:
        done = ended(client, remember(client)["id"])

    assert (done["enrichmentError"], done["counts"]["derived"]) == (None, 1)


def test_a_start_without_the_model_ends_what_waited_for_it(
    scripted: ScriptedServer, program_with: Callable[..., Program]
) -> None:
    scripted.script.gate.clear()
    program = program_with(**scripted.environment)
    with program.serving(), program.client() as client:
        id_ = remember(client)["id"]
    without = program_with()
    with without.serving(), without.client() as client:
        done = ended(client, id_)

    assert (done["stage"], done["enrichmentError"]["code"]) == ("complete", "llm_not_configured")
