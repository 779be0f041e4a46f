"""Answers of the real server, with a scripted server where the language model would be."""

import json
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import httpx
import pytest

from tests.contract.language_model.scripted_server import MARKER, MODEL, Asked, Said, ScriptedServer, refusal
from tests.contract.program import Program

NOTE = "Ada moved the deploy key into the vault."
QUESTION = {"query": "Where is the deploy key?", "searchType": "GRAPH_COMPLETION", "systemPrompt": "Be brief."}


@contextmanager
def remembering(program: Program) -> Iterator[httpx.Client]:
    with program.serving(), program.client() as client:
        remembered = client.post(
            "/api/v1/remember", data={"datasetName": "notes"}, files={"data": ("note.txt", NOTE.encode())}
        )
        assert remembered.status_code == 200, remembered.text
        yield client


def answer_in(entries: list[dict[str, Any]]) -> dict[str, Any]:
    (found,) = [entry for entry in entries if entry.get("kind") == "graph_completion"]
    return found


def test_an_answer_comes_from_the_model_and_names_its_sources(
    scripted: ScriptedServer, program_with: Callable[..., Program]
) -> None:
    program = program_with(**scripted.environment, DORMOUSE_LLM__ENRICH="false")
    with remembering(program) as client:
        reply = client.post("/api/v1/recall", json=QUESTION)

    entries = reply.json()
    made = answer_in(entries)
    assert made["text"] == f"{MARKER} {NOTE} [1]"
    chunk = next(entry for entry in entries if entry["kind"] == "chunk")
    assert made["metadata"]["model"] == MODEL
    assert [each["chunk_id"] for each in made["metadata"]["citations"]] == [chunk["metadata"]["chunk_id"]]
    assert len(scripted.questions) == 1
    assert "Be brief." in scripted.chats[0]["messages"][0]["content"]


def test_a_recall_by_words_asks_nobody(scripted: ScriptedServer, program_with: Callable[..., Program]) -> None:
    program = program_with(**scripted.environment, DORMOUSE_LLM__ENRICH="false")
    with remembering(program) as client:
        reply = client.post("/api/v1/recall", json={"query": "deploy key", "searchType": "CHUNKS"})

    assert [entry["kind"] for entry in reply.json()] == ["chunk"]
    assert scripted.chats == []


def test_a_hanging_model_degrades_to_quotes_and_says_so(
    scripted: ScriptedServer, program_with: Callable[..., Program]
) -> None:
    scripted.script.gate.clear()
    program = program_with(
        **scripted.environment, DORMOUSE_LLM__ENRICH="false", DORMOUSE_LLM__ANSWER_TIMEOUT_S="0.5"
    )
    with remembering(program) as client:
        began_s = time.monotonic()
        reply = client.post("/api/v1/recall", json=QUESTION)
        took_s = time.monotonic() - began_s

    assert reply.headers["X-Dormouse-Degraded"] == "answer"
    made = answer_in(reply.json())
    assert (made["metadata"]["model"], NOTE in made["text"]) == ("extractive", True)
    assert took_s < 60  # generous: it would hang for ever


def _wrong_key(_number: int, _asked: Asked) -> Said:
    return refusal(401, "Incorrect API key provided.", "invalid_api_key")


def _abstains(_number: int, _asked: Asked) -> Said:
    return Said(json.dumps({"answered": False, "answer": "", "sources": []}))


def _cites_nothing(_number: int, _asked: Asked) -> Said:
    return Said(json.dumps({"answered": True, "answer": "It is under the mat.", "sources": [7]}))


def _is_cut(_number: int, _asked: Asked) -> Said:
    return Said('{"answered": true, "answer": "It is in the vault [1]. The', finish="length")


def _refuses(_number: int, _asked: Asked) -> Said:
    message = {"role": "assistant", "content": None, "refusal": "I cannot help with keys."}
    return Said(body={"choices": [{"index": 0, "finish_reason": "content_filter", "message": message}]})


def _says_an_object(_number: int, _asked: Asked) -> Said:
    return Said(body={"choices": [{"index": 0, "message": {"content": {"answer": "It is under the mat."}}}]})


@pytest.mark.parametrize(
    ("reply", "text", "degraded"),
    [
        (_wrong_key, f"note.txt: “{NOTE}”", "answer"),
        (_says_an_object, f"note.txt: “{NOTE}”", "answer"),
        (_abstains, "The memories that were found do not answer this.", None),
        (_cites_nothing, f"note.txt: “{NOTE}”", "answer"),
        (_is_cut, f"note.txt: “{NOTE}”", "answer"),
        (_refuses, f"note.txt: “{NOTE}”", "answer"),
    ],
)
def test_what_rests_on_no_memory_is_not_passed_on(
    scripted: ScriptedServer,
    program_with: Callable[..., Program],
    reply: Callable[[int, Asked], Said],
    text: str,
    degraded: str | None,
) -> None:
    scripted.script.reply = reply
    program = program_with(
        **scripted.environment, DORMOUSE_LLM__ENRICH="false", DORMOUSE_LLM__ANSWER_TIMEOUT_S="300"
    )
    with remembering(program) as client:
        answered = client.post("/api/v1/recall", json=QUESTION)

    assert answer_in(answered.json())["text"] == text
    assert answered.headers.get("X-Dormouse-Degraded") == degraded


LOADS = "import dormouse.compose, dormouse_gateway.application, sys; print('openai' in sys.modules)"


def test_a_start_without_a_model_does_not_load_its_client() -> None:
    loaded = subprocess.run(
        [sys.executable, "-c", LOADS],
        capture_output=True,
        text=True,
        check=True,
    )

    assert loaded.stdout.strip() == "False"


@pytest.mark.parametrize(
    ("changed", "state", "words"),
    [
        ({}, "ok", "answers"),
        ({"DORMOUSE_LLM__API_KEY": "wrong"}, "problem", "refuses the key: check DORMOUSE_LLM__API_KEY"),
        ({"DORMOUSE_LLM__MODEL": "other"}, "problem", "does not know the model"),
        ({"DORMOUSE_LLM__BASE_URL": "http://127.0.0.1:9/v1"}, "problem", "does not answer"),
    ],
)
def test_the_doctor_asks_the_models_of_its_environment(
    scripted: ScriptedServer,
    program_with: Callable[..., Program],
    changed: dict[str, str],
    state: str,
    words: str,
) -> None:
    program = program_with(**(scripted.environment | scripted.embedding_environment | changed))

    found = {each["about"]: each for each in json.loads(program.run("doctor", "--json").stdout)}

    assert found["language model, asked"]["state"] == state
    assert words in found["language model, asked"]["detail"]
    assert found["embedding model, asked"]["state"] == "ok"


def test_the_doctor_tells_of_the_model_that_the_server_asks(
    scripted: ScriptedServer, program_with: Callable[..., Program]
) -> None:
    """Whatever the environment of the command says."""
    scripted.script.reply = lambda *_: refusal(401, "Incorrect API key provided.", "invalid_api_key")
    served = program_with(**scripted.environment, DORMOUSE_LLM__ENRICH="false")
    elsewhere = program_with()
    host = scripted.url.removeprefix("http://").removesuffix("/v1")
    with remembering(served) as client:
        before = client.get("/api/v1/status").json()["languageModel"]
        client.post("/api/v1/recall", json=QUESTION)
        after = client.get("/api/v1/status").json()["languageModel"]
        examined = {each["about"]: each for each in json.loads(elsewhere.run("doctor", "--json").stdout)}
    alone = {each["about"]: each for each in json.loads(elsewhere.run("doctor", "--json").stdout)}

    assert before == {"configured": True, "model": MODEL, "endpoint": host, "lastError": None}
    assert after == {**before, "lastError": "model_refused"}
    assert examined["language model"]["state"] == "warning"
    assert f"{MODEL} at {host}, by the server" in examined["language model"]["detail"]
    assert alone["language model"]["detail"] == "none configured in this environment; none is needed"
