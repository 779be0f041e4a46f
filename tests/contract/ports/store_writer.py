"""A program that writes to the stores and says so on its output, to be killed at any moment.

`python store_writer.py FOLDER`: one document after another, `written N` once every store has it.
"""

import asyncio
import sys
from itertools import count
from pathlib import Path

from dormouse import ids
from dormouse.adapters.blob_store.obstore import ObstoreBlobStore
from dormouse.adapters.graph_store.sqlite import SqliteGraphStore
from dormouse.adapters.vector_store.qdrant_edge import QdrantEdgeVectorStore
from dormouse.model.passage import Passage
from dormouse.ports.graph_store import GraphRows
from tests.builders import A_JOB, A_WORKSPACE, a_passage, a_point
from tests.contract.ports.store_samples import COLLECTION, MINE, a_document_id, a_fence, vectors

PASSAGES = 20


def passages(number: int) -> list[Passage]:
    document = a_document_id(str(number))
    return [a_passage(f"Document {number}, passage {n}.", order=n, document=document) for n in range(PASSAGES)]


def content(number: int) -> bytes:
    return f"Document {number}.".encode() * 1000


def blob_key(number: int) -> ids.BlobKey:
    return ids.BlobKey(f"{A_WORKSPACE}/{A_JOB}/{ids.sha256_hex(content(number))}")


async def write(folder: Path) -> None:
    graph = await SqliteGraphStore.open(folder / "graph")
    blobs, vector_store = ObstoreBlobStore(folder / "blobs"), QdrantEdgeVectorStore(folder / "vectors")
    await vector_store.open(COLLECTION)
    for number in count(1):
        await blobs.put(A_WORKSPACE, A_JOB, content(number))
        points = [a_point(passage, vectors(1.0, passage.order)) for passage in passages(number)]
        await vector_store.upsert(MINE, a_fence(number), points)
        await graph.write(MINE, a_fence(number), GraphRows(passages=tuple(passages(number))))
        print(f"written {number}", flush=True)  # noqa: T201 that is what it is for


if __name__ == "__main__":
    asyncio.run(write(Path(sys.argv[1])))
