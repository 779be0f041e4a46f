"""Every recorded call, in the recorded order, against the real program, in both eras of the protocol."""

import base64
import json
import re
from pathlib import Path
from typing import Any

import pytest

from dormouse.model.document import CONTENT_LIMIT_BYTES
from tests.contract.mcp.differences import answer_of
from tests.contract.mcp.talk import MODES, Mode, connected, text_of
from tests.contract.program import Program

_UUID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_ENUM = re.compile(r"<PipelineRunStatus\.\w+: ('\w+')>")
TOO_BIG = {"content_base64": base64.b64encode(b"x" * (CONTENT_LIMIT_BYTES + 1)).decode()}


@pytest.mark.parametrize("mode", MODES)
async def test_every_recorded_call_is_answered_as_recorded_or_as_the_table_says(
    tmp_path: Path, recorded: dict[str, Any], mode: Mode
) -> None:
    reference = {row["case"]: row for row in recorded["calls"]["api_mode"]}
    wrong = []
    with Program(tmp_path).serving() as url:
        async with connected(url, mode) as client:
            for row in recorded["calls"]["local_mode"]:
                arguments = TOO_BIG if row["case"] == "remember_too_big" else row["arguments"]
                result = await client.call_tool(row["tool"], arguments)
                wrong += _faults(row, reference[row["case"]], result.model_dump(by_alias=True, mode="json"))
                if row["case"] == "status_bg":
                    await client.call_tool(
                        "remember", {"data": "Carol founded Initech in Vienna.", "dataset_name": "bg1"}
                    )
    assert not wrong, "\n".join(wrong)


def _faults(row: dict[str, Any], in_api_mode: dict[str, Any], result: dict[str, Any]) -> list[str]:
    """Differences that nothing excuses."""
    case, texts = row["case"], [block["text"] for block in result["content"]]
    if row["tool"] == "search_tools":
        return [] if _names(texts) == _names(row["text"]) else [f"{case}: {texts}"]
    excuse = answer_of(case)
    if excuse is not None:
        is_right = len(texts) == 1 and excuse.fullmatch(texts[0]) is not None
    else:
        is_right = _plain(texts) in (_plain(row["text"]), _plain(in_api_mode["text"]))
    faults = [] if is_right else [f"{case}: {texts} instead of {excuse.pattern if excuse else row['text']}"]
    says_error = bool(texts) and texts[0].startswith(("Error: ", "❌ ", "Error calling", "Unknown tool"))
    if result["isError"] != says_error:
        faults.append(f"{case}: isError is {result['isError']}")
    if excuse is None and [block.get("_meta") for block in result["content"]] != row["meta"]:
        faults.append(f"{case}: _meta is {[block.get('_meta') for block in result['content']]}")
    return faults


def _plain(texts: list[str]) -> list[str]:
    """Without ids, and without the wrapper that one recording has around a status."""
    return [_ENUM.sub(r"\1", _UUID.sub("<uuid>", text)) for text in texts]


def _names(texts: list[str]) -> list[str]:
    return [tool["name"] for text in texts for tool in json.loads(text)]


@pytest.mark.parametrize("mode", ["minimal", "all"])
async def test_a_short_and_a_full_list_show_the_recorded_tools_with_their_parameters(
    tmp_path: Path, recorded: dict[str, Any], mode: str
) -> None:
    """The other modes list one of these two; a unit test holds which."""
    rows = recorded["tools_list"][mode]
    expected = [(row["name"], _flat(row["inputSchema"])) for row in rows if row["name"] != "code_search"]

    with Program(tmp_path, {"DORMOUSE_TOOL_MODE": mode}).serving() as url:
        async with connected(url, "legacy") as client:
            listed = (await client.list_tools()).tools

    assert [(tool.name, _flat(tool.input_schema)) for tool in listed] == expected
    for tool in listed:
        assert tool.description
        assert tool.annotations


def _flat(schema: dict[str, Any]) -> dict[str, Any]:
    """What is left of a schema without unions with null, defaults of null and words of ours."""
    properties = {}
    for name, given in schema["properties"].items():
        if name == "code_query":
            continue
        kinds = [kind for kind in given.get("anyOf", [given]) if kind.get("type") != "null"]
        kind = kinds[-1]  # of a string or a list of them, the list
        shown = {"type": kind["type"], "items": kind.get("items"), "default": given.get("default")}
        if name == "pipelines":
            shown["default"] = None  # the contract's own default, written out
        properties[name] = {key: value for key, value in shown.items() if value is not None}
    return {**schema, "properties": properties}


async def test_every_recorded_client_name_leads_to_its_dataset_in_both_eras(
    tmp_path: Path, recorded: dict[str, Any]
) -> None:
    found = {}
    with Program(tmp_path).serving() as url:
        for mode in MODES:
            for row in recorded["agent_scoped_dataset_names"]:
                name = row["clientInfo.name"]
                async with connected(url, mode, name=name) as client:
                    result = await client.call_tool("remember", {"data": "Tea is at four.", "background": True})
                found[mode, name] = result.structured_content["dataset"]

    assert found == {
        (mode, row["clientInfo.name"]): row["dataset"]
        for mode in MODES
        for row in recorded["agent_scoped_dataset_names"]
    }


async def test_scoping_can_be_switched_off(tmp_path: Path) -> None:
    with Program(tmp_path, {"COGNEE_MCP_AGENT_SCOPED": "False"}).serving() as url:
        async with connected(url, "legacy") as client:
            stored = text_of(await client.call_tool("remember", {"data": "Tea is at four."}))

    assert stored == "Stored permanently in knowledge graph (dataset=main_dataset, status=completed)."
