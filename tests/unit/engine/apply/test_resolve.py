"""Which entity a name means. Source: writes §6."""

from hypothesis import given
from hypothesis import strategies as st

from dormouse.apply.resolve import resolve
from dormouse.ids import PassageId
from dormouse.model.entity import Relation
from dormouse.model.memory import EntityDraft, Extraction, RelationDraft
from dormouse.text.folding import folded
from tests.builders import A_DATASET, ANOTHER_DATASET

HERE, THERE = PassageId("p1"), PassageId("p2")


def test_spellings_of_one_name_are_one_entity() -> None:
    found = resolve(
        A_DATASET,
        [
            Extraction(HERE, entities=(EntityDraft("Ada  Lovelace"),)),
            Extraction(THERE, entities=(EntityDraft("ADA LOVELACE"),)),
        ],
    )

    assert [(entity.name, entity.folded) for entity in found.entities] == [("Ada Lovelace", "ada lovelace")]
    assert [mention.passage for mention in found.mentions] == [HERE, THERE]


def test_accents_tell_entities_apart() -> None:
    names = (EntityDraft("Má"), EntityDraft("Ma"))

    assert len(resolve(A_DATASET, [Extraction(HERE, entities=names)]).entities) == 2


def test_a_specific_kind_outranks_a_thing() -> None:
    drafts = (EntityDraft("Ada"), EntityDraft("ada", "person"), EntityDraft("ADA", "place"))

    assert [entity.kind for entity in resolve(A_DATASET, [Extraction(HERE, entities=drafts)]).entities] == [
        "person"
    ]


def test_the_same_name_in_two_datasets_is_two_entities() -> None:
    found = [Extraction(HERE, entities=(EntityDraft("Ada"),))]

    assert resolve(A_DATASET, found).entities[0].id != resolve(ANOTHER_DATASET, found).entities[0].id


def test_a_blank_name_names_nobody() -> None:
    found = resolve(A_DATASET, [Extraction(HERE, entities=(EntityDraft(" \u3000"),))])

    assert (found.entities, found.mentions, found.of([" "])) == ((), (), ())


@given(st.text())
def test_folding_twice_changes_nothing(name: str) -> None:
    assert folded(folded(name)) == folded(name)


@given(st.lists(st.text(max_size=4), max_size=8))
def test_every_mention_leads_to_an_entity(names: list[str]) -> None:
    found = resolve(A_DATASET, [Extraction(HERE, entities=tuple(EntityDraft(name) for name in names))])

    assert {mention.entity for mention in found.mentions} == {entity.id for entity in found.entities}
    assert set(found.of(names)) == {entity.id for entity in found.entities}


def test_relations_lead_from_entity_to_entity_by_whatever_spelling() -> None:
    found = resolve(
        A_DATASET,
        [
            Extraction(
                HERE,
                entities=(EntityDraft("XC90", "Car"), EntityDraft("Car", "class")),
                relations=(RelationDraft("xc90", "is_a", "CAR"), RelationDraft("XC90", "is_a", "nobody")),
            )
        ],
    )

    assert found.relations == (Relation(found.by_name["xc90"], "is_a", found.by_name["car"], HERE),)
