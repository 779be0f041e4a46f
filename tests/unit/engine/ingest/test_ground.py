from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dormouse.ids import PassageId
from dormouse.ingest.ground import (
    IS_A,
    MAX_CLASSES_ABOVE,
    Vocabulary,
    found_in,
    ground,
    ground_all,
    match,
    vocabulary,
)
from dormouse.model.interval import END_MS, Interval
from dormouse.model.memory import (
    Basis,
    EntityDraft,
    Extraction,
    MemoryDraft,
    MemoryKind,
    RelationDraft,
    SourceKind,
)
from dormouse.model.ontology import Ontology, Term
from tests.builders import a_passage

PASSAGE = PassageId("p")
VEHICLE = Term("v", "Vehicle", ("Vehicle",), is_class=True)
CAR = Term("c", "Car", ("Car", "automobile", "Auto"), is_class=True, broader=("v",))
MAKER = Term("m", "Company", ("Company",), is_class=True)
VOLVO = Term("volvo", "Volvo Cars", ("Volvo", "Volvo Cars"), is_class=False, broader=("m",))
XC90 = Term("x", "XC90", ("XC90",), is_class=False, broader=("c",), relations=(("made by", "volvo"),))
CARS = vocabulary([Ontology((CAR, MAKER, VEHICLE, VOLVO, XC90))])


def an_extraction(*names: str) -> Extraction:
    return Extraction(PASSAGE, entities=tuple(EntityDraft(name) for name in names))


def a_memory(quote: str, *names: str) -> MemoryDraft:
    return MemoryDraft(
        MemoryKind.FACT,
        quote,
        quote,
        SourceKind.DOCUMENT,
        0.6,
        Interval(0, END_MS),
        Basis.ASSERTED,
        entity_names=names,
    )


def test_a_known_name_gets_the_ontologys_spelling_kind_and_all_above_it() -> None:
    grounded = ground(an_extraction("volvo", "Ada"), "volvo hired Ada", CARS)

    assert grounded.entities == (
        EntityDraft("Ada"),
        EntityDraft("Volvo Cars", "Company"),
        EntityDraft("Company", "class"),
    )
    assert grounded.relations == (RelationDraft("Volvo Cars", IS_A, "Company"),)


def test_a_name_in_lower_case_is_found_in_the_text_with_what_it_has_to_do_with() -> None:
    grounded = ground(an_extraction(), "the xc90's door", CARS)

    assert set(grounded.relations) == {
        RelationDraft("XC90", "made by", "Volvo Cars"),
        RelationDraft("XC90", IS_A, "Car"),
        RelationDraft("Car", IS_A, "Vehicle"),
        RelationDraft("Volvo Cars", IS_A, "Company"),
    }
    assert {draft.name for draft in grounded.entities} == {"XC90", "Volvo Cars", "Car", "Vehicle", "Company"}


def test_memories_name_what_their_words_hold() -> None:
    extraction = replace(an_extraction("Volvo"), memories=(a_memory("Volvo sold an automobile.", "Volvo"),))

    (memory,) = ground(extraction, "Volvo sold an automobile.", CARS).memories

    assert memory.entity_names == ("Volvo Cars", "Car")
    assert memory.content == "Volvo sold an automobile."


@pytest.mark.parametrize("spelling", ["CAR", " car ", "Cars", "automobiles", "auto"])
def test_case_spacing_labels_and_a_plural_do_not_matter(spelling: str) -> None:
    assert match(spelling, CARS) == CAR


@pytest.mark.parametrize("other", ["Carol", "Card", "Vulva", "Volvo Bars", "XC91", ""])
def test_what_merely_resembles_a_name_is_somebody_else(other: str) -> None:
    assert match(other, CARS) is None


def test_the_longest_name_wins_and_none_is_found_inside_another() -> None:
    assert list(found_in("Volvo Cars and a company", CARS)) == [VOLVO, MAKER]
    assert list(found_in("carpet, scar, volvox", CARS)) == []


def test_without_an_ontology_nothing_changes() -> None:
    extraction = an_extraction("volvo")

    assert ground(extraction, "volvo", Vocabulary()) is extraction


def test_classes_in_a_circle_or_without_end_are_bounded() -> None:
    chain = [
        Term(f"{n}", f"Kind {n}", (f"Kind {n}",), is_class=True, broader=(f"{n + 1}", "0")) for n in range(500)
    ]

    grounded = ground(an_extraction("Kind 0"), "", vocabulary([Ontology(tuple(chain))]))

    assert len(grounded.entities) <= MAX_CLASSES_ABOVE + 1


def test_an_individual_comes_before_a_class_of_the_same_name() -> None:
    fruit = Term("f", "Apple", ("Apple",), is_class=True)
    firm = Term("z", "Apple Inc.", ("Apple",), is_class=False)

    assert match("apple", vocabulary([Ontology((fruit, firm))])) == firm


@given(st.text())
def test_grounding_again_changes_nothing(text: str) -> None:
    once = ground(an_extraction("volvo", text), text, CARS)

    again = ground(once, text, CARS)

    assert set(again.entities) == set(once.entities)
    assert set(again.relations) == set(once.relations)


def test_each_extraction_is_grounded_in_the_text_of_its_own_passage() -> None:
    passages = [a_passage("a new car", order=0), a_passage("Volvo hires", order=1)]
    found = [Extraction(each.id) for each in passages]

    first, second = ground_all(found, passages, CARS)

    assert (first.passage, second.passage) == (passages[0].id, passages[1].id)
    assert {draft.name for draft in first.entities} == {"Car", "Vehicle"}
    assert {draft.name for draft in second.entities} == {"Volvo Cars", "Company"}
