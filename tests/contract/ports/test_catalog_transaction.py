import asyncio

import pytest

from dormouse.errors import InvalidInputError, NotFoundError
from dormouse.ids import PrincipalId, WorkspaceId, new_job_id
from dormouse.model.scope import Principal
from dormouse.ports.catalog.transaction import Catalog, CatalogTransaction
from tests.builders import A_DATASET, A_WORKSPACE, NOW_MS, a_change, a_session_entry
from tests.contract.ports.catalog_samples import a_stored_dataset
from tests.hand_clock import HandClock

ADA = PrincipalId("ada")


async def test_nothing_is_kept_without_a_commit(catalog: Catalog) -> None:
    async with catalog.transaction() as tx:
        await tx.access.ensure_principal(ADA, "Ada")

    async with catalog.reading() as tx:
        with pytest.raises(NotFoundError):
            await tx.access.principal(ADA)


async def test_nothing_is_kept_when_the_block_fails(catalog: Catalog) -> None:
    async def fails() -> None:
        async with catalog.transaction() as tx:
            await tx.access.ensure_principal(ADA, "Ada")
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        await fails()

    async with catalog.reading() as tx:
        with pytest.raises(NotFoundError):
            await tx.access.principal(ADA)


async def test_what_was_committed_is_there(catalog: Catalog) -> None:
    async with catalog.transaction() as tx:
        stored = await tx.access.ensure_principal(ADA, "Ada")
        await tx.commit()

    async with catalog.reading() as tx:
        assert await tx.access.principal(ADA) == stored


async def test_a_committed_transaction_takes_nothing_more(catalog: Catalog) -> None:
    """A statement after the commit would be lost silently."""
    async with catalog.transaction() as tx:
        await tx.commit()

        with pytest.raises(RuntimeError):
            await tx.access.ensure_principal(ADA, "Ada")


async def test_writing_through_a_reading_transaction_is_an_error(catalog: Catalog) -> None:
    async with catalog.reading() as tx:
        with pytest.raises(RuntimeError):
            await tx.access.ensure_principal(ADA, "Ada")


async def test_a_reader_keeps_its_snapshot_and_holds_up_no_writer(catalog: Catalog) -> None:
    async with catalog.reading() as before:
        assert await before.workspaces.with_due_changes() == []
        async with catalog.transaction() as tx:
            await tx.workspaces.ensure(A_WORKSPACE, "Local")
            await tx.commit()

        with pytest.raises(NotFoundError):
            await before.workspaces.get(A_WORKSPACE)

    async with catalog.reading() as after:
        assert (await after.workspaces.get(A_WORKSPACE)).name == "Local"


async def test_a_reader_is_not_held_up_by_a_writer(catalog: Catalog) -> None:
    async with catalog.transaction() as writing:
        await writing.access.ensure_principal(ADA, "Ada")

        async with catalog.reading() as tx:
            with pytest.raises(NotFoundError):
                await tx.access.principal(ADA)


async def test_the_time_is_that_of_the_begin_and_not_of_the_wait(catalog: Catalog, clock: HandClock) -> None:
    async def second() -> int:
        async with catalog.transaction() as tx:
            return tx.now_ms

    async with asyncio.TaskGroup() as group, catalog.transaction() as tx:
        waiting = group.create_task(second())
        await asyncio.sleep(0)  # lets it reach the wait
        clock.advance(5_000)
        assert tx.now_ms == NOW_MS

    assert waiting.result() == NOW_MS + 5_000


async def test_a_cancelled_writer_leaves_nothing_and_blocks_nobody(catalog: Catalog) -> None:
    entered = asyncio.Event()

    async def hangs() -> None:
        async with catalog.transaction() as tx:
            await tx.access.ensure_principal(ADA, "Ada")
            entered.set()
            await asyncio.Event().wait()

    async with asyncio.TaskGroup() as group:
        task = group.create_task(hangs())
        await entered.wait()
        task.cancel()

    async with catalog.transaction() as tx:
        with pytest.raises(NotFoundError):
            await tx.access.principal(ADA)


async def test_writers_cancelled_at_any_statement_never_wedge_the_catalog(catalog: Catalog) -> None:
    await a_stored_dataset(catalog)

    async def write() -> None:
        async with catalog.transaction() as tx:
            await tx.changes.append(a_change(job=new_job_id()))
            await tx.commit()

    for turns in range(40):
        async with asyncio.TaskGroup() as group:
            task = group.create_task(write())
            for _ in range(turns):
                await asyncio.sleep(0)
            task.cancel()

    await write()
    async with catalog.reading() as tx:
        numbered = await tx.past.unapplied_count(A_WORKSPACE)
        first = await tx.changes.next_unapplied(A_WORKSPACE)
    assert numbered >= 1
    assert first is not None
    assert first.seq == 1


async def test_sixteen_writers_and_as_many_readers_get_along(catalog: Catalog) -> None:
    await a_stored_dataset(catalog)
    seen: list[int] = []

    async def write() -> None:
        for _ in range(5):
            async with catalog.transaction() as tx:
                change = await tx.changes.append(a_change(job=new_job_id()))
                await tx.commit()
            assert change is not None
            seen.append(change.seq)

    async def read() -> None:
        counts = []
        for _ in range(10):
            async with catalog.reading() as tx:
                counts.append(await tx.past.unapplied_count(A_WORKSPACE))
        assert counts == sorted(counts)

    async with asyncio.TaskGroup() as group:
        for _ in range(16):
            group.create_task(write())
            group.create_task(read())

    assert sorted(seen) == list(range(1, 81))


async def test_what_belongs_to_nothing_is_refused(catalog: Catalog) -> None:
    async with catalog.transaction() as tx:
        with pytest.raises(NotFoundError):
            await tx.datasets.ensure(WorkspaceId("nowhere"), ADA, "notes")


async def test_text_that_is_not_unicode_is_refused(catalog: Catalog) -> None:
    async with catalog.transaction() as tx:
        with pytest.raises(InvalidInputError):
            await tx.sessions.add(a_session_entry("half a \ud83d smile"))


async def test_every_script_comes_back_as_it_was(catalog: Catalog) -> None:
    name = "笔记 ملاحظات ghi chú 🐭\u200d"
    async with catalog.transaction() as tx:
        await tx.workspaces.ensure(A_WORKSPACE, "Local")
        dataset = await tx.datasets.ensure(A_WORKSPACE, ADA, name)
        await tx.commit()

    async with catalog.reading() as tx:
        assert (await tx.datasets.get(dataset.id)).name == name
        assert await tx.datasets.many([dataset.id, A_DATASET]) == [dataset]


async def test_a_duty_that_nobody_does_is_ours_each_time(catalog: Catalog) -> None:
    for _ in range(2):
        async with catalog.duty("sweep") as is_ours:
            assert is_ours


async def test_a_whole_transaction_keeps_what_it_committed(catalog: Catalog) -> None:
    async def stores(tx: CatalogTransaction) -> Principal:
        stored = await tx.access.ensure_principal(ADA, "Ada")
        await tx.commit()
        return stored

    stored = await catalog.write(stores)

    assert await catalog.read(lambda tx: tx.access.principal(ADA)) == stored


async def test_a_whole_transaction_that_fails_or_does_not_commit_leaves_nothing(catalog: Catalog) -> None:
    async def fails(tx: CatalogTransaction) -> None:
        await tx.access.ensure_principal(ADA, "Ada")
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        await catalog.write(fails)
    await catalog.write(lambda tx: tx.access.ensure_principal(ADA, "Ada"))

    with pytest.raises(NotFoundError):
        await catalog.read(lambda tx: tx.access.principal(ADA))


async def test_a_whole_reading_transaction_cannot_write(catalog: Catalog) -> None:
    with pytest.raises(RuntimeError):
        await catalog.read(lambda tx: tx.access.ensure_principal(ADA, "Ada"))


async def test_whole_transactions_take_turns_with_the_others(catalog: Catalog) -> None:
    """SQLite's own waiting polls, and fails after five seconds: nobody here ever comes to that."""

    async def counts(tx: CatalogTransaction) -> None:
        await tx.changes.append(a_change(job=new_job_id()))
        await tx.commit()

    async def counts_step_by_step() -> None:
        async with catalog.transaction() as tx:
            await counts(tx)

    await a_stored_dataset(catalog)
    async with asyncio.TaskGroup() as group:
        for _ in range(10):
            group.create_task(catalog.write(counts))
            group.create_task(counts_step_by_step())

    assert await catalog.read(lambda tx: tx.past.unapplied_count(A_WORKSPACE)) == 20


async def test_a_whole_transaction_awaits_nothing_else(catalog: Catalog) -> None:
    with pytest.raises(RuntimeError):
        await catalog.read(lambda _tx: asyncio.sleep(0.01))
