"""Calls to a Qdrant server over gRPC: one client for all of them, and its failures in the engine's words.

A server's own text quotes what it was asked, so it goes no further than the exception's cause.
"""

import contextlib
import re
from collections.abc import Iterator, Sequence
from typing import Any
from urllib.parse import urlsplit

import grpc
from qdrant_client import AsyncQdrantClient, models
from qdrant_client import grpc as messages
from qdrant_client.common.client_exceptions import ResourceExhaustedResponse
from qdrant_client.conversions.conversion import GrpcToRest, RestToGrpc

from dormouse.errors import DormouseError, InvalidInputError, MisconfiguredError, StoreUnavailableError
from dormouse.server_settings import VectorsSettings

# The first that knows conditional upserts and collections' metadata and was tried. An older one would leave out
# what it does not know of a filter, and match everything.
OLDEST = (1, 18)
GRPC_PORT = 6334
MOST_BYTES = 2 << 20  # of points in a call; what speaks gRPC refuses more than 4 MiB unless it is told
_CHANNEL = {
    "grpc.compression_enabled_algorithms_bitset": 1,  # packing an answer takes the server longer than a search
    "grpc.min_reconnect_backoff_ms": 100,
    "grpc.initial_reconnect_backoff_ms": 100,
    "grpc.max_reconnect_backoff_ms": 500,  # a server that wakes is found at once
}
_URL, _KEY = "VECTORS__URL", "VECTORS__API_KEY"
_REFUSED = (grpc.StatusCode.UNAUTHENTICATED, grpc.StatusCode.PERMISSION_DENIED)


class QdrantCalls:
    """Opens its client with the first call, and anew with the first one after `close`."""

    def __init__(self, settings: VectorsSettings) -> None:
        """Raises `MisconfiguredError`."""
        self._settings = settings
        self._address = _address_of(settings.url)
        self._opened: AsyncQdrantClient | None = None

    async def check(self) -> None:
        """Raises `MisconfiguredError` (too old, a refused key) or `StoreUnavailableError`, with the setting."""
        try:
            version = (await self.client.info()).version
            if not is_new_enough(version):
                wanted = ".".join(map(str, OLDEST))
                raise _wrong(_URL, f"names a Qdrant server of an old version: {wanted} or newer is needed")
            await self.client.get_aliases()  # some servers tell their version to anybody
        except grpc.aio.AioRpcError as exc:
            if exc.code() in _REFUSED:
                raise _wrong(_KEY, "is refused by the Qdrant server") from exc
            raise StoreUnavailableError(port="vector", setting=_URL) from exc

    @property
    def client(self) -> AsyncQdrantClient:
        """For calls within `translated`."""
        if self._opened is None:
            host, port, is_secure = self._address
            key = self._settings.api_key.get_secret_value()
            self._opened = AsyncQdrantClient(
                host=host,
                grpc_port=port,
                https=is_secure,
                prefer_grpc=True,
                headers={"api-key": key} if key else None,  # as `api_key` it warns of every network without TLS
                timeout=self._settings.timeout_s,
                grpc_options=dict(_CHANNEL),
                check_compatibility=False,  # it warns where `check` decides, and over HTTP
            )
        return self._opened

    async def close(self) -> None:
        client, self._opened = self._opened, None
        if client is not None:
            await client.close()

    async def collection(self, name: str) -> models.CollectionInfo | None:
        with translated():
            try:
                return await self.client.get_collection(name)
            except grpc.aio.AioRpcError as exc:
                if exc.code() is grpc.StatusCode.NOT_FOUND:
                    return None
                raise

    async def names(self) -> Sequence[str]:
        """Of every collection."""
        with translated():
            return [each.name for each in (await self.client.get_collections()).collections]

    async def remove(self, name: str) -> None:
        """Its snapshots first: they outlive it, and are a new one's that gets its name."""
        with translated():
            if await self.client.collection_exists(name):
                await self.forget_snapshots(name)
                await self.client.delete_collection(name)

    async def forget_snapshots(self, name: str) -> None:
        """Those of the collection, and those of the whole server."""
        with translated():
            for each in await self.client.list_snapshots(name):
                with _gone_already():
                    await self.client.delete_snapshot(name, each.name)
            for each in await self.client.list_full_snapshots():
                with _gone_already():
                    await self.client.delete_full_snapshot(each.name)

    async def upsert(self, collection: str, points: Sequence[Any], guard: models.Filter) -> None:
        """Whole points, as messages; those that are there already only if they match `guard`. In several calls
        where one would be too long: the first ones may then be there although a later one fails."""
        condition = RestToGrpc.convert_filter(guard)
        for some in _in_calls(points):
            request = messages.UpsertPoints(
                collection_name=collection, points=some, wait=True, update_filter=condition
            )
            with translated():
                answer = await self.client.grpc_points.Upsert(request, timeout=self._settings.timeout_s)
            assert_written(GrpcToRest.convert_update_result(answer.result))

    async def query(self, collection: str, asked: Sequence[Any]) -> list[Sequence[Any]]:
        """Points as messages: making the client's models of them takes longer than the search."""
        for each in asked:
            each.collection_name = collection
        request = messages.QueryBatchPoints(collection_name=collection, query_points=asked)
        with translated():
            answer = await self.client.grpc_points.QueryBatch(request, timeout=self._settings.timeout_s)
        return [each.result for each in answer.result]


@contextlib.contextmanager
def translated() -> Iterator[None]:
    """Whoever changed a key that is refused now and was not at the start will put it right."""
    try:
        yield
    except UnicodeEncodeError as exc:
        raise InvalidInputError("text must be valid Unicode, without lone surrogates") from exc
    except (grpc.aio.AioRpcError, grpc.aio.UsageError, ResourceExhaustedResponse) as exc:
        raise StoreUnavailableError(port="vector") from exc


def assert_written(result: models.UpdateResult) -> None:
    """A server that is behind says so instead of failing: such a write may still come."""
    if result.status is not models.UpdateStatus.COMPLETED:
        raise StoreUnavailableError(port="vector")


def _in_calls(points: Sequence[Any]) -> Iterator[Sequence[Any]]:
    taken: list[Any] = []
    size = 0
    for point in points:
        more = point.ByteSize()
        if taken and size + more > MOST_BYTES:
            yield taken
            taken, size = [], 0
        taken.append(point)
        size += more
    if taken:
        yield taken


def is_new_enough(version: str) -> bool:
    found = re.match(r"(\d+)\.(\d+)", version)
    return found is not None and (int(found[1]), int(found[2])) >= OLDEST


def _address_of(url: str) -> tuple[str, int, bool]:
    parts = urlsplit(url)
    try:
        host, port = parts.hostname, parts.port
    except ValueError as exc:
        raise _wrong(_URL, "must be an address like http://host:6334") from exc
    if not host or parts.path or parts.query:
        raise _wrong(_URL, "must be an address like http://host:6334")
    return host, port or GRPC_PORT, parts.scheme == "https"


@contextlib.contextmanager
def _gone_already() -> Iterator[None]:
    try:
        yield
    except grpc.aio.AioRpcError as exc:
        if exc.code() is not grpc.StatusCode.NOT_FOUND:
            raise


def _wrong(setting: str, rule: str) -> DormouseError:
    return MisconfiguredError(f"DORMOUSE_{setting} {rule}", setting=setting)
