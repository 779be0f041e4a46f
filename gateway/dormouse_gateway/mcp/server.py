"""A set of tools as an MCP server of the SDK's low level, for every revision of the protocol.

Stateless: a request carries all that is needed to answer it.
"""

import logging
from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from typing import Any

from mcp.server import Server, ServerRequestContext
from mcp.server.caching import CacheHint
from mcp.shared.inbound import x_mcp_header_map
from mcp.types import (
    CallToolRequestParams,
    CallToolResult,
    Implementation,
    ListToolsResult,
    PaginatedRequestParams,
)
from mcp.types import Tool as ListedTool

from dormouse.errors import DormouseError, InvalidInputError
from dormouse_gateway.auth.principal import principal_of
from dormouse_gateway.mcp.arguments import read_arguments
from dormouse_gateway.mcp.flat_schema import flat_schema
from dormouse_gateway.mcp.problems import problem_text
from dormouse_gateway.mcp.progress import ProgressReporter
from dormouse_gateway.mcp.session_id import MAX_NAME_CHARACTERS
from dormouse_gateway.mcp.spans import OnlyWhenSeen
from dormouse_gateway.mcp.stopping import Stopping
from dormouse_gateway.mcp.tool import (
    BUDGET_S,
    BUDGET_WITH_TOKEN_S,
    Call,
    Tool,
    ToolRefusal,
    error_reply,
)
from dormouse_gateway.web.field_names import in_the_callers_words

DEADLINE_HEADER = "x-dormouse-deadline-ms"

log = logging.getLogger(__name__)

Context = ServerRequestContext[Any, Any]


@dataclass(frozen=True, slots=True)
class Toolset:
    """Tools by name, and which of them a client is shown, in that order. The others answer all the same."""

    tools: Mapping[str, Tool]
    listed: Sequence[str]

    async def call(self, call: Call, name: str, arguments: Mapping[str, Any] | None) -> CallToolResult:
        """Whatever goes wrong becomes an answer; only a cancellation leaves."""
        tool = self.tools.get(name)
        if tool is None:
            return error_reply(f"Unknown tool: '{name[:64]}'")
        try:
            return await tool.run(call, read_arguments(tool.arguments, arguments))
        except ToolRefusal as refusal:
            return error_reply(refusal.text)
        except InvalidInputError as error:
            return error_reply(problem_text(in_the_callers_words(error, arguments or {}), tool.failure))
        except DormouseError as error:
            return error_reply(problem_text(error, tool.failure))
        except Exception:  # the edge of the process: nothing unforeseen may reach a caller
            log.exception("tool_failed", extra={"tool": tool.name})
            return error_reply(problem_text(None, tool.failure))


@dataclass(frozen=True, slots=True)
class ServerIdentity:
    """What a server says about itself. `instructions` tell a model when to use it."""

    name: str
    title: str
    version: str
    instructions: str


def listed_tool(tool: Tool) -> ListedTool:
    return ListedTool(
        name=tool.name,
        title=tool.title,
        description=tool.description,
        input_schema=flat_schema(tool.arguments),
        annotations=tool.annotations,
    )


def build_server(toolset: Toolset, identity: ServerIdentity, stopping: Stopping) -> Server[Any]:
    """The list does not depend on who asks, so clients and proxies may keep it."""
    listing = ListToolsResult(tools=[listed_tool(toolset.tools[name]) for name in toolset.listed])
    schemas = {name: flat_schema(tool.arguments) for name, tool in toolset.tools.items()}
    # The SDK compares headers with arguments by them; walking a schema that asks for no header takes it longer
    # than the rest of a call, and finds nothing.
    mirrored = {name: schema for name, schema in schemas.items() if x_mcp_header_map(schema)}

    async def list_tools(_context: Context, _params: PaginatedRequestParams | None) -> ListToolsResult:
        return listing

    async def call_tool(context: Context, params: CallToolRequestParams) -> CallToolResult:
        reporter = _reporter_of(context)
        call = _call_of(context, reporter, stopping)
        async with reporter.beating() if reporter else nullcontext():
            return await toolset.call(call, params.name, params.arguments)

    server: Server[Any] = Server(
        identity.name,
        version=identity.version,
        title=identity.title,
        instructions=identity.instructions,
        cache_hints={
            "tools/list": CacheHint(300_000, "public"),
            "server/discover": CacheHint(3_600_000, "public"),
        },
        get_tool_input_schema=mirrored.get,
        on_list_tools=list_tools,
        on_call_tool=call_tool,
    )
    server.middleware[:] = [OnlyWhenSeen(each) for each in server.middleware]  # it comes with the span alone
    return server


def _reporter_of(context: Context) -> ProgressReporter | None:
    """None when the caller gave no progress token."""
    if not context.meta or context.meta.get("progress_token") is None:
        return None

    async def send(progress: float, message: str) -> None:
        await context.session.report_progress(progress, message=message)

    return ProgressReporter(send)


def _call_of(context: Context, reporter: ProgressReporter | None, stopping: Stopping) -> Call:
    request = context.request
    if request is None:
        raise RuntimeError("tools are called over HTTP: the request says who calls")
    budget_s = BUDGET_WITH_TOKEN_S if reporter else BUDGET_S
    client: Implementation | None = getattr(context.session.client_params, "client_info", None)
    return Call(
        principal=principal_of(request.scope),
        client_name=client.name[:MAX_NAME_CHARACTERS] if client else None,
        budget_s=min(budget_s, _asked_budget_s(request.headers.get(DEADLINE_HEADER))),
        report=reporter.report if reporter else _say_nothing,
        latest=stopping.latest,
    )


def _asked_budget_s(header: str | None) -> float:
    """A caller may ask for less time than it could have, never for more; nonsense asks for nothing."""
    return int(header) / 1000 if header and header.isascii() and header.isdigit() else float("inf")


async def _say_nothing(_message: str) -> None:
    return
