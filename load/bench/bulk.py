"""Taking in much: processor time of all processes, against embedding the same passages by the same model."""

import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from dormouse.adapters.embedder.onnx import OnnxEmbedder
from dormouse.ingest.chunks import chunks_of
from load.bench.client import Client
from load.bench.measured import head, row
from load.bench.options import Options
from load.bench.processes import Running, dormouse
from load.bench.synthetic import document, lines
from load.bench.writes import remember_all

DOCUMENTS, WORDS = 3, 15_000
NOTES = 500


async def run(options: Options) -> None:  # noqa: ARG001  every subject takes them
    large = [document(WORDS, seed=seed) for seed in range(DOCUMENTS)]
    notes = lines(NOTES)
    embedder = OnnxEmbedder()
    try:
        alone = await _embedding_s(embedder, [[*chunks_of(text)] for text in large])
        alone_notes = await _embedding_s(embedder, [[note] for note in notes])
    finally:
        await embedder.close()
    head("taken in", "s", "s of processor time", "embedding alone", "ratio")
    _print(f"{DOCUMENTS} documents of {WORDS:,} words", large, alone)
    _print(f"{NOTES} notes of one line", notes, alone_notes)


async def _embedding_s(embedder: OnnxEmbedder, lots: Sequence[Sequence[str]]) -> float:
    await embedder.embed_passages(["a first run makes room"])
    began = time.process_time()
    for lot in lots:
        await embedder.embed_passages(lot)
    return time.process_time() - began


def _print(name: str, texts: Sequence[str], embedding_s: float) -> None:
    with _served() as (server, client):
        before, began = server.busy_s(), time.perf_counter()
        remember_all(client, texts)
        took_s, busy_s = time.perf_counter() - began, server.busy_s() - before
    row(name, took_s, busy_s, embedding_s, busy_s / embedding_s)


@contextmanager
def _served() -> Iterator[tuple[Running, Client]]:
    with (
        tempfile.TemporaryDirectory() as folder,
        dormouse(Path(folder)) as server,
        Client(server.url) as client,
    ):
        yield server, client
