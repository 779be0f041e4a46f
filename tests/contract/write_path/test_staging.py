"""What is staged is durable, waits for somebody to take it up, and goes when it is forgotten."""

from dataclasses import replace

import pytest

from dormouse.errors import DocumentExistsError, ForbiddenError
from dormouse.model.job import JobKind, Stage
from dormouse.model.receipt import IdempotencyKey, Receipt
from tests.builders import a_content
from tests.contract.write_path.test_remember import LONG
from tests.contract.write_path.world import DATASET, World


async def stage(world: World, text: str, filename: str) -> Receipt:
    dataset = await world.dataset_row(DATASET)
    return await world.path.acceptor.stage(await world.scope(), dataset, a_content(text, filename=filename))


async def take_up(world: World, key: str | None = None) -> list[Receipt]:
    dataset = await world.dataset_row(DATASET)
    idempotency = IdempotencyKey("take up", key, key) if key else None
    return list(await world.path.stager.take_up_all(await world.scope(), dataset, {}, idempotency))


async def test_nothing_is_extracted_until_it_is_taken_up(world: World) -> None:
    staged = await stage(world, "Ada moved to London.", "a.txt")
    await world.work()
    before = await world.passages()

    (taken,) = await take_up(world)
    await world.work()

    assert (staged.job.kind, staged.job.stage, before) == (JobKind.ADD, Stage.COMPLETE, [])
    assert (await world.job(taken.job.id)).stage is Stage.COMPLETE
    assert [each.text for each in await world.passages()] == ["Ada moved to London."]
    assert await take_up(world) == []


async def test_a_repeated_call_gives_the_first_receipts_and_takes_up_no_more(world: World) -> None:
    await stage(world, "Ada moved to London.", "a.txt")
    first = await take_up(world, "k")
    await stage(world, "Grace found a moth.", "b.txt")

    again = await take_up(world, "k")

    assert [each.job.id for each in again] == [each.job.id for each in first]


async def test_other_content_under_a_name_is_refused_whether_it_is_staged_or_searchable(world: World) -> None:
    await stage(world, "Ada moved to London.", "a.txt")
    await world.remember("Grace found a moth.", filename="b.txt")

    for name in ("a.txt", "b.txt"):
        with pytest.raises(DocumentExistsError):
            await stage(world, "Something else.", name)


async def test_a_forgotten_item_leaves_no_staged_bytes(world: World) -> None:
    receipt = await stage(world, LONG * 4, "long.txt")
    assert receipt.document is not None
    assert await world.blobs() != []

    await world.forget(receipt.document.id)
    await world.work()

    assert await world.blobs() == []
    assert await take_up(world) == []


async def test_only_who_may_write_takes_up(world: World) -> None:
    await stage(world, "Ada moved to London.", "a.txt")
    dataset = await world.dataset_row(DATASET)
    reader = replace(await world.scope(), writable=frozenset(), deletable=frozenset())

    with pytest.raises(ForbiddenError):
        await world.path.stager.take_up_all(reader, dataset, {})
