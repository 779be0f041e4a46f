"""call_tool: any tool by its name, exactly as if it had been called directly.

Source: graph contract, "search_tools and call_tool".
"""

from collections.abc import Mapping
from dataclasses import dataclass

from mcp.types import CallToolResult, ToolAnnotations

from dormouse_gateway.contracts.graph import texts
from dormouse_gateway.contracts.graph.arguments import CallToolArguments
from dormouse_gateway.contracts.graph.modes import DISCOVERY
from dormouse_gateway.mcp.server import Toolset
from dormouse_gateway.mcp.tool import Call, Tool, ToolRefusal

DESCRIPTION = """\
Call a tool of this server by its name, for example one that `search_tools` found. Takes that tool's own \
arguments and returns its result unchanged."""


@dataclass(frozen=True, slots=True)
class _CallTool:
    targets: Mapping[str, Tool]

    async def __call__(self, call: Call, arguments: CallToolArguments) -> CallToolResult:
        if arguments.name in DISCOVERY:
            raise ToolRefusal(texts.synthetic_tool(arguments.name))
        if arguments.name not in self.targets:
            raise ToolRefusal(texts.unknown_target(arguments.name[:64]))
        return await Toolset(self.targets, ()).call(call, arguments.name, arguments.arguments)


def call_tool_tool(targets: Mapping[str, Tool]) -> Tool:
    return Tool(
        name="call_tool",
        title="Call a tool",
        description=DESCRIPTION,
        arguments=CallToolArguments,
        # What it calls may erase, so a client has to ask as it would for that.
        annotations=ToolAnnotations(read_only_hint=False, destructive_hint=True, open_world_hint=False),
        failure="Error: ",
        run=_CallTool(targets),
    )
