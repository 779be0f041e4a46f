"""Names that a language model gives are held under an ontology's, as those that rules find are.

Source: graph contract, "remember"; writes §2 and §7.
"""

from collections.abc import AsyncIterator, Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from dormouse.adapters.embedder.onnx import OnnxEmbedder
from dormouse.ingest.ontologies import Ontologies, Upload, option_of
from dormouse.model.entity import Entity
from dormouse.model.interval import END_MS
from dormouse.model.memory import MemoryDraft
from dormouse.model.passage import Passage
from dormouse.ports.graph_store import MemoryQuery
from tests.contract.write_path.scripted_deriver import ScriptedDeriver, a_draft
from tests.contract.write_path.test_rebuild import ask, held
from tests.contract.write_path.world import World, opened
from tests.hand_clock import HandClock
from tests.promises import promise

DRUGS = b"""@prefix : <http://example.org/d#> .
@prefix owl: <http://www.w3.org/2002/07/owl#> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
@prefix skos: <http://www.w3.org/2004/02/skos/core#> .
:Drug a owl:Class . :Painkiller a owl:Class ; rdfs:subClassOf :Drug .
:Aspirin a :Painkiller ; rdfs:label "Aspirin" ; skos:altLabel "acetylsalicylic acid" .
"""
OTHER_DRUGS = DRUGS.replace(b"Painkiller", b"Anticoagulant")
SAID = "ada takes it for her heart."  # only the model knows what


@pytest.fixture
def deriver() -> ScriptedDeriver:
    deriver = ScriptedDeriver()
    deriver.word = a_drug
    return deriver


@pytest.fixture
async def world(
    tmp_path: Path, clock: HandClock, embedder: OnnxEmbedder, deriver: ScriptedDeriver
) -> AsyncIterator[World]:
    async with opened(tmp_path, clock, embedder, deriver=deriver) as found:
        yield found


def a_drug(passage: Passage) -> MemoryDraft:
    draft = a_draft("Ada takes acetylsalicylic acid.", passage)
    return replace(draft, entity_names=("acetylsalicylic acid", "Ada"))


def ontologies(world: World) -> Ontologies:
    return Ontologies(world.ports.catalog, world.ports.blobs, world.ports.ontology_reader)


async def upload(world: World, content: bytes = DRUGS) -> None:
    await ontologies(world).add(await world.scope(), Upload("drugs", "drugs.ttl", content))


async def remember(world: World, text: str = SAID, keys: tuple[str, ...] = ("drugs",)) -> None:
    await world.remember(text, external_id="note", options=option_of(keys))
    await world.work()


async def entities(world: World) -> Mapping[str, Entity]:
    found = await world.ports.graph_upkeep.entities_after(await world.scope(), None, 100)
    return {each.name: each for each in found}


async def relations(world: World) -> set[tuple[str, str, str]]:
    names = {each.id: name for name, each in (await entities(world)).items()}
    found = await world.ports.graph_upkeep.relations_after(await world.scope(), None, 100)
    return {(names[each.source], each.name, names[each.target]) for each in found}


async def test_a_derived_entity_has_the_ontologys_name_and_kind_with_what_is_above_it(world: World) -> None:
    await upload(world)

    await remember(world)

    kinds = {name: each.kind for name, each in (await entities(world)).items()}
    assert kinds == {"Ada": "thing", "Aspirin": "Painkiller", "Painkiller": "class", "Drug": "class"}
    assert await relations(world) == {("Aspirin", "is_a", "Painkiller"), ("Painkiller", "is_a", "Drug")}


async def test_a_derived_memory_mentions_the_ontologys_entity_and_keeps_its_words(world: World) -> None:
    await upload(world)

    await remember(world)

    ids = [each.id for each in await world.passages()]
    (memory,) = await world.ports.graph.memories(await world.scope(), MemoryQuery(ids, known_at_ms=END_MS - 1))
    known = await entities(world)
    assert memory.content == "Ada takes acetylsalicylic acid."
    assert memory.entities == (known["Aspirin"].id, known["Ada"].id)
    assert memory.derived_by == "scripted/1"


async def test_without_an_ontology_the_models_own_names_are_held(world: World) -> None:
    await upload(world)

    await remember(world, keys=())

    assert set(await entities(world)) == {"Ada", "acetylsalicylic acid"}
    assert await relations(world) == set()


async def test_windows_are_derived_anew_when_the_ontology_changed(
    world: World, deriver: ScriptedDeriver
) -> None:
    await upload(world)
    await remember(world)
    await ontologies(world).remove(await world.scope(), "drugs")
    await upload(world, OTHER_DRUGS)

    await remember(world, SAID.replace("heart", "blood"))

    assert len(deriver.asked) == 2
    assert await relations(world) == {("Aspirin", "is_a", "Anticoagulant"), ("Anticoagulant", "is_a", "Drug")}


@pytest.mark.parametrize(("content", "copied"), [(DRUGS, 1), (OTHER_DRUGS, 0)])
async def test_an_unchanged_window_is_copied_only_under_the_same_ontology(
    world: World, deriver: ScriptedDeriver, content: bytes, copied: int
) -> None:
    await upload(world)
    long = "".join(f"{SAID} Again {n}. " for n in range(300))
    await remember(world, long)
    asked = len(deriver.asked)
    await ontologies(world).remove(await world.scope(), "drugs")
    await upload(world, content)

    receipt = await world.remember(f"{long} more.", external_id="note", options=option_of(["drugs"]))
    await world.work()

    counts = (await world.job(receipt.job.id)).counts
    assert asked > 1
    assert bool(counts.windows_copied) == bool(copied)
    assert counts.windows_copied + counts.model_calls == counts.windows


@promise("P4")
async def test_what_was_grounded_is_rebuilt_and_audited_like_everything(
    world: World, deriver: ScriptedDeriver
) -> None:
    await upload(world)
    await remember(world)
    await ontologies(world).remove(await world.scope(), "drugs")
    before = await held(world)

    await ask(world)
    await world.work()

    assert await held(world) == before
    assert len(deriver.asked) == 1
    assert (await world.audit()).is_sound


@promise("P3")
async def test_forgetting_takes_what_was_grounded_along(world: World) -> None:
    await upload(world)
    await remember(world)
    (document,) = await world.documents()

    await world.forget(document.id)
    await world.work()

    assert await entities(world) == {}
    assert await relations(world) == set()
