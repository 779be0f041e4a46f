"""Which older results still hold. Source: writes §2, "results of unchanged ones (window included)"."""

from dataclasses import replace

from dormouse.codec.part import Part
from dormouse.ingest.reuse import Reuse, Versions
from dormouse.model.memory import Extraction
from dormouse.model.passage import Passage, PassageKind
from tests.builders import a_passage, some_vectors

NOW = Versions(embedder="minilm-1", extractor="lexical-1", zone="UTC")


def _part(*passages: Passage) -> Part:
    return Part(
        index=0,
        embedder="minilm-1",
        extractor="lexical-1",
        zone="UTC",
        unchanged=0,
        passages=passages,
        extractions=tuple(Extraction(each.id) for each in passages),
        vectors=tuple(some_vectors(seed=number) for number, _ in enumerate(passages)),
    )


def test_an_unchanged_passage_keeps_everything() -> None:
    older = a_passage()
    newer = replace(older, order=4, first_revision=2, last_revision=2)

    reuse = Reuse([_part(older)], NOW)

    assert reuse.vectors(newer, {newer.id: newer}) is not None
    assert reuse.extraction(newer, {newer.id: newer}) == Extraction(older.id)


def test_what_was_said_at_another_time_is_extracted_anew_but_not_embedded() -> None:
    older = a_passage(occurred_ms=1)
    newer = replace(older, occurred_ms=2)

    reuse = Reuse([_part(older)], NOW)

    assert reuse.vectors(newer, {}) is not None
    assert reuse.extraction(newer, {}) is None


def test_a_turn_after_another_one_is_computed_anew() -> None:
    before, other = a_passage("Hello.", order=0), a_passage("Good day.", order=0)
    older = a_passage("Bye.", order=1, kind=PassageKind.TURN, previous=(before.id,))
    newer = replace(older, previous=(other.id,))

    reuse = Reuse([_part(before, older)], NOW)

    assert reuse.vectors(newer, {other.id: other}) is None
    assert reuse.vectors(older, {before.id: before}) is not None


def test_a_chunk_after_another_one_keeps_its_vectors() -> None:
    """A chunk has no window, so nothing before it matters."""
    older = a_passage("Bye.", previous=(a_passage("Hello.").id,))
    newer = replace(older, previous=(a_passage("Good day.").id,))

    assert Reuse([_part(older)], NOW).vectors(newer, {}) is not None


def test_results_of_another_model_or_extractor_are_never_taken() -> None:
    passage = a_passage()

    reuse = Reuse([_part(passage)], Versions(embedder="minilm-2", extractor="llm", zone="UTC"))

    assert reuse.vectors(passage, {}) is None
    assert reuse.extraction(passage, {}) is None
