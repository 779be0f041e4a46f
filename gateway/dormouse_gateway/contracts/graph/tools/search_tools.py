"""search_tools: the tools that are not listed, found by the words in their names, descriptions and parameters.

Plain BM25 without stemming. Source: graph contract, "search_tools and call_tool".
"""

import json
import math
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from mcp.types import CallToolResult, TextContent, ToolAnnotations

from dormouse_gateway.contracts.graph.arguments import SearchToolsArguments
from dormouse_gateway.mcp.flat_schema import flat_schema
from dormouse_gateway.mcp.tool import Call, Tool

MAX_FOUND = 10
K1, B = 1.5, 0.75

DESCRIPTION = """\
Find tools of this server that are not in the list, by what you want to do. Returns their names, descriptions \
and parameters; call one with `call_tool`."""

_WORD = re.compile(r"[a-z0-9]+")


@dataclass(frozen=True, slots=True)
class _SearchTools:
    hidden: Sequence[Tool]

    async def __call__(self, _call: Call, arguments: SearchToolsArguments) -> CallToolResult:
        found = [
            _view(self.hidden[index]) for index in rank(arguments.query, [_words(tool) for tool in self.hidden])
        ]
        text = json.dumps(found, separators=(",", ":"), ensure_ascii=False)
        content = [TextContent(type="text", text=text)] if found else []
        return CallToolResult(content=list(content), structured_content={"result": found})


def search_tools_tool(hidden: Sequence[Tool]) -> Tool:
    return Tool(
        name="search_tools",
        title="Search tools",
        description=DESCRIPTION,
        arguments=SearchToolsArguments,
        annotations=ToolAnnotations(read_only_hint=True, idempotent_hint=True, open_world_hint=False),
        failure="Error: Search failed: ",
        run=_SearchTools(tuple(hidden)),
    )


def rank(query: str, documents: Sequence[Sequence[str]]) -> list[int]:
    """Positions of the documents that share a word with the query, best first, ties in the order given."""
    asked = set(_WORD.findall(query.lower()))
    counts = [Counter(document) for document in documents]
    lengths = [len(document) for document in documents]
    average = sum(lengths) / len(lengths) if any(lengths) else 1.0
    having = {word: sum(word in count for count in counts) for word in asked}

    def score(position: int) -> float:
        total = 0.0
        for word in asked & counts[position].keys():
            frequency = counts[position][word]
            rarity = math.log(1 + (len(documents) - having[word] + 0.5) / (having[word] + 0.5))
            damped = frequency + K1 * (1 - B + B * lengths[position] / average)
            total += rarity * frequency * (K1 + 1) / damped
        return total

    scores = [(score(position), -position) for position in range(len(documents))]
    return [-position for value, position in sorted(scores, reverse=True) if value > 0][:MAX_FOUND]


def _words(tool: Tool) -> list[str]:
    schema = flat_schema(tool.arguments)["properties"]
    parameters = " ".join(f"{name} {field.get('description', '')}" for name, field in schema.items())
    return _WORD.findall(f"{tool.name} {tool.description} {parameters}".lower())


def _view(tool: Tool) -> dict[str, object]:
    return {
        "name": tool.name,
        "description": tool.description,
        "inputSchema": flat_schema(tool.arguments),
        "annotations": tool.annotations.model_dump(by_alias=True, exclude_none=True),
    }
