"""What is remembered with an ontology is held under its names. Source: graph contract, "remember"."""

from dataclasses import replace

import pytest

from dormouse.adapters.workspace_directory.local import LOCAL_WORKSPACE
from dormouse.errors import InvalidInputError, NotFoundError, UnknownOntologyError
from dormouse.ids import PrincipalId
from dormouse.ingest.ontologies import Ontologies, Upload, option_of
from dormouse.model.entity import Entity, Relation
from dormouse.model.job import Stage
from dormouse.model.scope import Scope
from tests.contract.write_path.world import World

CARS = b"""@prefix : <http://example.org/c#> .
@prefix owl: <http://www.w3.org/2002/07/owl#> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
:Vehicle a owl:Class . :Car a owl:Class ; rdfs:subClassOf :Vehicle .
:XC90 a :Car ; rdfs:label "Volvo XC90" .
"""
UPLOAD = Upload("cars", "cars.ttl", CARS, "what we drive")


def ontologies(world: World) -> Ontologies:
    return Ontologies(world.ports.catalog, world.ports.blobs, world.ports.ontology_reader)


async def held(world: World) -> tuple[dict[str, Entity], list[Relation]]:
    scope = await world.scope()
    entities = await world.ports.graph_upkeep.entities_after(scope, None, 100)
    relations = await world.ports.graph_upkeep.relations_after(scope, None, 100)
    return {each.name: each for each in entities}, list(relations)


async def test_entities_are_held_under_the_ontologys_names_with_what_is_above_them(world: World) -> None:
    await ontologies(world).add(await world.scope(), UPLOAD)
    await world.remember("We took the volvo xc90.", options=option_of(["cars"]))

    await world.work()

    entities, relations = await held(world)
    assert {name: each.kind for name, each in entities.items()} == {
        "Volvo XC90": "Car",
        "Car": "class",
        "Vehicle": "class",
    }
    assert {(each.source, each.name, each.target) for each in relations} == {
        (entities["Volvo XC90"].id, "is_a", entities["Car"].id),
        (entities["Car"].id, "is_a", entities["Vehicle"].id),
    }


async def test_forgetting_takes_what_only_the_forgotten_was_grounded_in(world: World) -> None:
    await ontologies(world).add(await world.scope(), UPLOAD)
    receipt = await world.remember("We took the volvo xc90.", options=option_of(["cars"]))
    await world.work()
    assert receipt.document is not None

    await world.forget(receipt.document.id)
    await world.work()

    assert await held(world) == ({}, [])


async def test_a_new_version_is_grounded_anew_when_its_ontology_changed(world: World) -> None:
    shelf, scope = ontologies(world), await world.scope()
    await world.remember("We took the volvo xc90.", external_id="trip")
    await world.work()
    await shelf.add(scope, UPLOAD)

    await world.remember(
        "We took the volvo xc90.\n\nIt rained.", external_id="trip", options=option_of(["cars"])
    )
    await world.work()

    entities, _ = await held(world)
    assert "Volvo XC90" in entities


async def test_deleting_it_changes_nothing_that_was_grounded_and_fails_nothing_that_waits(world: World) -> None:
    shelf, scope = ontologies(world), await world.scope()
    await shelf.add(scope, UPLOAD)
    await world.remember("We took the volvo xc90.", options=option_of(["cars"]))
    await world.work()
    waiting = await world.remember("The xc90 again.", options=option_of(["cars"]))

    await shelf.remove(scope, "cars")
    await world.work()

    assert (await world.job(waiting.job.id)).stage is Stage.COMPLETE
    entities, _ = await held(world)
    assert "Volvo XC90" in entities
    assert await shelf.of(scope) == []


async def test_its_blob_outlives_every_sweep_and_ends_with_it(world: World) -> None:
    shelf, scope = ontologies(world), await world.scope()
    row = await shelf.add(scope, UPLOAD)
    world.clock.advance(100 * 24 * 3600 * 1000)

    await world.path.sweeper.sweep_blobs()

    assert (await shelf.original(scope, "cars")).body == CARS
    await shelf.remove(scope, "cars")
    with pytest.raises(NotFoundError):
        await world.ports.blobs.get(row.blob)


async def test_keys_are_each_users_own(world: World) -> None:
    shelf, scope = ontologies(world), await world.scope()
    stranger = Scope(PrincipalId("stranger"), LOCAL_WORKSPACE, frozenset(), frozenset())
    await shelf.add(scope, UPLOAD)

    with pytest.raises(UnknownOntologyError):
        await shelf.check(stranger, option_of(["cars"]))
    with pytest.raises(NotFoundError):
        await shelf.remove(stranger, "cars")
    assert await shelf.of(stranger) == []
    await shelf.add(stranger, UPLOAD)


@pytest.mark.parametrize(
    "upload",
    [
        replace(UPLOAD, key="a b"),
        replace(UPLOAD, key=""),
        replace(UPLOAD, key="x" * 129),
        replace(UPLOAD, filename=""),
        replace(UPLOAD, filename="a\nb.ttl"),
        replace(UPLOAD, content=b"x" * (5 * 1024 * 1024 + 1)),
        replace(UPLOAD, description="x" * 1001),
    ],
)
async def test_an_upload_that_breaks_a_rule_is_not_kept(world: World, upload: Upload) -> None:
    shelf, scope = ontologies(world), await world.scope()

    with pytest.raises(InvalidInputError):
        await shelf.add(scope, upload)

    assert await shelf.of(scope) == []


async def test_a_key_is_not_replaced(world: World) -> None:
    shelf, scope = ontologies(world), await world.scope()
    await shelf.add(scope, UPLOAD)

    with pytest.raises(InvalidInputError, match="already exists"):
        await shelf.add(scope, replace(UPLOAD, content=b""))
