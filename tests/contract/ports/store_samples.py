"""What the suites of the three stores write: passages, points and fences, few words each."""

import os
from collections.abc import Mapping
from pathlib import Path

import numpy as np

from dormouse import ids
from dormouse.model.entity import Entity
from dormouse.model.interval import Interval
from dormouse.model.memory import Basis, Claim, MemoryKind, MemoryVersion, SourceKind
from dormouse.model.passage import Passage, PassageVectors, Point
from dormouse.model.scope import Fence
from dormouse.model.workspace import Collection
from tests.builders import A_DATASET, A_WORKSPACE, ANOTHER_DATASET, NOW_MS, a_passage, a_point, a_scope

DIMENSION = 8
COLLECTION = Collection("main", "test-model 1", DIMENSION)
BOTH = a_scope([A_DATASET, ANOTHER_DATASET])
MINE = a_scope([A_DATASET])
A_TERM = ids.TermId(7)
OTHER_TERM = ids.TermId(4_000_000_000)


def a_fence(seq: int = 1, *, epoch: int = 1) -> Fence:
    return Fence(A_WORKSPACE, epoch, seq)


def a_document_id(name: str, dataset: ids.DatasetId = A_DATASET) -> ids.DocumentId:
    return ids.document_id(dataset, f"text\0{name}", 0, 0)


def an_entity(name: str = "Ada", dataset: ids.DatasetId = A_DATASET) -> Entity:
    return Entity(ids.entity_id(dataset, "thing", name.casefold()), dataset, name, name.casefold())


def a_version(
    passage: Passage,
    content: str = "Ada lives in London.",
    *,
    valid: Interval = Interval(),  # noqa: B008 immutable
    transaction: Interval = Interval(NOW_MS),  # noqa: B008 immutable
    entities: tuple[ids.EntityId, ...] = (),
    claim: Claim | None = None,
    derived_by: str = "",
) -> MemoryVersion:
    memory = ids.memory_id(passage.id, "fact", content, 0)
    return MemoryVersion(
        id=ids.version_id(memory, 1),
        memory=memory,
        kind=MemoryKind.FACT,
        dataset=passage.dataset,
        document=passage.document,
        passage=passage.id,
        dataset_generation=passage.dataset_generation,
        content=content,
        quote=content,
        source=SourceKind.STATED,
        confidence=0.75,
        valid=valid,
        valid_basis=Basis.STATED,
        about=None,
        precision=None,
        transaction=transaction,
        entities=entities,
        claim=claim,
        derived_by=derived_by,
    )


def a_vector(*numbers: float) -> "np.ndarray[tuple[int], np.dtype[np.float32]]":
    """Of length one, the rest of it zeros."""
    vector = np.zeros(DIMENSION, dtype=np.float32)
    vector[: len(numbers)] = numbers
    return vector / np.float32(np.linalg.norm(vector))


def vectors(
    *numbers: float,
    terms: Mapping[ids.TermId, float] | None = None,
    window: Mapping[ids.TermId, float] | None = None,
    tokens: bytes = b"\x5a" * 48,
) -> PassageVectors:
    dense = a_vector(*(numbers or (1.0,))).astype(np.float16)
    return PassageVectors(dict(terms or {A_TERM: 1.0}), dict(window or {}), dense, tokens)


def a_placed_point(
    text: str,
    *numbers: float,
    dataset: ids.DatasetId = A_DATASET,
    terms: Mapping[ids.TermId, float] | None = None,
) -> Point:
    """A point of its own document, named by its text, that looks in the direction of `numbers`."""
    passage = a_passage(text, dataset=dataset, document=a_document_id(text, dataset))
    return a_point(passage, vectors(*numbers, terms=terms))


def files_holding(folder: Path, *needles: bytes) -> list[str]:
    """Names of all files below `folder` in which one of the byte strings stands."""
    files = [path for path in sorted(folder.rglob("*")) if path.is_file()]
    return [path.name for path in files if _holds(_written(path), needles)]


def _holds(content: bytes, needles: tuple[bytes, ...]) -> bool:
    return any(needle in content for needle in needles)


def _written(path: Path) -> bytes:
    """The file without its holes, which hold nothing: the engine makes files of 32 MB for a few points."""
    with path.open("rb") as file:
        if not hasattr(os, "SEEK_DATA"):
            return file.read()
        parts: list[bytes] = []
        end = 0
        while True:
            try:
                start = os.lseek(file.fileno(), end, os.SEEK_DATA)
            except OSError:  # no more data
                return b"".join(parts)
            end = os.lseek(file.fileno(), start, os.SEEK_HOLE)
            parts.append(os.pread(file.fileno(), end - start, start))
