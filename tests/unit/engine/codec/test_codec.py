"""Blobs come back as they were written, and the same content is always the same blob."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from dormouse.codec.change_set import ChangeSet, TermDelta, decode_change_set, encode_change_set
from dormouse.codec.part import Part, decode_part, encode_part
from dormouse.codec.plan import ChunkPlan, decode_plan, encode_plan
from dormouse.ids import EntityId, TermId
from dormouse.model.change import ChangeKind, Erasure
from dormouse.model.entity import Entity
from dormouse.model.interval import Interval
from dormouse.model.job import JobCounts
from dormouse.model.memory import Basis, EntityDraft, Extraction, MemoryDraft, MemoryKind, SourceKind
from dormouse.model.passage import MAX_PASSAGES_PER_PART, Passage, PassageKind, PassageVectors, Precision
from dormouse.ports.graph_store import GraphRows
from tests.builders import A_DATASET, A_DOCUMENT, a_passage

_texts = st.text(max_size=40).map(lambda text: text.encode(errors="replace").decode())
_terms = st.dictionaries(st.integers(0, 2**32 - 1).map(TermId), st.floats(0, 10, width=32), max_size=8)
_passages = st.builds(
    a_passage, _texts, order=st.integers(0, 9), kind=st.sampled_from(PassageKind), speaker=_texts,
    occurred_ms=st.none() | st.integers(-(10**12), 10**13),
)  # fmt: skip
_vectors = st.builds(
    PassageVectors,
    terms=_terms,
    window_terms=_terms,
    dense=arrays.arrays(np.float16, 8, elements=st.floats(-1, 1, width=16)),
    tokens=st.binary(max_size=96),
)
_drafts = st.builds(
    MemoryDraft,
    kind=st.sampled_from(MemoryKind),
    content=_texts,
    quote=_texts,
    source=st.sampled_from(SourceKind),
    confidence=st.floats(0, 1),
    valid=st.builds(Interval, st.integers(-5, 4), st.integers(5, 9)),
    valid_basis=st.sampled_from(Basis),
    about=st.none() | st.just(Interval(1, 2)),
    precision=st.none() | st.sampled_from(Precision),
    entity_names=st.lists(_texts, max_size=2).map(tuple),
)


def _part(passages: list[Passage], vectors: PassageVectors, draft: MemoryDraft) -> Part:
    return Part(
        index=3,
        embedder="minilm",
        extractor="lexical",
        zone="Europe/Berlin",
        unchanged=1,
        passages=tuple(passages),
        extractions=tuple(Extraction(each.id, (draft,), (EntityDraft("Ada"),)) for each in passages),
        vectors=tuple(vectors for _ in passages),
    )


@given(st.lists(_passages, max_size=3), _vectors, _drafts)
def test_a_part_comes_back_as_it_was(
    passages: list[Passage], vectors: PassageVectors, draft: MemoryDraft
) -> None:
    part = _part(passages, vectors, draft)

    found = decode_part(encode_part(part))

    assert (found.passages, found.extractions, found.zone) == (part.passages, part.extractions, part.zone)
    for one, other in zip(found.vectors, part.vectors, strict=True):
        assert (one.terms, one.window_terms, one.tokens) == (other.terms, other.window_terms, other.tokens)
        assert one.dense.dtype == np.float16
        assert one.dense.tobytes() == other.dense.tobytes()


@given(st.lists(_passages, max_size=3), _vectors, _drafts)
def test_the_same_part_is_the_same_blob(
    passages: list[Passage], vectors: PassageVectors, draft: MemoryDraft
) -> None:
    """A blob's key is its hash: a repeated step must write the same one."""
    part = _part(passages, vectors, draft)

    assert encode_part(decode_part(encode_part(part))) == encode_part(part)


@given(st.lists(_passages, max_size=5))
def test_a_plan_comes_back_as_it_was(passages: list[Passage]) -> None:
    plan = ChunkPlan(A_DOCUMENT, 2, "Títle", tuple(passages))

    assert decode_plan(encode_plan(plan)) == plan


def test_a_plan_is_worked_through_in_parts_of_bounded_size() -> None:
    count = 2 * MAX_PASSAGES_PER_PART + 1
    plan = ChunkPlan(A_DOCUMENT, 1, "", tuple(a_passage(order=order) for order in range(count)))

    assert plan.parts == 3
    assert [len(plan.part(index)) for index in range(3)] == [MAX_PASSAGES_PER_PART, MAX_PASSAGES_PER_PART, 1]


@given(_passages, st.dictionaries(st.integers(0, 2**32 - 1).map(TermId), st.integers(-9, 9), max_size=5))
def test_a_change_set_comes_back_as_it_was(passage: Passage, terms: dict[TermId, int]) -> None:
    entity = Entity(EntityId("ada"), A_DATASET, "Ada", "ada")
    change_set = ChangeSet(
        seq=7,
        kind=ChangeKind.UPSERT,
        rows=GraphRows(passages=(passage,), entities=(entity,), closed={"v": 5}),
        erasure=Erasure(A_DATASET, A_DOCUMENT, last_revision_below=2),
        terms=TermDelta(A_DATASET, 0, 1, terms),
        retired=TermDelta(A_DATASET, 0),
        counts=JobCounts(done=1),
    )

    assert decode_change_set(encode_change_set(change_set)) == change_set


def test_a_blob_of_another_kind_is_refused() -> None:
    with pytest.raises(ValueError, match="another kind"):
        decode_part(encode_plan(ChunkPlan(A_DOCUMENT, 1, "", ())))
