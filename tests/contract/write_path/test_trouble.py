"""Trouble: what passes is waited for, what does not is counted, and a forget never fails. Source: writes §3."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from typing import Any, cast

import pytest

from dormouse.adapters.embedder.choice import EmbedderChoice
from dormouse.adapters.workspace_directory.local import LOCAL_WORKSPACE
from dormouse.errors import DormouseError, EmbedderUnavailableError, StoreUnavailableError
from dormouse.jobs.transition import GIVE_UP_MS, MAX_ATTEMPTS
from dormouse.model.job import Stage
from dormouse.ports.embedder import Embedder
from tests.contract.write_path.world import World
from tests.promises import promise


class Troubled:
    """A port whose one method fails until it is told to stop; `passes` calls come through first."""

    def __init__(self, port: object, method: str, error: Exception, *, passes: int = 0) -> None:
        self._port, self._method, self._error, self._passes = port, method, error, passes
        self.is_well = False
        self.failures = 0

    def __getattr__(self, name: str) -> object:
        found = getattr(self._port, name)
        return self._failing(found) if name == self._method and not self.is_well else found

    def _failing(self, method: Callable[..., Awaitable[object]]) -> Callable[..., Awaitable[object]]:
        async def call(*args: object, **kwargs: object) -> object:
            if self._passes:
                self._passes -= 1
                return await method(*args, **kwargs)
            self.failures += 1
            raise self._error

        return call


class Forgetful:
    """A vector store that says it erased and did not."""

    def __init__(self, port: object) -> None:
        self._port = port
        self.is_honest = False

    def __getattr__(self, name: str) -> object:
        return getattr(self._port, name)

    async def erase(self, *args: object, **flags: object) -> None:
        if self.is_honest:
            await cast("Any", self._port).erase(*args, **flags)


def _with_embedder(world: World, embedder: object) -> None:
    _with(world, "embedders", EmbedderChoice([cast("Embedder", embedder)]))


def _with(world: World, port: str, stand_in: object) -> None:
    changes: dict[str, Any] = {port: stand_in}
    world.path = world.fresh_path(replace(world.ports, **changes))


async def _parked(world: World) -> str | None:
    async with world.ports.catalog.reading() as tx:
        return (await tx.workspaces.get(LOCAL_WORKSPACE)).parked_reason


async def _pass_time(world: World, rounds: int) -> None:
    for _ in range(rounds):
        world.clock.advance(60_001)
        await world.extract()
        await world.apply()


async def test_a_job_whose_embedder_is_away_is_parked_and_goes_on_later(world: World) -> None:
    embedder = Troubled(world.ports.embedder, "embed_passages", EmbedderUnavailableError("away"))
    _with_embedder(world, embedder)
    receipt = await world.remember("Ada moved to London.")

    await world.extract()

    job = await world.job(receipt.job.id)
    assert (job.stage, job.parked_reason, job.attempts) == (Stage.EXTRACTING, "embedder_unavailable", 0)
    embedder.is_well = True
    await world.work()
    assert (await world.job(receipt.job.id)).stage is Stage.COMPLETE


async def test_a_parked_job_is_not_tried_before_its_time(world: World) -> None:
    embedder = Troubled(world.ports.embedder, "embed_passages", EmbedderUnavailableError("away"))
    _with_embedder(world, embedder)
    await world.remember("Ada moved to London.")

    await world.extract()
    await world.extract()

    assert embedder.failures == 1


@promise("P1")
async def test_seven_days_of_trouble_end_a_job_as_retryable(world: World) -> None:
    _with(world, "vectors", Troubled(world.ports.vectors, "upsert", StoreUnavailableError(port="vector")))
    receipt = await world.remember("Ada moved to London.")
    await world.extract()
    await world.apply()
    assert await _parked(world) == "store_unavailable"

    world.clock.advance(GIVE_UP_MS)
    await world.apply()

    job = await world.job(receipt.job.id)
    assert job.stage is Stage.FAILED
    assert job.failure is not None
    assert (job.failure.code, job.failure.retryable) == ("store_unavailable", True)


@promise("P1")
async def test_the_eighth_unknown_error_fails_the_job_and_withdraws_what_it_wrote(world: World) -> None:
    graph = Troubled(world.ports.graph, "write", DormouseError("a bug"))
    _with(world, "graph", graph)
    receipt = await world.remember("Ada moved to London.")
    await world.extract()

    await _pass_time(world, MAX_ATTEMPTS + 2)

    assert graph.failures == MAX_ATTEMPTS
    assert (await world.job(receipt.job.id)).stage is Stage.FAILED
    assert await world.ports.vectors.count(await world.scope()) == 0
    assert (await world.term_counts("London"))[0] == 0


async def test_an_unknown_error_while_extracting_is_counted_up_to_eight(world: World) -> None:
    extractor = Troubled(world.ports.extractor, "extract", DormouseError("a bug"))
    _with(world, "extractor", extractor)
    receipt = await world.remember("Ada moved to London.")

    await _pass_time(world, MAX_ATTEMPTS + 2)

    assert extractor.failures == MAX_ATTEMPTS
    assert (await world.job(receipt.job.id)).stage is Stage.FAILED


@promise("P3")
async def test_a_forget_is_not_complete_while_anything_is_left(world: World) -> None:
    """A store that lies about erasing is found out by reading back; the forget goes on until it is true."""
    remembered = await world.remember("Ada moved to London.")
    await world.work()
    assert remembered.document is not None
    vectors = Forgetful(world.ports.vectors)
    _with(world, "vectors", vectors)
    (forget,) = (await world.forget(remembered.document.id)).jobs

    await _pass_time(world, 2 * MAX_ATTEMPTS + 2)

    assert (await world.job(forget.id)).stage is Stage.APPLYING
    vectors.is_honest = True
    await world.work()
    assert (await world.job(forget.id)).stage is Stage.COMPLETE
    assert await world.ports.vectors.count(await world.scope()) == 0


async def test_a_forget_that_fails_lets_later_changes_by(world: World) -> None:
    remembered = await world.remember("Ada moved to London.")
    await world.work()
    assert remembered.document is not None
    _with(world, "vectors", Forgetful(world.ports.vectors))
    await world.forget(remembered.document.id)
    later = await world.remember("Grace keeps a cat.")

    await _pass_time(world, MAX_ATTEMPTS + 2)

    assert (await world.job(later.job.id)).stage is Stage.COMPLETE


@promise("P3")
@pytest.mark.parametrize("step", ["matching", "erase"], ids=["before it is planned", "after it was planned"])
async def test_forgetting_a_memory_that_fails_until_it_is_taken_up_again_leaves_exact_counts(
    world: World, step: str
) -> None:
    """The erasure goes behind what makes the item searchable again, which finds the former passages there."""
    receipt = await world.remember("Ada moved to London.")
    await world.work()
    assert receipt.document is not None
    graph = Troubled(world.ports.graph, step, DormouseError("a bug"))
    _with(world, "graph", graph)
    await world.forget_memory(receipt.document.id)
    await world.take_up()

    await _pass_time(world, MAX_ATTEMPTS + 1)
    assert graph.failures >= MAX_ATTEMPTS
    graph.is_well = True
    await _pass_time(world, 2)
    await world.work()

    assert await world.term_counts("London") == (1, {"London": 1})
    assert await world.ports.vectors.count(await world.scope()) == 1
    assert (await world.audit()).findings == ()


@promise("P3")
async def test_a_damaged_blob_cannot_keep_a_forget_from_erasing(world: World) -> None:
    remembered = await world.remember("Ada moved to London.")
    await world.work()
    assert remembered.document is not None
    for key in await world.blobs_of(remembered.document.id):
        (world.folder / "blobs" / key).write_bytes(b"damaged")
    (forget,) = (await world.forget(remembered.document.id)).jobs

    await _pass_time(world, MAX_ATTEMPTS)

    assert (await world.job(forget.id)).stage is Stage.COMPLETE
    assert await world.blobs_of(remembered.document.id) == []


async def test_a_lease_that_was_never_released_is_taken_over_with_care(world: World) -> None:
    """What was erased lately is erased again: a late call of the dead holder may have brought it back."""
    erased: list[object] = []

    class Watched:
        def __getattr__(self, name: str) -> object:
            return getattr(world.ports.vectors, name)

        async def erase(self, *args: Any, **flags: Any) -> None:  # noqa: ANN401  passed on
            erased.append(args[2])
            await world.ports.vectors.erase(*args, **flags)

    remembered = await world.remember("Ada moved to London.")
    await world.work()
    assert remembered.document is not None
    await world.forget(remembered.document.id)
    await world.work()
    await world.remember("Grace keeps a cat.")
    await world.extract()
    await world.apply_some(0)
    _with(world, "vectors", Watched())

    await world.work()

    assert [getattr(each, "document", None) for each in erased] == [remembered.document.id]
    assert [each.text for each in await world.passages()] == ["Grace keeps a cat."]


async def test_a_blob_that_nobody_names_goes_after_a_day(world: World) -> None:
    kept = await world.remember("Ada moved to London.")
    await world.work()
    orphan = await world.ports.blobs.put(LOCAL_WORKSPACE, kept.job.id, b"left behind")
    before: Sequence[str] = await world.blobs()
    assert await world.path.sweeper.sweep_blobs() == 0

    world.clock.advance(400 * 24 * 3600 * 1000)

    assert await world.path.sweeper.sweep_blobs() == 1
    assert sorted(await world.blobs()) == sorted(set(before) - {orphan})
