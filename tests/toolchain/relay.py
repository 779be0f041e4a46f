"""A relay in front of a server, which may lie about what the server calls itself, or fall silent."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from tests.toolchain.server_process import free_port


@dataclass(slots=True)
class Relay:
    """`lies` are replaced in what the server says, by words of the same length. While `speaks` is not set,
    nothing is passed on, in either direction, and no connection ends."""

    port: int
    lies: dict[bytes, bytes] = field(default_factory=dict)
    speaks: asyncio.Event = field(default_factory=asyncio.Event)

    def told(self, words: bytes) -> bytes:
        for truth, lie in self.lies.items():
            assert len(truth) == len(lie)
            words = words.replace(truth, lie)
        return words


@asynccontextmanager
async def relaying(server_port: int) -> AsyncIterator[Relay]:
    relay = Relay(free_port())
    relay.speaks.set()
    ends: set[asyncio.StreamWriter] = set()
    serving: set[asyncio.Task[object]] = set()

    async def both_ways(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        serving.add(task)
        from_server, to_server = await asyncio.open_connection("127.0.0.1", server_port)
        ends.update((writer, to_server))
        try:
            async with asyncio.TaskGroup() as group:
                group.create_task(_carry(relay, reader, to_server, is_answer=False))
                group.create_task(_carry(relay, from_server, writer, is_answer=True))
        finally:
            writer.close()
            to_server.close()

    server = await asyncio.start_server(both_ways, "127.0.0.1", relay.port)
    try:
        yield relay
    finally:
        relay.speaks.set()
        server.close()
        for end in ends:
            end.close()
        if serving:
            await asyncio.wait(serving)


async def _carry(
    relay: Relay, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, *, is_answer: bool
) -> None:
    try:
        while words := await reader.read(65536):
            await relay.speaks.wait()
            writer.write(relay.told(words) if is_answer else words)
            await writer.drain()
        writer.write_eof()
    except OSError:  # whoever it was has gone
        pass
