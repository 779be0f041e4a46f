from collections.abc import Iterable
from dataclasses import replace

from dormouse.audit.judge import Held, judge
from dormouse.audit.truth import Truth, counted_in, lacking, terms_of
from dormouse.ids import BlobKey, MemoryId
from dormouse.model.audit import MOST_EXAMPLES, REMEDIES, Drift, Finding
from dormouse.model.passage import Passage, PassageKind
from dormouse.ports.catalog.hidden import Hiding
from dormouse.ports.vector_upkeep import PointMark
from tests.builders import a_document, a_passage, some_vectors

DOCUMENT = a_document()
ONE, TWO = a_passage("One."), a_passage("Two.", order=1)


def a_truth(*passages: Passage, hiding: Hiding = Hiding()) -> Truth:  # noqa: B008 immutable
    truth = Truth(DOCUMENT, hiding)
    for passage in passages:
        truth.passages[passage.id] = passage
        truth.vectors[passage.id] = some_vectors()
    return truth


def a_mark(passage: Passage, *, is_hidden: bool = False) -> PointMark:
    return PointMark(
        passage=passage.id,
        dataset=passage.dataset,
        document=passage.document,
        dataset_generation=passage.dataset_generation,
        first_revision=passage.first_revision,
        last_revision=passage.last_revision,
        is_hidden=is_hidden,
    )


def held(passages: Iterable[Passage], marks: Iterable[PointMark]) -> Held:
    return Held({each.id: each for each in passages}, frozenset(), {each.passage: each for each in marks})


def codes(findings: list[Finding]) -> dict[Drift, tuple[str, ...]]:
    return {each.drift: each.examples for each in findings}


def test_what_agrees_has_no_findings() -> None:
    assert judge(a_truth(ONE), held([ONE], [a_mark(ONE)])) == []


def test_what_is_missing_and_what_is_too_much_is_named() -> None:
    found = judge(a_truth(ONE), held([TWO], [a_mark(TWO)]))

    assert codes(found) == {
        Drift.PASSAGE_MISSING: (ONE.id,),
        Drift.POINT_MISSING: (ONE.id,),
        Drift.PASSAGE_UNKNOWN: (TWO.id,),
        Drift.POINT_UNKNOWN: (TWO.id,),
    }


def test_nothing_is_called_too_much_while_a_part_cannot_be_read() -> None:
    truth = a_truth()
    truth.missing.append(BlobKey("w/j/h"))

    assert codes(judge(truth, held([ONE], [a_mark(ONE)]))) == {Drift.BLOB_MISSING: ("w/j/h",)}


def test_a_derived_memory_is_asked_for_and_what_rules_found_only_where_no_model_spoke() -> None:
    truth = a_truth(ONE, TWO)
    truth.memories = {MemoryId("rule one"): ONE.id, MemoryId("rule two"): TWO.id}
    truth.derived = {MemoryId("derived")}
    there = held([ONE, TWO], [a_mark(ONE), a_mark(TWO)])

    assert codes(judge(truth, there))[Drift.MEMORY_MISSING] == ("derived", "rule one", "rule two")
    assert codes(judge(truth, replace(there, spoken_of={ONE.id})))[Drift.MEMORY_MISSING] == (
        "derived",
        "rule two",
    )


def test_derived_passages_are_in_no_term_statistics() -> None:
    truth = a_truth(ONE, replace(TWO, kind=PassageKind.DERIVED))

    assert (counted_in(truth), terms_of(truth)) == (1, terms_of(a_truth(ONE)))


def test_by_which_revisions_a_passage_came_is_no_change_of_it() -> None:
    later = replace(ONE, first_revision=1, last_revision=4)

    assert judge(a_truth(ONE), held([later], [a_mark(later)])) == []
    assert codes(judge(a_truth(ONE), held([replace(ONE, text="Won.")], [a_mark(ONE)]))) == {
        Drift.PASSAGE_CHANGED: (ONE.id,)
    }


def test_points_lie_where_the_catalog_says() -> None:
    suppressed = Hiding(is_active=True, is_applied=True)
    shown, hidden = held([ONE], [a_mark(ONE)]), held([ONE], [a_mark(ONE, is_hidden=True)])

    assert judge(a_truth(ONE, hiding=suppressed), hidden) == []
    assert codes(judge(a_truth(ONE, hiding=suppressed), shown)) == {Drift.POINT_SHOWN: (ONE.id,)}
    assert codes(judge(a_truth(ONE), hidden)) == {Drift.POINT_HIDDEN: (ONE.id,)}


def test_many_are_counted_and_few_named() -> None:
    many = [a_passage(f"{n}", order=n) for n in range(MOST_EXAMPLES * 2)]

    (finding, _) = judge(a_truth(*many), held([], []))

    assert (finding.count, len(finding.examples)) == (MOST_EXAMPLES * 2, MOST_EXAMPLES)


def test_what_is_hidden_counts_no_terms() -> None:
    assert terms_of(a_truth(ONE, hiding=Hiding(is_active=True, is_applied=True))) == {}
    assert terms_of(a_truth(ONE)) != {}


def test_a_delta_leads_from_what_is_stored_to_what_is_expected() -> None:
    assert lacking({1: 2, 2: 1}, {2: 1, 3: 4}) == {1: 2, 3: -4}


def test_every_kind_of_drift_says_what_it_means() -> None:
    assert REMEDIES.keys() == set(Drift)
