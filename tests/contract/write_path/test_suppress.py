"""Suppressed means hidden everywhere and restorable unchanged, whatever comes in between. Promise P3."""

from dataclasses import replace
from pathlib import Path

import pytest

from dormouse.access.lookup import visible
from dormouse.adapters.embedder.onnx import OnnxEmbedder
from dormouse.adapters.workspace_directory.local import LOCAL_WORKSPACE
from dormouse.audit.compare import Likeness, content_hash, differences
from dormouse.errors import ForbiddenError, NotFoundError
from dormouse.ids import DatasetId, DocumentId
from dormouse.model.export import ExportRow, RowKind
from dormouse.model.job import JobKind, Stage
from dormouse.model.passage import Point
from dormouse.model.scope import Fence
from dormouse.ports.catalog.hidden import Hiding
from dormouse.ports.vector_store import DenseArm, PointFilter
from tests.contract.write_path.world import World, after_leases_ran_out, opened
from tests.hand_clock import HandClock
from tests.promises import promise

SHORT = "The keeper of the lighthouse is Ada."
LONG = "\n\n".join(f"# Page {n}\n\nOn page {n} the lighthouse log names ship number {n}." for n in range(150))


async def fill(world: World) -> DocumentId:
    """Two items; the first is the one to hide."""
    receipt = await world.remember(SHORT, external_id="keeper")
    await world.remember("Grace keeps a lighthouse cat.", external_id="cat")
    await world.work()
    assert receipt.document is not None
    return receipt.document.id


async def named_by_an_arm(world: World) -> set[str]:
    query = await world.embedder.embed_query("lighthouse keeper")
    found = await world.ports.vectors.search(await world.scope(), [DenseArm(query.dense, 500)], PointFilter())
    return {each.passage for each in found[0]}


async def hiding(world: World, document: DocumentId) -> Hiding:
    async with world.ports.catalog.reading() as tx:
        return await tx.hidden.of(document)


def texts(rows: list[ExportRow]) -> list[object]:
    return [row.body["text"] for row in rows if row.kind is RowKind.PASSAGE]


@promise("P3")
async def test_restored_is_exactly_what_was_suppressed(world: World) -> None:
    document = await fill(world)
    before = await world.export()

    suppressed = await world.suppress(document)
    await world.work()
    restored = await world.restore(document)
    await world.work()

    assert content_hash(await world.export()) == content_hash(before)
    assert await hiding(world, document) == Hiding()
    jobs = [await world.job(each.job.id) for each in (suppressed, restored)]
    assert [(job.kind, job.stage) for job in jobs] == [
        (JobKind.SUPPRESS, Stage.COMPLETE),
        (JobKind.RESTORE, Stage.COMPLETE),
    ]


@promise("P3")
async def test_what_is_suppressed_takes_part_in_nothing(
    tmp_path: Path, clock: HandClock, embedder: OnnxEmbedder
) -> None:
    """Scores and order are those of a memory that never knew of it."""
    async with opened(tmp_path, clock, embedder) as world:
        document = await fill(world)
        mine = {each.id for each in await world.passages() if each.document == document}

        await world.suppress(document)
        await world.work()

        assert mine.isdisjoint(await named_by_an_arm(world))
        counted = await world.term_counts("keeper lighthouse")
        assert counted == (1, {"keeper": 0, "lighthouse": 1})
        assert texts(await world.export(has_suppressed=False)) == ["Grace keeps a lighthouse cat."]


async def test_it_is_hidden_from_the_commit_on(world: World) -> None:
    document = await fill(world)
    passages = await world.passages()

    await world.suppress(document)

    async with world.ports.catalog.reading() as tx:
        seen, _ = await visible(tx, await world.scope(), passages)
    assert document not in {each.document for each in seen}
    assert [each.is_suppressed for each in await world.documents() if each.id == document] == [True]


async def test_an_update_while_it_is_suppressed_stays_hidden_and_is_whole_when_restored(
    tmp_path: Path, clock: HandClock, embedder: OnnxEmbedder
) -> None:
    for name in ("one", "other"):
        (tmp_path / name).mkdir()
    async with opened(tmp_path / "one", clock, embedder) as world:
        document = await fill(world)
        await world.suppress(document)
        await world.work()
        await world.remember("The keeper of the harbour is Bob.\n\nBob likes fog.", external_id="keeper")
        await world.work()
        assert not any("Bob" in str(text) for text in texts(await world.export(has_suppressed=False)))
        assert await world.term_counts("keeper lighthouse") == (1, {"keeper": 0, "lighthouse": 1})
        mine = {each.id for each in await world.passages() if each.document == document}
        assert mine.isdisjoint(await named_by_an_arm(world))
        await world.restore(document)
        await world.work()
        one = await world.export()
    async with opened(tmp_path / "other", clock, embedder) as world:
        await fill(world)
        await world.remember("The keeper of the harbour is Bob.\n\nBob likes fog.", external_id="keeper")
        await world.work()
        other = await world.export()

    assert differences(one, other, Likeness.ANOTHER_RUN) == []


async def test_what_is_being_ingested_can_be_suppressed_and_restored(
    tmp_path: Path, clock: HandClock, embedder: OnnxEmbedder
) -> None:
    for name in ("one", "other"):
        (tmp_path / name).mkdir()
    async with opened(tmp_path / "one", clock, embedder) as world:
        receipt = await world.remember(LONG, filename="log.md")
        assert receipt.document is not None
        await world.extract()  # two of its three parts have their changes
        await world.suppress(receipt.document.id)
        await world.work()
        assert (await world.job(receipt.job.id)).stage is Stage.COMPLETE
        assert await named_by_an_arm(world) == set()
        assert (await world.term_counts("lighthouse"))[0] == 0
        await world.restore(receipt.document.id)
        await world.work()
        one = await world.export()
    async with opened(tmp_path / "other", clock, embedder) as world:
        await world.remember(LONG, filename="log.md")
        await world.work()
        other = await world.export()

    assert differences(one, other, Likeness.ANOTHER_RUN) == []


async def test_a_change_of_mind_before_anything_is_applied_leaves_nothing_to_do(world: World) -> None:
    document = await fill(world)
    before = await world.export()

    await world.suppress(document)
    await world.restore(document)
    await world.work()

    assert content_hash(await world.export()) == content_hash(before)
    assert await hiding(world, document) == Hiding()


@promise("P3")
async def test_what_is_suppressed_can_be_forgotten(world: World) -> None:
    document = await fill(world)
    await world.suppress(document)
    await world.work()

    await world.forget(document)
    await world.work()

    assert await world.term_counts("keeper lighthouse cat") == (1, {"keeper": 0, "lighthouse": 1, "cat": 1})
    assert await world.blobs_of(document) == []
    assert await world.ports.vectors.count(await world.scope()) == 1
    assert await hiding(world, document) == Hiding()


async def test_a_forget_overtakes_a_suppression_that_waits(world: World) -> None:
    document = await fill(world)

    await world.suppress(document)
    await world.forget(document)
    await world.work()

    assert await world.term_counts("keeper lighthouse") == (1, {"keeper": 0, "lighthouse": 1})
    assert await hiding(world, document) == Hiding()


async def test_the_same_content_again_is_still_the_suppressed_item(world: World) -> None:
    """Hiding is of what was said: saying it again must not bring it back."""
    receipt = await world.remember(SHORT)
    await world.work()
    assert receipt.document is not None
    await world.suppress(receipt.document.id)
    await world.work()

    again = await world.remember(SHORT)

    assert again.job.is_duplicate
    assert again.document is not None
    assert (again.document.id, again.document.is_suppressed) == (receipt.document.id, True)


async def test_a_late_upsert_of_a_dead_process_is_hidden_again_by_its_successor(world: World) -> None:
    document = await fill(world)
    point_before = {each.id: each for each in await world.passages() if each.document == document}
    await world.suppress(document)
    await world.work()
    (stored,) = await world.ports.vector_upkeep.points(await world.scope(), list(point_before))
    late = Point.of(point_before[stored.passage], stored.vectors, is_hidden=False)
    await world.ports.vectors.upsert(await world.scope(), Fence(LOCAL_WORKSPACE, 1, 10_000), [late])
    assert stored.passage in await named_by_an_arm(world)

    await world.remember("Something new.")
    await world.extract()
    await world.apply_some(1)  # its lease is never released
    after_leases_ran_out(world.clock)
    await world.remember("Something newer.")
    await world.work()

    assert stored.passage not in await named_by_an_arm(world)


async def test_suppressing_twice_costs_nothing(world: World) -> None:
    document = await fill(world)
    await world.suppress(document)

    again = await world.suppress(document)

    assert (again.job.stage, again.job.is_duplicate) == (Stage.COMPLETE, True)


async def test_only_an_item_that_is_there_and_may_be_written_is_suppressed(world: World) -> None:
    document = await fill(world)
    scope, dataset = await world.scope(), await world.dataset()
    suppress = world.path.suppressor.suppress_item

    with pytest.raises(NotFoundError):
        await suppress(scope, dataset, DocumentId("nobody"))
    with pytest.raises(NotFoundError):
        await suppress(scope, DatasetId("foreign"), document)
    with pytest.raises(ForbiddenError):
        await suppress(replace(scope, writable=frozenset(), deletable=frozenset()), dataset, document)
