"""What only a server can do to the catalog: many at once, away, back again, or set up wrongly."""

import asyncio
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest
from sqlalchemy.ext.asyncio import create_async_engine

from dormouse.adapters.catalog import postgresql as postgresql_module
from dormouse.adapters.catalog.postgresql_url import address_of
from dormouse.adapters.catalog.tables import metadata
from dormouse.adapters.catalog.transaction import SqlCatalog
from dormouse.errors import CatalogUnavailableError, MisconfiguredError
from dormouse.ids import JobId, PrincipalId, new_job_id
from dormouse.model.change import ApplyLease, Change
from dormouse.model.job import Job, Stage
from dormouse.ports.catalog.transaction import Catalog
from tests.builders import A_WORKSPACE, a_change, a_job
from tests.contract.ports.catalog_samples import a_stored_dataset, store_job
from tests.hand_clock import HandClock
from tests.toolchain import postgresql
from tests.toolchain.postgresql import PostgresqlServer
from tests.toolchain.server_process import free_port

ADA = PrincipalId("ada")
PATIENCE_S = 30


@pytest.fixture
def mortal(postgresql_programs: Path) -> Iterator[PostgresqlServer]:
    """A server that may be killed."""
    with postgresql.running(postgresql_programs) as server:
        yield server


@pytest.fixture
async def unmigrated(catalog_url: str) -> AsyncIterator[SqlCatalog]:
    """By the server's clock."""
    opened = SqlCatalog(catalog_url)
    yield opened
    await opened.close()


async def until_somebody_waits(server: PostgresqlServer) -> None:
    async with asyncio.timeout(PATIENCE_S):
        while server.run("SELECT 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock'") == "":  # noqa: ASYNC110  the server rings no bell
            await asyncio.sleep(0.01)


async def claimed(catalog: Catalog, barrier: asyncio.Barrier) -> JobId | None:
    """The next job to enrich, with both claims under way before either is committed."""
    async with catalog.transaction() as tx:
        job = await tx.enrichment.claim_next(f"worker {id(asyncio.current_task())}", 60_000)
        await barrier.wait()
        await tx.commit()
    return None if job is None else job.id


async def test_two_who_take_work_at_once_take_different_work(catalog: Catalog) -> None:
    await a_stored_dataset(catalog)
    waiting = [await store_job(catalog, a_job(Stage.SEARCHABLE, id=new_job_id())) for _ in range(2)]

    barrier = asyncio.Barrier(2)
    async with asyncio.timeout(PATIENCE_S), asyncio.TaskGroup() as group:
        both = [group.create_task(claimed(catalog, barrier)) for _ in range(2)]

    assert {task.result() for task in both} == {job.id for job in waiting}


async def test_a_job_that_another_is_just_claiming_is_passed_over(catalog: Catalog) -> None:
    await a_stored_dataset(catalog)
    job = await store_job(catalog)

    async with asyncio.timeout(PATIENCE_S), catalog.transaction() as first:
        taken = await first.work.claim(job.id, "first", 60_000)
        async with catalog.transaction() as second:
            passed_over = await second.work.claim(job.id, "second", 60_000)
        await first.commit()

    assert (taken is not None, passed_over) == (True, None)


async def test_writers_of_one_workspace_come_after_each_other(
    catalog: Catalog, postgresql_server: PostgresqlServer
) -> None:
    """The second sees what the first committed, though it began before."""
    await a_stored_dataset(catalog)

    async def next_change() -> Change | None:
        async with catalog.transaction() as tx:
            await tx.changes.lock(A_WORKSPACE)
            return await tx.changes.next_unapplied(A_WORKSPACE)

    async with asyncio.timeout(PATIENCE_S), asyncio.TaskGroup() as group, catalog.transaction() as first:
        mine = await first.changes.append(a_change(job=new_job_id()))
        second = group.create_task(next_change())
        await until_somebody_waits(postgresql_server)
        assert not second.done()
        await first.commit()

    assert mine is not None
    assert second.result() == mine


async def test_of_many_who_ask_for_a_first_lease_one_gets_it(catalog: Catalog) -> None:
    await a_stored_dataset(catalog)

    async def acquire(number: int) -> ApplyLease | None:
        async with catalog.transaction() as tx:
            lease = await tx.workspaces.acquire_lease(A_WORKSPACE, f"worker {number}", 60_000)
            await tx.commit()
        return lease

    async with asyncio.timeout(PATIENCE_S), asyncio.TaskGroup() as group:
        asked = [group.create_task(acquire(number)) for number in range(8)]

    assert [lease.epoch for task in asked if (lease := task.result()) is not None] == [1]


async def test_a_duty_is_done_by_one_process_at_a_time(
    catalog: Catalog, catalog_url: str, clock: HandClock
) -> None:
    elsewhere = SqlCatalog(catalog_url, clock)

    async with (
        catalog.duty("sweep") as first,
        elsewhere.duty("sweep") as second,
        elsewhere.duty("other") as other,
    ):
        assert (first, second, other) == (True, False, True)
    async with elsewhere.duty("sweep") as afterwards:
        assert afterwards

    await elsewhere.close()


async def test_a_duty_of_a_process_that_died_is_free(mortal: PostgresqlServer, clock: HandClock) -> None:
    """Its connection is what held it."""
    catalog, elsewhere = SqlCatalog(mortal.url(), clock), SqlCatalog(mortal.url(), clock)

    async with catalog.duty("sweep"):
        mortal.run("SELECT pg_terminate_backend(pid) FROM pg_locks WHERE locktype = 'advisory'")
        async with elsewhere.duty("sweep") as is_mine:
            assert is_mine

    await catalog.close()
    await elsewhere.close()


@pytest.mark.promise("P8")
async def test_a_killed_server_is_told_and_found_again(mortal: PostgresqlServer, clock: HandClock) -> None:
    """Nothing acknowledged is lost, and no connection of the pool stays broken."""
    catalog = SqlCatalog(mortal.url(), clock)
    await catalog.migrate()
    job = await _a_stored_job(catalog)

    mortal.kill()
    for _ in range(2):
        with pytest.raises(CatalogUnavailableError, match="does not answer"):
            async with catalog.reading() as tx:
                await tx.jobs.get(job.id)
    mortal.start()
    async with catalog.reading() as tx:
        found = await tx.jobs.get(job.id)
    await _a_stored_job(catalog)
    await catalog.close()

    assert found == job


async def test_a_server_that_dies_inside_a_transaction_is_told(
    mortal: PostgresqlServer, clock: HandClock
) -> None:
    catalog = SqlCatalog(mortal.url(), clock)
    await catalog.migrate()

    async def outlived() -> None:
        async with catalog.transaction() as tx:
            await tx.access.ensure_principal(ADA, "Ada")
            mortal.kill()
            await tx.commit()

    with pytest.raises(CatalogUnavailableError):
        await outlived()
    await catalog.close()


@pytest.mark.parametrize("wrong", ["password", "user", "database"])
async def test_what_is_set_wrongly_is_named_and_not_repeated(
    postgresql_server: PostgresqlServer, wrong: str
) -> None:
    url = {
        "password": postgresql_server.url(password="s3cret"),
        "user": postgresql_server.url(user="s3cret"),
        "database": postgresql_server.url("s3cret"),
    }[wrong]
    catalog = SqlCatalog(url)

    with pytest.raises(MisconfiguredError) as told:
        await catalog.check()
    await catalog.close()

    assert told.value.setting == "DATABASE__URL"
    assert str(told.value).startswith("DORMOUSE_DATABASE__URL ")
    assert "s3cret" not in str(told.value)


async def test_a_server_that_is_not_there_is_told_by_its_setting() -> None:
    catalog = SqlCatalog(f"postgresql://ada:s3cret@127.0.0.1:{free_port()}/memory")

    for opening in (catalog.check, catalog.migrate):
        with pytest.raises(CatalogUnavailableError, match="does not answer at DORMOUSE_DATABASE__URL"):
            await opening()
    await catalog.close()


async def test_a_database_without_the_schema_is_told_with_the_command(unmigrated: SqlCatalog) -> None:
    with pytest.raises(MisconfiguredError, match="dormouse migrate"):
        await unmigrated.check()
    with pytest.raises(MisconfiguredError, match="dormouse migrate"):
        async with unmigrated.reading() as tx:
            await tx.access.principal(ADA)

    await unmigrated.migrate()
    await unmigrated.check()


async def test_a_schema_of_a_later_version_is_refused(
    catalog: Catalog, catalog_url: str, postgresql_server: PostgresqlServer
) -> None:
    postgresql_server.run("UPDATE alembic_version SET version_num = '9999'", _database(catalog_url))

    with pytest.raises(MisconfiguredError, match="later version"):
        await catalog.migrate()
    with pytest.raises(MisconfiguredError):
        await catalog.check()


SCHEMA = """
SELECT table_name, column_name, replace(data_type, 'character varying', 'text'), is_nullable, collation_name,
       regexp_replace(column_default, '::[a-z ]+$', '')
  FROM information_schema.columns WHERE table_schema = 'public' AND table_name <> 'alembic_version'
 ORDER BY 1, 2;
SELECT regexp_replace(indexdef, '::[a-z]+', '', 'g')
  FROM pg_indexes WHERE schemaname = 'public' AND tablename <> 'alembic_version'
 ORDER BY 1;
SELECT conrelid::regclass::text, conname, pg_get_constraintdef(oid)
  FROM pg_constraint WHERE connamespace = 'public'::regnamespace AND contype <> 'n'
   AND conrelid::regclass::text <> 'alembic_version'
 ORDER BY 1, 2;
"""


async def test_the_migrated_schema_is_the_one_in_the_tables(
    catalog: Catalog, catalog_url: str, postgresql_server: PostgresqlServer
) -> None:
    migrated = postgresql_server.run(SCHEMA, _database(catalog_url))
    postgresql_server.run("DROP SCHEMA public CASCADE; CREATE SCHEMA public", _database(catalog_url))

    engine = create_async_engine(address_of(catalog_url).url)
    async with engine.begin() as connection:
        await connection.run_sync(metadata.create_all)
    await engine.dispose()

    assert migrated.splitlines() == postgresql_server.run(SCHEMA, _database(catalog_url)).splitlines()
    assert len(migrated.splitlines()) > 200


async def test_every_text_is_ordered_by_code_points(
    catalog: Catalog, catalog_url: str, postgresql_server: PostgresqlServer
) -> None:
    """As SQLite does, and Python, whatever language the database was made for."""
    names = ["a", "a\x00b", "a\x01", "a\x02", "a b", "B", "Z", "é", "ä", "笔", "🐭", ""]
    async with catalog.transaction() as tx:
        await tx.workspaces.ensure(A_WORKSPACE, "Local")
        for name in names:
            await tx.datasets.ensure(A_WORKSPACE, ADA, name)
        await tx.commit()

    async with catalog.reading() as tx:
        owned = await tx.datasets.owned_by(A_WORKSPACE, ADA)

    assert [dataset.name for dataset in owned] == sorted(names)
    unordered = postgresql_server.run(
        "SELECT table_name, column_name FROM information_schema.columns WHERE table_schema = 'public'"
        " AND data_type = 'text' AND collation_name IS DISTINCT FROM 'C'",
        _database(catalog_url),
    )
    assert unordered == ""


async def test_the_servers_clock_counts(unmigrated: SqlCatalog, postgresql_server: PostgresqlServer) -> None:
    def server_ms() -> int:
        return int(postgresql_server.run("SELECT (extract(epoch FROM clock_timestamp()) * 1000)::bigint"))

    before_ms = server_ms()
    async with unmigrated.transaction() as tx:
        now_ms = tx.now_ms

    assert before_ms <= now_ms <= server_ms()


async def test_scrubbing_goes_through_every_table(
    catalog: Catalog, catalog_url: str, postgresql_server: PostgresqlServer
) -> None:
    await _a_stored_job(catalog)

    await catalog.scrub()

    scrubbed = postgresql_server.run(
        "SELECT relname FROM pg_stat_user_tables WHERE last_vacuum IS NOT NULL", _database(catalog_url)
    )
    assert set(scrubbed.split()) == set(metadata.tables)


async def test_many_who_scrub_at_once_share_one_that_began_after_each_of_them(
    catalog: Catalog, catalog_url: str, postgresql_server: PostgresqlServer
) -> None:
    def passes() -> int:
        asked = "SELECT coalesce(max(vacuum_count), 0) FROM pg_stat_user_tables"
        return int(postgresql_server.run(asked, _database(catalog_url)))

    before = passes()
    async with asyncio.TaskGroup() as group:
        for _ in range(20):
            group.create_task(catalog.scrub())

    assert passes() - before == 2  # one had begun when the others came


@pytest.mark.promise("P3")
async def test_a_table_that_another_has_is_waited_for_or_told(
    catalog: Catalog, catalog_url: str, postgresql_server: PostgresqlServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another process's pass may have gone by before the rows went."""
    monkeypatch.setattr(postgresql_module, "VACUUM_LOCK_S", 0.2)
    other = create_async_engine(address_of(catalog_url).url)
    async with other.begin() as connection:
        await connection.exec_driver_sql("LOCK TABLE jobs IN SHARE UPDATE EXCLUSIVE MODE")
        with pytest.raises(CatalogUnavailableError):
            await catalog.scrub()
    await other.dispose()

    await catalog.scrub()


def _database(url: str) -> str:
    return url.rpartition("/")[2]


async def _a_stored_job(catalog: Catalog) -> Job:
    await a_stored_dataset(catalog)
    return await store_job(catalog, a_job(id=new_job_id(), document=None))
