"""MCP over standard input and output, as an agent starts it."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client
from mcp.types import Implementation

from tests.contract.mcp.talk import MODES, Mode, a_call, a_request, an_initialize, as_modern, text_of
from tests.contract.program import COMMAND, Program


@pytest.fixture
def program(tmp_path: Path) -> Iterator[Program]:
    program = Program(tmp_path)
    yield program
    program.end()


@pytest.mark.parametrize("mode", MODES)
async def test_the_official_client_works_and_its_name_arrives(program: Program, mode: Mode) -> None:
    command, *arguments = COMMAND
    started = StdioServerParameters(command=command, args=[*arguments, "mcp"], env=program.environment)
    said: list[str | None] = []

    async def hear(progress: float, total: float | None, message: str | None) -> None:
        said.append(message)

    info = Implementation(name="claude-code", version="2")
    async with Client(stdio_client(started), mode=mode, client_info=info) as client:
        listed = [tool.name for tool in (await client.list_tools()).tools]
        stored = await client.call_tool("remember", {"data": "Ada lives in Paris ⭐."}, progress_callback=hear)
        found = await client.call_tool("recall", {"query": "Where does Ada live?"})

    assert listed == ["remember", "recall", "forget", "search_tools", "call_tool"]
    assert text_of(stored) == (
        "Stored permanently in knowledge graph (dataset=claude_code_memory, status=completed)."
    )
    assert "[graph] Ada lives in Paris ⭐." in text_of(found)


def test_a_client_may_mix_both_eras_and_close_its_end_before_the_answers(program: Program) -> None:
    discover, _ = as_modern(a_request("server/discover", number=1))
    messages = [
        discover,
        {**an_initialize(name="claude-code"), "id": 2},
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        {**a_call("remember", {"data": "Tea is at four."}), "id": "three"},
        a_request("nope/nope", number=4),
    ]
    twice = '{"jsonrpc": "2.0", "id": 5, "method": "ping", "params": {"a": 1, "a": 2}}'
    given = "\n".join([*map(json.dumps, messages), twice, "garbage"]).encode()

    done = program.run("mcp", given=given)

    answers: dict[Any, dict[str, Any]] = {}
    for line in done.stdout.splitlines():
        answer = json.loads(line)
        answers[answer["id"]] = answer
    assert done.returncode == 0
    assert set(answers) == {1, 2, "three", 4, 5, None}
    assert answers[2]["result"]["protocolVersion"] == "2025-06-18"
    assert "claude_code_memory" in answers["three"]["result"]["content"][0]["text"]
    assert answers[4]["error"]["code"] == -32601
    assert answers[5]["error"] == {"code": -32600, "message": "Invalid request: the key 'a' is there twice"}
    assert answers[None]["error"]["code"] == -32700


def test_a_remote_server_is_used_with_the_key_and_says_so_when_it_refuses(tmp_path: Path) -> None:
    with Program(tmp_path / "there").serving() as url:
        wrong = {"DORMOUSE_REMOTE__URL": url, "DORMOUSE_REMOTE__API_KEY": "wrong"}
        refused = Program(tmp_path / "here", wrong).run("mcp", given=json.dumps(an_initialize()).encode())
        alias = Program(tmp_path / "here", {"COGNEE_BASE_URL": url})
        served = alias.run("mcp", given=json.dumps(an_initialize()).encode())

    assert "DORMOUSE_REMOTE__API_KEY" in json.loads(refused.stdout)["error"]["message"]
    assert json.loads(served.stdout)["result"]["serverInfo"]["name"] == "dormouse"
    assert not (tmp_path / "here").exists()


def test_a_server_that_does_not_answer_is_told_as_an_error_of_the_protocol(tmp_path: Path) -> None:
    program = Program(tmp_path, {"DORMOUSE_REMOTE__URL": "http://127.0.0.1:9"})

    done = program.run("mcp", given=json.dumps(an_initialize()).encode())

    assert json.loads(done.stdout)["error"]["message"] == (
        "Dormouse does not answer; start it with `dormouse serve`."
    )
