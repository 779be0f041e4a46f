"""What was derived from an item is forgotten; the item and its text stay, and can be made searchable again.

Source: graph contract, recorded case forget_memonly; writes §5.
"""

from collections.abc import Awaitable, Callable
from dataclasses import replace

import pytest

from dormouse.access.lookup import visible
from dormouse.access.original import read_original
from dormouse.adapters.workspace_directory.local import LOCAL_WORKSPACE
from dormouse.audit.compare import Likeness, differences
from dormouse.errors import ForbiddenError
from dormouse.ids import DocumentId
from dormouse.jobs.progress import fail
from dormouse.model.export import RowKind
from dormouse.model.job import CancelReason, JobFailure, JobKind, Stage
from dormouse.model.passage import Passage
from dormouse.model.rebuild import DerivedStore
from dormouse.rebuild.request import RebuildRequests
from tests.contract.write_path.world import World, after_leases_ran_out
from tests.promises import promise

KEEPER = "The keeper of the lighthouse is Ada."
CAT = "Grace keeps a lighthouse cat."
WORDS = "lighthouse Ada cat"
LONG = "It rains on the quay. " * 800  # too long to lie inline
MANY = "\n\n".join(f"# Page {n}\n\nShip {n} came." for n in range(250))  # more than one part
DAY_MS = 24 * 3600 * 1000


async def fill(world: World, text: str = KEEPER) -> DocumentId:
    """Two items; the first is the one whose memory is forgotten."""
    receipt = await world.remember(text, external_id="keeper")
    await world.remember(CAT, external_id="cat")
    await world.work()
    assert receipt.document is not None
    return receipt.document.id


async def texts(world: World) -> list[str]:
    return sorted(each.text for each in await world.passages())


async def shown(world: World, passages: list[Passage]) -> list[str]:
    async with world.ports.catalog.reading() as tx:
        seen, _ = await visible(tx, await world.scope(), passages)
        return sorted(each.text for each in seen)


async def original(world: World, document: DocumentId) -> str:
    found = await read_original(
        world.ports.catalog, world.ports.blobs, await world.scope(), await world.dataset(), document
    )
    return found.body.decode()


async def blob_count(world: World, document: DocumentId) -> int:
    return len(await world.blobs_of(document))


@promise("P3")
async def test_what_was_derived_is_gone_from_every_store_and_the_item_stays(world: World) -> None:
    document = await fill(world)

    receipt = await world.forget_memory(document)
    await world.work()

    (job,) = receipt.jobs
    done = await world.job(job.id)
    assert (done.kind, done.stage, done.document) == (JobKind.FORGET_MEMORY, Stage.COMPLETE, document)
    assert done.counts.erased == 1
    assert await texts(world) == [CAT]
    assert await world.ports.vectors.count(await world.scope()) == 1
    assert await world.term_counts(WORDS) == (1, {"lighthouse": 1, "Ada": 0, "cat": 1})
    assert await original(world, document) == KEEPER
    assert (await world.audit()).findings == ()


@promise("P3")
async def test_it_is_hidden_when_the_forget_is_accepted(world: World) -> None:
    document = await fill(world)
    before = await world.passages()

    await world.forget_memory(document)

    assert await shown(world, before) == [CAT]
    rows = await world.export()
    assert [row.body["text"] for row in rows if row.kind is RowKind.PASSAGE] == [CAT]


async def test_only_the_text_is_left_of_the_blobs(world: World) -> None:
    document = await fill(world, LONG)
    await world.remember(LONG + "\n\nMore of it.", external_id="keeper")
    await world.work()

    await world.forget_memory(document)
    await world.work()

    assert await blob_count(world, document) == 2  # of either version
    assert await original(world, document) == LONG + "\n\nMore of it."


async def test_it_is_staged_as_if_it_had_just_been_added(world: World) -> None:
    document = await fill(world)
    before = await world.state(WORDS)

    await world.forget_memory(document)
    await world.work()
    (taken,) = await world.take_up()
    await world.work()

    assert taken.document is not None
    assert (taken.document.id, (await world.job(taken.job.id)).stage) == (document, Stage.COMPLETE)
    after = await world.state(WORDS)
    assert (after.terms, after.counted, after.points) == (before.terms, before.counted, before.points)
    assert await texts(world) == [CAT, KEEPER]
    assert await shown(world, await world.passages()) == [CAT, KEEPER]
    assert (await world.audit()).findings == ()


async def test_what_is_taken_up_is_extracted_anew(world: World) -> None:
    document = await fill(world)
    world.embedder.embedded.clear()

    await world.forget_memory(document)
    await world.take_up()
    await world.work()

    assert [KEEPER in each for each in world.embedder.embedded] == [True]


async def test_remembering_the_same_again_takes_it_up(world: World) -> None:
    document = await fill(world)
    await world.forget_memory(document)

    again = await world.remember(KEEPER, external_id="keeper")
    await world.work()

    assert again.document is not None
    assert (again.document.id, again.job.is_duplicate) == (document, False)
    assert await shown(world, await world.passages()) == [CAT, KEEPER]
    assert await world.term_counts(WORDS) == (2, {"lighthouse": 2, "Ada": 1, "cat": 1})


async def test_forgetting_it_again_has_nothing_to_do(world: World) -> None:
    document = await fill(world)
    await world.forget_memory(document)

    assert (await world.forget_memory(document)).jobs == ()
    assert (await world.forget_memory(DocumentId("unknown"))).jobs == ()


async def test_every_item_of_a_dataset_has_a_job_of_its_own(world: World) -> None:
    await fill(world)

    receipt = await world.forget_dataset_memory()
    await world.work()

    assert [(await world.job(job.id)).stage for job in receipt.jobs] == [Stage.COMPLETE] * 2
    assert await world.passages() == []
    assert await world.term_counts(WORDS) == (0, {"lighthouse": 0, "Ada": 0, "cat": 0})
    assert len(await world.take_up()) == 2


async def test_more_items_than_one_transaction_takes_are_all_forgotten(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("dormouse.forget.accept.RESETS_AT_ONCE", 1)
    await fill(world)

    assert len((await world.forget_dataset_memory()).jobs) == 2


async def _extracted(world: World) -> None:
    await world.extract()


async def _half_applied(world: World) -> None:
    await world.extract()
    await world.apply_some(1)
    after_leases_ran_out(world.clock)


async def _accepted(world: World) -> None:
    """Nothing more happened."""


@pytest.mark.parametrize(("so_far", "text"), [(_accepted, LONG), (_extracted, LONG), (_half_applied, MANY)])
async def test_it_overtakes_an_update_under_way(
    world: World, so_far: Callable[[World], Awaitable[None]], text: str
) -> None:
    document = await fill(world)
    update = await world.remember(text, external_id="keeper")
    await so_far(world)

    await world.forget_memory(document)
    await world.work()

    ended = await world.job(update.job.id)
    assert (ended.stage, ended.cancel_reason) == (Stage.CANCELLED, CancelReason.FORGOTTEN)
    assert await texts(world) == [CAT]
    assert await world.term_counts(WORDS) == (1, {"lighthouse": 1, "Ada": 0, "cat": 1})
    assert await original(world, document) == text
    assert (await world.audit()).findings == ()


async def test_the_text_of_an_overtaken_job_outlives_the_sweeper(world: World) -> None:
    """Its blob lies beside a job that a forget ended."""
    receipt = await world.remember(LONG, external_id="keeper")
    assert receipt.document is not None
    await world.forget_memory(receipt.document.id)
    await world.work()
    world.clock.advance(10 * 365 * DAY_MS)  # the blobs' own clock is the system's

    await world.path.sweeper.sweep_blobs()

    assert await original(world, receipt.document.id) == LONG


async def test_what_failed_is_staged_too(world: World) -> None:
    receipt = await world.remember(KEEPER, external_id="keeper")
    assert receipt.document is not None
    async with world.ports.catalog.transaction() as tx:
        await tx.changes.lock(LOCAL_WORKSPACE)
        await fail(tx, receipt.job, JobFailure("internal", "it broke", retryable=True, stage=Stage.EXTRACTING))
        await tx.commit()

    await world.forget_memory(receipt.document.id)
    await world.work()
    await world.take_up()
    await world.work()

    assert await shown(world, await world.passages()) == [KEEPER]


async def test_what_is_suppressed_stays_so(world: World) -> None:
    document = await fill(world)
    await world.suppress(document)
    await world.forget_memory(document)
    await world.take_up()
    await world.work()
    hidden = await shown(world, await world.passages()), await world.term_counts(WORDS)

    await world.restore(document)
    await world.work()

    assert hidden == ([CAT], (1, {"lighthouse": 1, "Ada": 0, "cat": 1}))
    assert await shown(world, await world.passages()) == [CAT, KEEPER]
    assert await world.term_counts(WORDS) == (2, {"lighthouse": 2, "Ada": 1, "cat": 1})
    assert (await world.audit()).findings == ()


@promise("P3")
async def test_forgetting_the_item_itself_leaves_nothing(world: World) -> None:
    document = await fill(world, LONG)
    await world.forget_memory(document)
    await world.work()
    assert await blob_count(world, document) > 0

    await world.forget(document)
    await world.work()

    left = [key for key in await world.blobs() if key.split("/")[1] in await _jobs_of(world, document)]
    assert left == []


async def _jobs_of(world: World, document: DocumentId) -> set[str]:
    async with world.ports.catalog.reading() as tx:
        jobs = await tx.jobs.listing(LOCAL_WORKSPACE, world.principal, limit=1000)
    return {job.id for job in jobs if job.document == document}


@pytest.mark.parametrize("is_taken_up", [False, True])
async def test_a_rebuild_gives_the_same(world: World, *, is_taken_up: bool) -> None:
    document = await fill(world)
    await world.remember(KEEPER + "\n\nShe likes it.", external_id="keeper")
    await world.work()
    await world.forget_memory(document)
    if is_taken_up:
        await world.take_up()
    await world.work()
    before = await world.export()

    requests = RebuildRequests(
        world.ports.catalog, world.ports.bus, world.ports.collections, world.ports.embedders
    )
    job = await requests.rebuild(LOCAL_WORKSPACE, world.principal, list(DerivedStore))
    await world.work()
    await world.apply()

    assert (await world.job(job.id)).stage is Stage.COMPLETE
    assert differences(before, await world.export(), Likeness.SAME_MEMORY) == []
    assert (await world.audit()).findings == ()


async def test_only_who_may_forget_the_item_forgets_its_memory(world: World) -> None:
    document = await fill(world)
    writer = replace(await world.scope(), deletable=frozenset())
    forgetter, dataset = world.path.forgetter, await world.dataset()

    with pytest.raises(ForbiddenError):
        await forgetter.forget_item_memory(writer, dataset, document)
    with pytest.raises(ForbiddenError):
        await forgetter.forget_dataset_memory(writer, dataset)


async def test_a_repair_before_the_erasure_leaves_its_passages_to_it(world: World) -> None:
    """The erasure takes out of the statistics what it finds: nobody may take that away before."""
    document = await fill(world)
    await world.lose_point((await world.passages())[0].id)
    await world.path.repairs.repair(await world.scope(), await world.audit())

    await world.forget_memory(document)
    await world.work()

    assert await world.term_counts(WORDS) == (1, {"lighthouse": 1, "Ada": 0, "cat": 1})
