"""The stand-in for a Qdrant server answers as a real one was recorded to answer, and keeps what it took."""

import json
import shutil
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import grpc
import pytest
from qdrant_client import AsyncQdrantClient
from qdrant_client import models as qdrant

from tests.real.qdrant_recording import answer, is_same
from tests.toolchain import vector_server
from tests.toolchain.vector_server import VectorServer

RECORDING = json.loads((Path(__file__).parent / "recorded" / "qdrant.json").read_text("utf-8"))["scenarios"]
NAMED = {"d": qdrant.VectorParams(size=2, distance=qdrant.Distance.COSINE)}


@pytest.fixture
def mortal() -> Iterator[VectorServer]:
    """A server that may be killed."""
    with vector_server.running() as server:
        yield server


@pytest.fixture
async def client(vector_server_process: VectorServer) -> AsyncIterator[AsyncQdrantClient]:
    """Of a server without collections, aliases and snapshots."""
    opened = client_of(vector_server_process)
    for each in (await opened.get_collections()).collections:
        await opened.delete_collection(each.name)
    for left in (vector_server_process.folder / "snapshots").iterdir():
        left.unlink() if left.is_file() else shutil.rmtree(left)
    yield opened
    await opened.close()


def client_of(server: VectorServer, key: str | None = None) -> AsyncQdrantClient:
    return AsyncQdrantClient(
        host="127.0.0.1",
        grpc_port=server.port,
        prefer_grpc=True,
        https=False,
        headers={"api-key": server.api_key if key is None else key},
        check_compatibility=False,
    )


@pytest.mark.parametrize("scenario", RECORDING)
async def test_it_answers_as_the_real_server_did(client: AsyncQdrantClient, scenario: str) -> None:
    for number, step in enumerate(RECORDING[scenario]):
        found = await answer(client, step["op"], step["args"])

        expected = {name: step[name] for name in ("result", "error") if name in step}
        if step.get("compare") == "any":
            assert found.keys() == expected.keys(), (number, step["op"])
        else:
            assert is_same(expected, found), (number, step["op"], expected, found)


async def test_what_it_answered_is_there_after_a_kill(mortal: VectorServer) -> None:
    client = client_of(mortal)
    await client.create_collection("c", NAMED)
    await client.create_payload_index("c", "k", qdrant.PayloadSchemaType.KEYWORD)
    await client.update_collection_aliases(
        [qdrant.CreateAliasOperation(create_alias=qdrant.CreateAlias(collection_name="c", alias_name="a"))]
    )
    for number in range(20):
        await client.upsert(
            "a", [qdrant.PointStruct(id=number, vector={"d": [1.0, number]}, payload={"k": "x"})]
        )

    mortal.kill()
    mortal.start()

    counted = await client.count("a", qdrant.Filter(must=[_is("k", "x")]))
    assert counted.count == 20
    assert (await client.get_collection("c")).payload_schema["k"].data_type is qdrant.PayloadSchemaType.KEYWORD
    await client.close()


@pytest.mark.parametrize("key", ["", "wr0ng"])
async def test_it_wants_its_key(vector_server_process: VectorServer, key: str) -> None:
    client = client_of(vector_server_process, key)

    with pytest.raises(grpc.aio.AioRpcError) as refused:
        await client.get_collections()

    assert refused.value.code() is grpc.StatusCode.UNAUTHENTICATED
    await client.close()


async def test_what_it_does_not_serve_it_refuses(client: AsyncQdrantClient) -> None:
    """A flag is matched by the real server and never by the engine: nobody may rely on it here."""
    await client.create_collection("c", NAMED)
    asked = [
        client.count("c", qdrant.Filter(must=[_is("hidden", True)])),
        client.delete_payload("c", ["k"], [1]),
        client.scroll("c", order_by="k"),
        client.query_points("c", prefetch=[qdrant.Prefetch(query=[1.0, 0.0], using="d")], query=[1.0, 0.0]),
        client.facet("c", "k"),
    ]

    for call in asked:
        with pytest.raises(grpc.aio.AioRpcError) as refused:
            await call
        assert refused.value.code() is grpc.StatusCode.UNIMPLEMENTED


async def test_equal_ones_come_in_any_order_also_where_the_limit_cuts(client: AsyncQdrantClient) -> None:
    await client.create_collection("c", NAMED)
    await client.upsert("c", [qdrant.PointStruct(id=n, vector={"d": [1.0, 0.0]}) for n in range(10)])

    drawn = {
        tuple(hit.id for hit in (await client.query_points("c", [1.0, 0.0], using="d", limit=3)).points)
        for _ in range(20)
    }

    assert len(drawn) > 1


def _is(key: str, value: str | bool) -> qdrant.FieldCondition:
    return qdrant.FieldCondition(key=key, match=qdrant.MatchValue(value=value))
