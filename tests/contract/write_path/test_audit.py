"""Every drift is planted behind everybody's back in real stores, found, named and repaired. Promise P4."""

import sqlite3
from collections.abc import Awaitable, Callable
from contextlib import closing
from dataclasses import replace

import pytest

from dormouse.adapters.workspace_directory.local import LOCAL_WORKSPACE
from dormouse.audit.auditor import LONG_MS, YOUNG_BLOB_MS
from dormouse.audit.compare import content_hash, differences
from dormouse.ids import BlobKey, DatasetId, DocumentId, JobId, PassageId
from dormouse.model.audit import AuditReport, Drift, Finding
from dormouse.model.change import Erasure
from dormouse.model.passage import Point
from dormouse.model.scope import Fence
from tests.builders import some_vectors
from tests.contract.write_path.world import World, after_leases_ran_out
from tests.promises import promise

PAGE = "# Harbour\n\nAda Lovelace moved to London in 2024.\n\n# Rota\n\nGrace Hopper works on Mondays."
LATE = Fence(LOCAL_WORKSPACE, 1, 1_000_000)


async def fill(world: World) -> DocumentId:
    """Three items: one updated, one suppressed."""
    await world.remember("# Harbour\n\nAda Lovelace lives in Paris.", filename="plan.md")
    await world.work()
    receipt = await world.remember(PAGE, filename="plan.md")
    await world.remember("Bob keeps a cat.", external_id="cat")
    hidden = await world.remember("Carol keeps a secret.", external_id="secret")
    await world.work()
    assert hidden.document is not None
    await world.suppress(hidden.document.id)
    await world.work()
    assert receipt.document is not None
    return receipt.document.id


def in_graph(world: World, statement: str) -> None:
    with closing(sqlite3.connect(world.folder / "graph" / "graph.sqlite3", timeout=5)) as db, db:
        assert db.execute(statement).rowcount > 0


def in_catalog(world: World, statement: str) -> None:
    with closing(sqlite3.connect(world.folder / "catalog.db", timeout=5)) as db, db:
        assert db.execute(statement).rowcount > 0


def found(report: AuditReport) -> set[Drift]:
    return {each.drift for each in report.findings}


async def lose_passage(world: World) -> None:
    in_graph(world, "DELETE FROM passages WHERE text LIKE '%Grace%'")


async def change_passage(world: World) -> None:
    in_graph(world, "UPDATE passages SET text = 'Grace Hopper works on Sundays.' WHERE text LIKE '%Grace%'")


async def add_passage(world: World) -> None:
    in_graph(
        world,
        "INSERT INTO passages SELECT '00000000-0000-4000-8000-000000000000', workspace, dataset, document, "
        "dataset_generation, first_revision, last_revision, kind, 99, session, 'Nobody said so.', heading, "
        "previous, speaker, role, language, occurred_ms, offset_minutes, precision, external_id, "
        "document_name, seq FROM passages WHERE text LIKE '%Grace%'",
    )


async def lose_memories(world: World) -> None:
    in_graph(world, "DELETE FROM versions")


async def leave_stray(world: World) -> None:
    in_graph(
        world,
        "INSERT INTO entities SELECT 'stray', workspace, dataset, 'Nobody', 'nobody', 'thing', 1 "
        "FROM passages LIMIT 1",
    )


async def lose_point(world: World) -> None:
    await world.lose_point((await world.passages())[0].id)


async def add_point(world: World) -> None:
    passage = replace((await world.passages())[0], id=_another((await world.passages())[0].id))
    await world.ports.vectors.upsert(
        await world.scope(), LATE, [Point.of(passage, some_vectors(), is_hidden=False)]
    )


async def age_point(world: World) -> None:
    (passage, *_) = [each for each in await world.passages() if "Grace" in each.text]
    (stored,) = await world.ports.vector_upkeep.points(await world.scope(), [passage.id])
    await world.ports.vectors.upsert(
        await world.scope(), replace(LATE, seq=99), [replace(stored, last_revision=1, first_revision=1)]
    )


async def show_point(world: World) -> None:
    for document in await world.documents():
        if document.is_suppressed:
            what = Erasure(document.dataset, document.id)
            await world.ports.vector_upkeep.hide(await world.scope(), LATE, what, is_hidden=False)


async def hide_point(world: World) -> None:
    for document in await world.documents():
        what = Erasure(document.dataset, document.id)
        await world.ports.vector_upkeep.hide(await world.scope(), LATE, what, is_hidden=True)


async def miscount(world: World) -> None:
    in_catalog(
        world, "UPDATE term_counts SET passages = passages + 1 WHERE term = (SELECT min(term) FROM term_counts)"
    )


async def miscount_all(world: World) -> None:
    in_catalog(world, "UPDATE term_totals SET passages = passages + 5")


async def leave_rows_of_a_forgotten_item(world: World) -> None:
    receipt = await world.remember("Dave was here.", external_id="dave")
    await world.work()
    assert receipt.document is not None
    (passage,) = [each for each in await world.passages() if each.document == receipt.document.id]
    points = await world.ports.vector_upkeep.points(await world.scope(), [passage.id])
    await world.forget(receipt.document.id)
    await world.work()
    await world.ports.vectors.upsert(await world.scope(), LATE, points)


def _named(document: DocumentId, dataset: DatasetId) -> list[Finding]:
    return [
        Finding(Drift.POINT_MISSING, 1, dataset, document),
        Finding(Drift.TERMS_WRONG, 1, dataset),
    ]


async def _parts_of(world: World, document: DocumentId) -> list[BlobKey]:
    async with world.ports.catalog.reading() as tx:
        found = await tx.documents.get(document)
        assert found is not None
        revision = await tx.revisions.get(document, found.searchable_revision)
        assert revision is not None
        return [part.blob for part in await tx.work.parts(revision.job)]


def _another(id_: str) -> PassageId:
    return PassageId(("0" if id_[0] != "0" else "1") + id_[1:])


PLANTED: dict[Drift, Callable[[World], Awaitable[None]]] = {
    Drift.PASSAGE_MISSING: lose_passage,
    Drift.PASSAGE_CHANGED: change_passage,
    Drift.PASSAGE_UNKNOWN: add_passage,
    Drift.MEMORY_MISSING: lose_memories,
    Drift.GRAPH_STRAY: leave_stray,
    Drift.POINT_MISSING: lose_point,
    Drift.POINT_UNKNOWN: add_point,
    Drift.POINT_CHANGED: age_point,
    Drift.POINT_SHOWN: show_point,
    Drift.POINT_HIDDEN: hide_point,
    Drift.TERMS_WRONG: miscount,
    Drift.LEFTOVER: leave_rows_of_a_forgotten_item,
}


@promise("P4")
@pytest.mark.parametrize("drift", PLANTED, ids=str)
async def test_a_planted_drift_is_found_named_and_repaired(world: World, drift: Drift) -> None:
    await fill(world)
    before = await world.export()
    assert found(await world.audit()) == set()
    await PLANTED[drift](world)

    report = await world.audit()

    assert drift in found(report)
    assert all(each.dataset is not None and each.count > 0 for each in report.findings)
    assert found(await world.repair()) == set()
    assert differences(before, await world.export()) == []


@promise("P4")
async def test_an_audit_and_a_repair_of_what_is_sound_change_nothing(world: World) -> None:
    document = await fill(world)
    before = content_hash(await world.export())

    report = await world.audit()

    assert (report.is_sound, report.documents, report.unsettled) == (True, 3, ())
    everything = replace(report, findings=tuple(_named(document, await world.dataset())))
    await world.path.repairs.repair(await world.scope(), everything)
    await world.work()
    assert content_hash(await world.export()) == before
    assert (await world.audit()).is_sound


async def test_a_wrong_number_of_passages_is_counted_again(world: World) -> None:
    await fill(world)
    await miscount_all(world)

    assert found(await world.audit()) == {Drift.TERMS_WRONG}
    assert (await world.repair()).is_sound


async def test_writes_on_their_way_are_no_drift(world: World) -> None:
    """Half of an item is applied, and a forget waits."""
    document = await fill(world)
    await world.remember("\n\n".join(f"# {n}\n\nPage {n} of the log." for n in range(150)), filename="log.md")
    await world.extract()
    await world.apply_some(1)
    await world.forget(document)

    report = await world.audit()

    assert found(report) == set()
    assert report.unsettled == (await world.dataset(),)
    after_leases_ran_out(world.clock)
    await world.work()
    assert (await world.audit()).is_sound


async def test_a_repair_behind_a_forget_brings_nothing_back(world: World) -> None:
    document = await fill(world)
    await lose_passage(world)
    report = await world.audit()
    await world.forget(document)

    await world.path.repairs.repair(await world.scope(), report)
    await world.work()

    assert not any(each.document == document for each in await world.passages())
    assert (await world.audit()).is_sound


async def test_lost_and_damaged_blobs_are_named_and_nothing_is_thrown_away_for_them(world: World) -> None:
    document = await fill(world)
    parts = await _parts_of(world, document)
    (world.folder / "blobs" / parts[-1]).unlink()

    report = await world.audit()

    assert Drift.BLOB_MISSING in found(report)
    assert Drift.PASSAGE_UNKNOWN not in found(report)
    before = len(await world.passages())
    assert found(await world.repair()) == {Drift.BLOB_MISSING}
    assert len(await world.passages()) == before


async def test_a_damaged_blob_is_told_from_a_lost_one(world: World) -> None:
    document = await fill(world)
    parts = await _parts_of(world, document)
    (world.folder / "blobs" / parts[-1]).write_bytes(b"damaged")

    assert Drift.BLOB_DAMAGED in found(await world.audit())


async def test_old_blobs_that_nothing_names_are_counted_and_removed(world: World) -> None:
    await fill(world)
    key = await world.ports.blobs.put(LOCAL_WORKSPACE, JobId("nobody"), b"left behind")
    assert (await world.audit()).is_sound
    world.clock.advance(1000 * YOUNG_BLOB_MS)

    assert Drift.BLOB_UNNAMED in found(await world.audit())
    await world.repair()
    assert key not in await world.blobs()


async def test_a_change_that_waits_for_long_is_told(world: World) -> None:
    await fill(world)
    await world.remember("Nobody applies this.")
    await world.extract()
    world.clock.advance(LONG_MS + 1)

    assert found(await world.audit()) == {Drift.CHANGE_WAITING}


async def test_a_counter_behind_its_log_is_told(world: World) -> None:
    await fill(world)
    in_catalog(world, "UPDATE change_counters SET last_seq = 1")

    assert Drift.CHANGES_MISNUMBERED in found(await world.audit())
