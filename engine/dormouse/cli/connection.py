"""How a command reaches the memory: the server it is told of, else this machine's own, started if need be."""

import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from dormouse.adapters.data_folder.find import find_or_start
from dormouse.adapters.remote.rest import Endpoint, RestClient
from dormouse.settings import ClientSettings, read


@asynccontextmanager
async def connected() -> AsyncIterator[RestClient]:
    settings = read(ClientSettings, os.environ)

    async def locate() -> Endpoint:
        if settings.remote.url:
            return Endpoint(settings.remote.url, settings.remote.api_key.get_secret_value())
        address = await find_or_start(settings.data_dir)
        return Endpoint(address.url, address.token)

    async with RestClient(locate) as client:
        yield client
