"""`python -m load.bench.plain_tool`: our layers and MCP address around a tool that does nothing."""

import os
from pathlib import Path

from mcp.types import CallToolResult, ToolAnnotations
from starlette.applications import Starlette

from dormouse_gateway.auth.principal import Credentials
from dormouse_gateway.mcp.arguments import Arguments
from dormouse_gateway.mcp.endpoint import Endpoint, mcp_routes
from dormouse_gateway.mcp.server import ServerIdentity, Toolset, build_server
from dormouse_gateway.mcp.session_id import SessionIds
from dormouse_gateway.mcp.stopping import Stopping
from dormouse_gateway.mcp.tool import Call, Tool, reply
from dormouse_gateway.owner import Owner
from dormouse_gateway.web.hosts import HostGuard, HostNames
from load.bench.bare import serve_announced


class EchoArguments(Arguments):
    text: str


async def _echo(_call: Call, arguments: EchoArguments) -> CallToolResult:
    return reply(arguments.text)


def main() -> None:
    echo = Tool("echo", "Echo", "Says it again.", EchoArguments, ToolAnnotations(), "Error: ", _echo)
    identity = ServerIdentity("bench", "Bench", "1", "")
    server = build_server(Toolset({"echo": echo}, ["echo"]), identity, Stopping(1.0))
    endpoint = Endpoint(server, SessionIds([b"a key of its own"]))
    owner = Owner(Path(os.environ["DORMOUSE_DATA_DIR"]), Credentials(None, None, is_loopback=True), "")
    app = Starlette(routes=mcp_routes("/mcp", endpoint), lifespan=lambda _app: endpoint.running())
    serve_announced(HostGuard(owner.guard(app), HostNames([])))


if __name__ == "__main__":
    main()
