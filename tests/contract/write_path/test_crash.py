"""A process that dies between any two steps changes nothing in the end: exactly once, everywhere.

Here the death is an exception that nothing catches, so that every call of a step can be tried; the crash
suite kills real processes at some of them. Source: writes §3.
"""

from collections.abc import Awaitable, Callable, Sequence

import pytest

from dormouse.ids import BlobKey, DocumentId, PrincipalId
from dormouse.model.receipt import Receipt
from tests.contract.crash import kill_points
from tests.contract.crash.kill_points import KillPoint, armed
from tests.contract.write_path.world import State, World, after_leases_ran_out
from tests.promises import promise

WORDS = "London Paris moved cat"
MOST_CALLS = 200  # of one step in the story; a bound, not a promise
# A story takes a second or two: of what comes often, every so many calls. Erasing is tried at every call.
STRIDES = {
    "catalog.commit": 11,
    "blobs.put": 7,
    "bus.ring_ingest": 3,
    "bus.ring_apply": 3,
    "embedder.embed_passages": 2,
    "extractor.extract": 2,
    "vectors.upsert": 2,
    "graph.write": 2,
}

Deed = Callable[[World], Awaitable[object]]


class Death(BaseException):
    """Nothing may catch it: a dead process tidies nothing up."""


async def _remember_london(world: World) -> Receipt:
    return await world.remember("Ada moved to London.\n\nShe liked it.", external_id="1", key="a")


async def _remember_paris(world: World) -> Receipt:
    return await world.remember("Ada moved to Paris.\n\nShe liked it.", external_id="1", key="b")


async def _remember_cat(world: World) -> Receipt:
    return await world.remember("Grace keeps a cat.", external_id="2", key="c")


async def _suppress_cat(world: World) -> None:
    for document in await world.documents():
        if document.external_id == "2":
            await world.suppress(document.id)


async def _update_cat(world: World) -> Receipt:
    return await world.remember("Grace keeps a cat.\n\nThe cat moved to Paris.", external_id="2", key="d")


async def _restore_cat(world: World) -> None:
    for document in await world.documents():
        if document.external_id == "2":
            await world.restore(document.id)


async def _forget_first(world: World) -> None:
    for document in await world.documents():
        if document.external_id == "1":
            await world.forget(document.id)


STORY: Sequence[Deed] = (
    _remember_london,
    World.work,
    _remember_paris,
    _remember_cat,
    World.work,
    _suppress_cat,
    _forget_first,
    World.work,
    _update_cat,
    World.work,
    _restore_cat,
    World.work,
)


# What is derived from an item is forgotten, while it is updated, and it is made searchable again.
MEMORY_STORY: Sequence[Deed] = (
    _remember_london,
    _remember_cat,
    World.work,
    _remember_paris,
    World.extract,
    World.forget_dataset_memory,
    World.work,
    World.take_up,
    World.work,
)


async def _told(world: World, name: str, story: Sequence[Deed] = STORY) -> tuple[State, list[BlobKey]]:
    """The story, told without trouble by a caller of this name."""
    world.principal = PrincipalId(name)
    for deed in story:
        await deed(world)
    return await _outcome(world)


async def _outcome(world: World) -> tuple[State, list[BlobKey]]:
    left = [key for document in await _forgotten(world) for key in await world.blobs_of(document)]
    return await world.state(WORDS), left


async def _forgotten(world: World) -> Sequence[DocumentId]:
    live = {document.id for document in await world.documents()}
    return [document for document in await world.documents_ever() if document not in live]


async def _told_by_a_mortal(
    world: World, point: KillPoint, story: Sequence[Deed] = STORY
) -> tuple[State, list[BlobKey]] | None:
    """The story with one death in it, gone on with by a successor; None if nobody died."""
    world.principal = PrincipalId(str(point))
    world.path = world.fresh_path(armed(world.ports, point))
    deaths = 0
    for deed in story:
        try:
            await deed(world)
        except BaseException as exc:
            if not _is_death(exc):
                raise
            deaths += 1
            world.path = world.fresh_path(world.ports)
            after_leases_ran_out(world.clock)
            await deed(world)
    world.path = world.fresh_path(world.ports)
    return await _outcome(world) if deaths else None


def _is_death(exc: BaseException) -> bool:
    if isinstance(exc, BaseExceptionGroup):
        return exc.split(Death)[1] is None
    return isinstance(exc, Death)


@promise("P8")
@pytest.mark.parametrize("step", kill_points.STEPS)
async def test_a_death_before_any_step_changes_nothing_in_the_end(
    world: World, step: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Before each step is after the one before it, so the steps together leave no gap."""

    def die() -> None:
        raise Death

    monkeypatch.setattr(kill_points, "die", die)
    undisturbed = await _told(world, "immortal")

    for nth in range(1, MOST_CALLS, STRIDES.get(step, 1)):
        point = KillPoint(step, "before", nth)
        outcome = await _told_by_a_mortal(world, point)
        if outcome is None:
            break
        assert outcome == undisturbed, point
    else:
        raise AssertionError("the story never came to an end")

    assert nth > 1, "nobody ever made this step"
    assert undisturbed[1] == []


@promise("P8")
@pytest.mark.parametrize("step", ["catalog.commit", "blobs.put", "graph.erase", "vectors.erase", "blobs.erase"])
async def test_a_death_while_memories_are_forgotten_changes_nothing_in_the_end(
    world: World, step: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def die() -> None:
        raise Death

    monkeypatch.setattr(kill_points, "die", die)
    undisturbed = await _told(world, "immortal", MEMORY_STORY)
    assert undisturbed[0].unapplied == 0

    for nth in range(1, MOST_CALLS, STRIDES.get(step, 1)):
        point = KillPoint(step, "before", nth)
        outcome = await _told_by_a_mortal(world, point, MEMORY_STORY)
        if outcome is None:
            break
        assert outcome == undisturbed, point
        assert (await world.audit()).findings == (), point

    assert nth > 1, "nobody ever made this step"
