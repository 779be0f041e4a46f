"""What a language model derived is audited and repaired like what was said. Promise P4."""

import sqlite3
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from dormouse.adapters.embedder.onnx import OnnxEmbedder
from dormouse.adapters.workspace_directory.local import LOCAL_WORKSPACE
from dormouse.audit.compare import differences
from dormouse.ids import BlobKey, DocumentId, PassageId
from dormouse.model.audit import AuditReport, Drift
from dormouse.model.change import ChangeKind, Erasure
from dormouse.model.scope import Fence
from tests.contract.write_path.scripted_deriver import ScriptedDeriver
from tests.contract.write_path.world import World, opened
from tests.hand_clock import HandClock
from tests.promises import promise

CAT = "Grace keeps a cat."
LATE = Fence(LOCAL_WORKSPACE, 1, 1_000_000)


@pytest.fixture
async def world(tmp_path: Path, clock: HandClock, embedder: OnnxEmbedder) -> AsyncIterator[World]:
    async with opened(tmp_path, clock, embedder, deriver=ScriptedDeriver()) as found:
        yield found


async def fill(world: World) -> DocumentId:
    """An item that was updated and one that was not, both enriched; the id of the second."""
    await world.remember("# Harbour\n\nAda lives in Paris.\n\n# Rota\n\nLin rows.", external_id="ada")
    await world.work()
    await world.remember("# Harbour\n\nAda lives in Lisbon.\n\n# Rota\n\nLin rows.", external_id="ada")
    receipt = await world.remember(CAT, external_id="cat")
    await world.work()
    assert receipt.document is not None
    return receipt.document.id


def in_graph(world: World, statement: str) -> None:
    with closing(sqlite3.connect(world.folder / "graph" / "graph.sqlite3", timeout=5)) as db, db:
        assert db.execute(statement).rowcount > 0


def found(report: AuditReport) -> set[Drift]:
    return {each.drift for each in report.findings}


def derived(world: World) -> PassageId:
    """From the cat."""
    with closing(sqlite3.connect(world.folder / "graph" / "graph.sqlite3", timeout=5)) as db:
        ((id_,),) = db.execute(
            "SELECT id FROM passages WHERE kind = 'derived' AND text LIKE '%cat.'"
        ).fetchall()
    return PassageId(id_)


async def windows_of(world: World, document: DocumentId) -> list[BlobKey]:
    async with world.ports.catalog.reading() as tx:
        changes = await tx.past.applied_to(document)
    return [each.blob for each in changes if each.kind is ChangeKind.ENRICH and each.blob]


async def lose_passage(world: World) -> None:
    in_graph(world, "DELETE FROM passages WHERE kind = 'derived' AND text LIKE '%cat.'")


async def change_passage(world: World) -> None:
    in_graph(world, "UPDATE passages SET text = 'Derived: dogs.' WHERE kind = 'derived' AND text LIKE '%cat.'")


async def lose_memory(world: World) -> None:
    in_graph(world, "DELETE FROM versions WHERE derived_by != ''")


async def lose_point(world: World) -> None:
    await world.lose_point(derived(world))


async def age_point(world: World) -> None:
    (stored,) = await world.ports.vector_upkeep.points(await world.scope(), [derived(world)])
    aged = replace(stored, last_revision=7, first_revision=7)
    await world.ports.vectors.upsert(await world.scope(), replace(LATE, seq=99), [aged])


async def hide_point(world: World) -> None:
    (stored,) = await world.ports.vector_upkeep.points(await world.scope(), [derived(world)])
    await world.ports.vectors.upsert(
        await world.scope(), replace(LATE, seq=99), [replace(stored, is_hidden=True)]
    )


async def leave_what_an_update_took_out(world: World) -> None:
    in_graph(
        world,
        "INSERT INTO passages SELECT '00000000-0000-4000-8000-000000000000', workspace, dataset, document, "
        "dataset_generation, first_revision, last_revision, kind, position, session, 'Derived: old.', heading, "
        "previous, speaker, role, language, occurred_ms, offset_minutes, precision, external_id, "
        "document_name, seq FROM passages WHERE kind = 'derived' AND text LIKE '%cat.'",
    )


PLANTED: dict[Drift, Callable[[World], Awaitable[None]]] = {
    Drift.PASSAGE_MISSING: lose_passage,
    Drift.PASSAGE_CHANGED: change_passage,
    Drift.PASSAGE_UNKNOWN: leave_what_an_update_took_out,
    Drift.MEMORY_MISSING: lose_memory,
    Drift.POINT_MISSING: lose_point,
    Drift.POINT_CHANGED: age_point,
    Drift.POINT_HIDDEN: hide_point,
}


@promise("P4")
@pytest.mark.parametrize("drift", PLANTED, ids=str)
async def test_a_drift_of_what_was_derived_is_found_and_repaired(world: World, drift: Drift) -> None:
    await fill(world)
    before = await world.export()
    assert found(await world.audit()) == set()
    await PLANTED[drift](world)

    report = await world.audit()

    assert found(report) == {drift}
    assert found(await world.repair()) == set()
    assert differences(before, await world.export()) == []


@promise("P4")
async def test_what_was_derived_is_hidden_and_shown_with_its_item(world: World) -> None:
    document = await fill(world)
    before = await world.export()
    await world.suppress(document)
    await world.work()
    hidden = await world.audit()
    what = Erasure(await world.dataset(), document)
    await world.ports.vector_upkeep.hide(await world.scope(), LATE, what, is_hidden=False)
    shown = await world.audit()
    repaired = await world.repair()

    await world.restore(document)
    await world.work()

    assert (found(hidden), found(shown), found(repaired)) == (set(), {Drift.POINT_SHOWN}, set())
    assert found(await world.audit()) == set()
    assert differences(before, await world.export()) == []


async def test_what_is_derived_while_an_item_is_hidden_is_no_drift(world: World) -> None:
    receipt = await world.remember(CAT)
    await world.extract()
    await world.apply()
    assert receipt.document is not None
    await world.suppress(receipt.document.id)
    await world.work()

    assert found(await world.audit()) == set()
    assert (await world.state("cat")).hidden == 2


@promise("P3")
async def test_a_forget_of_what_was_enriched_leaves_nothing_to_find(world: World) -> None:
    document = await fill(world)

    await world.forget(document)
    await world.work()

    report = await world.audit()
    assert (found(report), report.documents) == (set(), 1)
    await world.forget_dataset()
    await world.work()
    assert found(await world.audit()) == set()


async def test_an_audit_counts_what_was_said_and_not_what_was_derived(world: World) -> None:
    await fill(world)

    report = await world.audit()

    assert report.passages == len(await world.passages())


async def test_a_lost_window_is_named_and_nothing_is_thrown_away_for_it(world: World) -> None:
    document = await fill(world)
    (window,) = await windows_of(world, document)
    before = await world.ports.vectors.count(await world.scope())
    (world.folder / "blobs" / window).unlink()

    report = await world.audit()

    assert found(report) == {Drift.BLOB_MISSING}
    assert found(await world.repair()) == {Drift.BLOB_MISSING}
    assert await world.ports.vectors.count(await world.scope()) == before


async def test_what_rules_find_where_a_model_spoke_is_not_missed(world: World) -> None:
    """An update by other rules keeps what the model said, and does not write what they found."""
    await fill(world)
    with closing(sqlite3.connect(world.folder / "graph" / "graph.sqlite3", timeout=5)) as db, db:
        db.execute("DELETE FROM versions WHERE derived_by = ''")

    assert found(await world.audit()) == set()
