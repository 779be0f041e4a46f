"""What a tool is, who calls it, and what it answers: the seam between MCP and the contracts."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

from mcp.types import CallToolResult, TextContent, ToolAnnotations

from dormouse.ids import PrincipalId
from dormouse_gateway.mcp.arguments import Arguments

BUDGET_S = 50.0  # the shortest client deadline met is 60 s
BUDGET_WITH_TOKEN_S = 200.0  # a caller that sees progress waits longer, hosted ones are cut at 4 min

Report = Callable[[str], Awaitable[None]]


@dataclass(frozen=True, slots=True)
class Call:
    """One call of a tool. `client_name` is what the client says it is: good for a default, never for a right.

    `budget_s` is how long the call may wait before it answers with what there is, and `latest` the monotonic
    time by which it must, which may come closer while it waits. `report` sends a line of progress and does
    nothing when the caller asked for none.
    """

    principal: PrincipalId
    client_name: str | None
    budget_s: float
    report: Report
    latest: Callable[[], float]


class ToolRefusal(Exception):  # noqa: N818 - an answer in the contract's own words, not a fault
    """The complete text of an error answer, for the cases in which the contract fixes it."""

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self.text = text


@dataclass(frozen=True, slots=True)
class Tool:
    """`failure` stands before the message of an error the contract has no text for.

    `run` gets the call and an instance of `arguments`.
    """

    name: str
    title: str
    description: str
    arguments: type[Arguments]
    annotations: ToolAnnotations
    failure: str
    run: Callable[[Call, Any], Awaitable[CallToolResult]]


def reply(text: str, *, structured: object = None, meta: dict[str, Any] | None = None) -> CallToolResult:
    """A success: one text block, with `meta` on the block."""
    return CallToolResult(
        content=[TextContent(type="text", text=text, _meta=meta)], structured_content=structured
    )


def error_reply(text: str) -> CallToolResult:
    """An error as the model sees it: one text block, and nothing else."""
    return CallToolResult(content=[TextContent(type="text", text=text)], is_error=True)
