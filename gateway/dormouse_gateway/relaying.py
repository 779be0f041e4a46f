"""`dormouse mcp`: the server of this machine's memory, started if none runs, and an agent's messages to it.

The agent's process holds no memory: killing it harms nobody. When the server is killed instead, the next
message starts another one and goes there.
"""

from collections.abc import Mapping

from dormouse.adapters.data_folder.find import find_or_start
from dormouse.settings import read, refuse_no_gateway
from dormouse_gateway.mcp.stdio import relay_stdio
from dormouse_gateway.settings import GatewaySettings


async def relay(environ: Mapping[str, str]) -> None:
    """Until the agent closes its end. Standard output carries the protocol and nothing else."""
    settings = read(GatewaySettings, environ)
    if settings.remote.url:
        await relay_stdio(settings.remote.url, settings.remote.api_key.get_secret_value() or None)
        return
    refuse_no_gateway(settings.profile, settings.remote)

    async def found() -> tuple[str, str]:
        address = await find_or_start(settings.data_dir)
        return address.url, address.token

    url, token = await found()
    await relay_stdio(url, token, find_again=found)
