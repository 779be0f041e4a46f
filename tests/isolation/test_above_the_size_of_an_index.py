"""The same above the size at which the store packs its segments and builds indexes, with thousands of points.

They are put there through the ports, with what the bundled model says of a few sentences and a little noise,
seeded: what is slow is embedding, and that is not what is tested here.
"""

from collections import Counter
from pathlib import Path
from random import Random

import numpy as np

from dormouse.access.writer import writer_scope
from dormouse.adapters.vector_store.edge_shard import INDEXING_THRESHOLD_KB, OPTIMISE_EVERY
from dormouse.adapters.workspace_directory.local import LOCAL_WORKSPACE
from dormouse.ids import DatasetId, DocumentId, PrincipalId, TermId
from dormouse.model.change import Erasure
from dormouse.model.passage import Passage, PassageKind, PassageVectors
from dormouse.model.recall import RecallMode, RecallRequest
from dormouse.model.scope import Fence, Permission
from dormouse.ports.graph_store import GraphRows
from dormouse.text.terms import bm25_weights, terms
from tests.builders import a_document, a_passage, a_point
from tests.contract.isolation.deeds import Stage
from tests.contract.isolation.episode import staged
from tests.contract.isolation.expected import NAMES, USERS
from tests.contract.isolation.memoised import MemoisedEmbedder
from tests.contract.isolation.texts import QUERIES, SHARED
from tests.contract.isolation.view import Found, found_by
from tests.promises import promise

SEED = 7
OWN = 1_500  # many times what is packed, and scored exactly all the same
FOREIGN = 4_500
STEP = 300  # passages of a document
STEPS = 12
CALLER, OWNER, OTHER = USERS


class Filler:
    """Writes documents of many passages, and erases them, as the apply loop would."""

    def __init__(self, stage: Stage, embedder: MemoisedEmbedder, seed: int) -> None:
        self._stage, self._embedder = stage, embedder
        self._random, self._noise = Random(seed), np.random.default_rng(seed)
        self._seq = 0

    async def dataset(self, owner: PrincipalId, name: str) -> DatasetId:
        async with self._stage.world.ports.catalog.transaction() as tx:
            made = await tx.datasets.ensure(LOCAL_WORKSPACE, owner, name)
            await tx.commit()
            return made.id

    async def add(self, dataset: DatasetId, name: str, count: int) -> DocumentId:
        ports = self._stage.world.ports
        document = a_document(name, dataset=dataset, name=name)
        passages = [self._passage(document.id, dataset, order) for order in range(count)]
        vectors = [await self._vectors(passage) for passage in passages]
        scope = writer_scope(LOCAL_WORKSPACE, dataset)
        fence = self._fence()
        points = [a_point(*each) for each in zip(passages, vectors, strict=True)]
        await ports.vectors.upsert(scope, fence, points)
        await ports.graph.write(scope, fence, GraphRows(passages=tuple(passages)))
        held = Counter[TermId](term for each in vectors for term in each.terms)
        async with ports.catalog.transaction() as tx:
            await tx.documents.save(document)
            await tx.terms.add(dataset, 0, count, held)
            await tx.commit()
        return document.id

    async def erase(self, dataset: DatasetId, document: DocumentId) -> None:
        ports, scope, fence = self._stage.world.ports, writer_scope(LOCAL_WORKSPACE, dataset), self._fence()
        async with ports.catalog.transaction() as tx:
            await tx.documents.forget(document)
            await tx.commit()
        await ports.graph.erase(scope, fence, Erasure(dataset, document))
        await ports.vectors.erase(scope, fence, Erasure(dataset, document))

    def _fence(self) -> Fence:
        self._seq += 1
        return Fence(LOCAL_WORKSPACE, 1, self._seq)

    def _passage(self, document: DocumentId, dataset: DatasetId, order: int) -> Passage:
        text = f"{self._random.choice(SHARED)} {self._random.choice(SHARED)}"
        return a_passage(text, order=order, dataset=dataset, document=document, kind=PassageKind.CHUNK)

    async def _vectors(self, passage: Passage) -> PassageVectors:
        (said,) = await self._embedder.embed_passages([passage.text[: passage.text.index(".") + 1]])
        dense = said.dense.astype(np.float32) + self._noise.normal(0, 0.02, said.dense.shape)
        counts = terms(passage.text, "en")
        return PassageVectors(
            terms=dict(bm25_weights(counts, counts.total(), PassageKind.CHUNK)),
            window_terms={},
            dense=(dense / np.linalg.norm(dense)).astype(np.float16),
            tokens=said.tokens,
        )


class Crowd:
    """What others hold: it grows, shrinks and is tidied up."""

    def __init__(self, filler: Filler, random: Random) -> None:
        self._filler, self._random = filler, random
        self._datasets: list[DatasetId] = []
        self._held: list[tuple[DatasetId, DocumentId]] = []
        self._number = 0

    async def gather(self) -> None:
        self._datasets = [
            await self._filler.dataset(owner, name) for owner in (OWNER, OTHER) for name in (NAMES[0], NAMES[2])
        ]
        for _ in range(FOREIGN // STEP):
            await self._grow()

    async def move(self, stage: Stage) -> None:
        shape = self._random.random()
        if shape < 0.45:
            await self._grow()
        elif shape < 0.8 and self._held:
            await self._filler.erase(*self._held.pop(self._random.randrange(len(self._held))))
        else:
            await stage.world.ports.vectors.optimise()

    async def _grow(self) -> None:
        dataset = self._random.choice(self._datasets)
        self._number += 1
        self._held.append((dataset, await self._filler.add(dataset, f"foreign {self._number}", STEP)))


async def answers(stage: Stage) -> list[Found]:
    modes = (RecallMode.AUTO, RecallMode.LEXICAL)
    requests = [RecallRequest(query, mode=mode, top_k=50) for query in QUERIES for mode in modes]
    return [await found_by(stage.engine, CALLER, request) for request in requests]


async def fill_own(stage: Stage, filler: Filler) -> None:
    """A dataset of the caller's and one that is shared with them."""
    own, shared = await filler.dataset(CALLER, NAMES[0]), await filler.dataset(OWNER, NAMES[1])
    for number in range(OWN // STEP):
        await filler.add(own if number % 2 else shared, f"own {number}", STEP)
    owner = await stage.engine.scope_of(OWNER)
    await stage.engine.share(owner, shared, CALLER, Permission.READ)


@promise("P5")
async def test_thousands_of_foreign_points_leave_every_score_as_it_was(
    tmp_path: Path, embedder: MemoisedEmbedder
) -> None:
    assert OWN * 384 * 2 > INDEXING_THRESHOLD_KB * 1024
    assert FOREIGN > 2 * OPTIMISE_EVERY
    async with staged(tmp_path / "alone", embedder) as mirror:
        await fill_own(mirror, Filler(mirror, embedder, SEED))
        alone = await answers(mirror)
    assert all(len(each.hits) == 50 for each in alone[::2])  # by words alone, some queries find nothing

    async with staged(tmp_path / "crowded", embedder) as stage:
        crowd = Crowd(Filler(stage, embedder, SEED + 1), Random(SEED))
        await crowd.gather()
        await fill_own(stage, Filler(stage, embedder, SEED))
        assert await answers(stage) == alone

        for number in range(STEPS):
            await crowd.move(stage)

            assert await answers(stage) == alone, f"after step {number} of seed {SEED}"
