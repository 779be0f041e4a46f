"""The real server with one deadly port, as `DORMOUSE_TEST_KILL` says: run as a module by the harness."""

import asyncio
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial

from dormouse.compose import embedded
from dormouse.ports.bundle import Ports
from dormouse.settings import EngineSettings, read
from dormouse_gateway.app import serve
from dormouse_gateway.settings import GatewaySettings
from tests.contract.crash.kill_points import VARIABLE, KillPoint, armed

open_ports = embedded.open_ports


@asynccontextmanager
async def open_armed_ports(settings: EngineSettings) -> AsyncIterator[Ports]:
    async with open_ports(settings) as ports:
        given = os.environ.get(VARIABLE)
        yield armed(ports, KillPoint.parse(given)) if given else ports


if __name__ == "__main__":
    embedded.open_ports = open_armed_ports
    asyncio.run(serve(read(GatewaySettings, os.environ), on_ready=partial(print, flush=True)))
