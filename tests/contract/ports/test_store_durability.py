"""What the embedded stores keep through SIGKILL, and what they leave on disk."""

import os
import signal
import subprocess
import sys
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path
from uuid import UUID

import numpy as np
import pytest

from dormouse import ids
from dormouse.adapters.blob_store.obstore import ObstoreBlobStore
from dormouse.adapters.graph_store.sqlite import FILE_NAME, SqliteGraphStore
from dormouse.adapters.vector_store.qdrant_edge import QdrantEdgeVectorStore
from dormouse.errors import MisconfiguredError, NotFoundError, StoreUnavailableError
from dormouse.model.change import Erasure
from dormouse.model.entity import Mention
from dormouse.model.passage import PassageKind, PassageVectors
from dormouse.model.workspace import Collection
from dormouse.ports.graph_store import GraphRows
from dormouse.ports.vector_store import DenseArm, PointFilter, TermArm
from tests.builders import A_DATASET, A_JOB, A_WORKSPACE, a_passage, a_point
from tests.contract.ports import store_writer as writer
from tests.contract.ports.store_samples import (
    A_TERM,
    COLLECTION,
    MINE,
    a_document_id,
    a_fence,
    a_vector,
    a_version,
    an_entity,
    files_holding,
    vectors,
)

REPOSITORY = Path(__file__).parents[3]


@pytest.fixture
async def graph(tmp_path: Path) -> AsyncIterator[SqliteGraphStore]:
    store = await SqliteGraphStore.open(tmp_path / "graph")
    yield store
    await store.close()


@pytest.fixture
async def points(tmp_path: Path) -> AsyncIterator[QdrantEdgeVectorStore]:
    store = QdrantEdgeVectorStore(tmp_path / "vectors")
    await store.open(COLLECTION)
    yield store
    await store.close()


def kill_a_writer_after(folder: Path, documents: int) -> int:
    """Kill the writing process without warning; returns the last document that it acknowledged."""
    process = subprocess.Popen(
        [sys.executable, str(Path(writer.__file__)), str(folder)],
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(REPOSITORY), *sys.path])},
    )
    with process:
        assert process.stdout is not None
        last = 0
        for line in process.stdout:
            last = int(line.split()[1])
            if last == documents:
                process.send_signal(signal.SIGKILL)
    return last


@pytest.mark.promise("P8")
@pytest.mark.parametrize("documents", [1, 12])
async def test_what_was_acknowledged_is_there_after_a_kill(tmp_path: Path, documents: int) -> None:
    last = kill_a_writer_after(tmp_path, documents)

    graph = await SqliteGraphStore.open(tmp_path / "graph")
    blobs, points = ObstoreBlobStore(tmp_path / "blobs"), QdrantEdgeVectorStore(tmp_path / "vectors")
    await points.open(COLLECTION)
    try:
        (nearest,) = await points.search(MINE, [DenseArm(a_vector(1.0), 1000)], PointFilter())
        held = {hit.passage for hit in nearest}
        for number in range(1, last + 1):
            expected = writer.passages(number)
            assert await graph.passages_of(MINE, expected[0].document) == expected
            assert held.issuperset(passage.id for passage in expected)
            assert await blobs.get(writer.blob_key(number)) == writer.content(number)
        found = await points.search(MINE, [DenseArm(a_vector(1.0), 1), TermArm({A_TERM: 1.0})], PointFilter())
        assert len(found[0]) == 1
        # One more may have been written, and not acknowledged before the kill.
        assert len(found[1]) in {min(100, (last + more) * writer.PASSAGES) for more in (0, 1)}
    finally:
        await points.close()
        await graph.close()


async def test_a_killed_process_of_the_vectors_is_started_anew(points: QdrantEdgeVectorStore) -> None:
    await points.upsert(MINE, a_fence(), [a_point(a_passage(), vectors(1.0))])
    assert points._process is not None
    assert points._process._process is not None
    points._process._process.kill()

    with pytest.raises(StoreUnavailableError):
        await points.count(MINE)

    assert await points.count(MINE) == 1


@pytest.mark.promise("P3")
async def test_no_file_of_the_graph_holds_what_was_erased(graph: SqliteGraphStore, tmp_path: Path) -> None:
    """Pages are balanced a few hundred times; a copy that balancing left behind would be found here."""
    random = np.random.default_rng(7)
    for number in range(120):
        secret = f"secret{number:04d}"
        document = a_document_id(secret)
        passages = tuple(
            a_passage(f"{secret} " * int(random.integers(1, 200)), order=n, document=document, session=secret)
            for n in range(int(random.integers(1, 12)))
        )
        entity = an_entity(f"Name {secret}")
        rows = GraphRows(
            passages,
            (entity,),
            (Mention(entity.id, passages[0].id),),
            (a_version(passages[0], f"fact {secret}"),),
        )
        await graph.write(MINE, a_fence(number), rows)

    for number in range(0, 120, 10):
        await graph.erase(MINE, a_fence(200 + number), Erasure(A_DATASET, a_document_id(f"secret{number:04d}")))

    gone = [f"secret{number:04d}".encode() for number in range(0, 120, 10)]
    assert files_holding(tmp_path / "graph", *gone) == []
    assert files_holding(tmp_path / "graph", b"secret0001") == [FILE_NAME]


@pytest.mark.promise("P3")
async def test_no_file_of_the_vectors_holds_what_was_erased(
    points: QdrantEdgeVectorStore, tmp_path: Path
) -> None:
    """Looked for: session, speaker, ids as text and as bytes, and the vector itself."""
    numbers = range(40)
    made = []
    for number in numbers:
        session = f"session{number:04d}"
        passage = a_passage(
            session, session=session, speaker=f"speaker{number:04d}", document=a_document_id(session)
        )
        made.append(a_point(passage, vectors(1.0, number / 7, number / 3, 0.1)))
        await points.upsert(MINE, a_fence(number), [made[-1]])
    await points.optimise()
    # One of them again, so that an older copy of it lies in a packed segment.
    await points.upsert(MINE, a_fence(100), [made[3]])

    for number in (3, 39):
        await points.erase(MINE, a_fence(101), Erasure(A_DATASET, made[number].document))

    def traces(number: int) -> list[str]:
        point = made[number]
        uuids = [UUID(point.passage), UUID(point.document)]
        needles = [
            f"session{number:04d}".encode(),
            f"speaker{number:04d}".encode(),
            point.vectors.dense.tobytes(),
        ]
        needles += [form for uuid in uuids for form in (uuid.bytes, uuid.bytes[::-1], str(uuid).encode())]
        return files_holding(tmp_path / "vectors", *needles)

    assert traces(3) == traces(39) == []
    assert traces(4) != []
    assert await points.count(MINE) == 38


@pytest.mark.promise("P3")
async def test_no_file_of_the_blobs_holds_what_was_erased(tmp_path: Path) -> None:
    blobs = ObstoreBlobStore(tmp_path)
    key = await blobs.put(A_WORKSPACE, A_JOB, b"secret")
    (tmp_path / f"{key}#1").write_bytes(b"a draft of the secret")

    await blobs.erase_job(A_WORKSPACE, A_JOB)

    assert files_holding(tmp_path, b"secret") == []


async def test_a_passage_of_110_words_costs_at_most_8_kb(tmp_path: Path) -> None:
    """Its own point, packed and reopened: 384 numbers, 60 terms, 37 token vectors. The log does not count."""
    store = QdrantEdgeVectorStore(tmp_path)
    collection = Collection("main", "m", 384)
    await store.open(collection)
    random = np.random.default_rng(1)
    total = 2000
    for start in range(0, total, 500):
        batch = []
        for number in range(start, start + 500):
            terms = {ids.TermId(int(term)): float(random.random()) for term in random.choice(2**32, 60)}
            direction = random.standard_normal(384)
            dense = (direction / np.linalg.norm(direction)).astype(np.float16)
            document = a_document_id(str(number // 20))
            passage = a_passage(str(number), document=document, kind=PassageKind.CHUNK, order=number % 20)
            made = PassageVectors(terms=terms, window_terms={}, dense=dense, tokens=random.bytes(37 * 48))
            previous = (passage.id, passage.id)
            batch.append(
                replace(a_point(passage, made), previous=previous, occurred_ms=1_700_000_000_000 + number)
            )
        await store.upsert(MINE, a_fence(start), batch)
    await store.optimise()
    await store.open(collection)

    footprint = await store.optimise()

    await store.close()
    assert footprint.points == total
    assert footprint.segments_bytes / total <= 8 * 1024
    assert footprint.log_bytes == 0


@pytest.mark.parametrize("damage", [b"this is no database, " * 500, b"SQLite format 3\x00" + b"\xff" * 9000])
async def test_a_damaged_graph_says_what_to_do_and_no_path(tmp_path: Path, damage: bytes) -> None:
    (tmp_path / FILE_NAME).write_bytes(damage)

    with pytest.raises(MisconfiguredError, match="`dormouse rebuild` makes it anew") as caught:
        await SqliteGraphStore.open(tmp_path)

    assert str(tmp_path) not in str(caught.value)


async def test_a_graph_that_cannot_be_opened_is_unavailable(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"")

    with pytest.raises(StoreUnavailableError) as caught:
        await SqliteGraphStore.open(tmp_path / "file")

    assert caught.value.port == "graph"


async def test_a_blob_whose_bytes_changed_is_refused_and_healed_by_a_put(tmp_path: Path) -> None:
    blobs = ObstoreBlobStore(tmp_path)
    key = await blobs.put(A_WORKSPACE, A_JOB, b"true")
    (tmp_path / key).write_bytes(b"lies")

    with pytest.raises(StoreUnavailableError):
        await blobs.get(key)
    await blobs.put(A_WORKSPACE, A_JOB, b"true")

    assert await blobs.get(key) == b"true"


FULL_DISK = """
import asyncio, resource, signal, sys
from pathlib import Path
from dormouse.adapters.blob_store.obstore import ObstoreBlobStore
from dormouse.errors import StoreUnavailableError

async def put() -> None:
    blobs = ObstoreBlobStore(Path(sys.argv[1]))
    await blobs.put("local", "job", b"small")
    resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))
    try:
        await blobs.put("local", "job", b"x" * 100_000)
    except StoreUnavailableError as error:
        print(error.port, [info.size_bytes async for info in blobs.list("local")])

signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
asyncio.run(put())
"""


@pytest.mark.skipif(sys.platform == "win32", reason="file size limits are POSIX")
def test_a_disk_that_takes_no_more_leaves_nothing_half_written(tmp_path: Path) -> None:
    """A limit on file sizes fails the same call that a full disk fails."""
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run(
        [sys.executable, "-c", FULL_DISK, str(tmp_path)], capture_output=True, text=True, env=env, check=True
    )

    assert done.stdout == "blob [5]\n"


async def test_a_blob_folder_that_is_none_is_unavailable(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"")
    blobs = ObstoreBlobStore(tmp_path / "file")

    with pytest.raises(StoreUnavailableError):
        await blobs.put(A_WORKSPACE, A_JOB, b"content")
    with pytest.raises((StoreUnavailableError, NotFoundError)):
        await blobs.get(writer.blob_key(1))
