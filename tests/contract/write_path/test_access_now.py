"""A write is decided on what is true when it commits, not when its caller's scope was made. Promise P5.

Between making the scope and the write, the owner takes the grant back or forgets the dataset.
"""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, cast

import pytest

from dormouse import compose
from dormouse.access import lookup, sharing
from dormouse.adapters.workspace_directory.local import LOCAL_WORKSPACE
from dormouse.errors import ForbiddenError, NotFoundError, SupersededError
from dormouse.ids import BlobKey, DocumentId
from dormouse.ingest.accept import Acceptor
from dormouse.jobs.progress import fail
from dormouse.model.audit import AuditReport, Drift, Finding
from dormouse.model.dataset import Dataset
from dormouse.model.job import JobFailure, Stage
from dormouse.model.scope import Permission, Scope
from dormouse.ports.blob_store import BlobStore
from dormouse.settings import EngineSettings
from tests.builders import A_PRINCIPAL, ANOTHER_PRINCIPAL, a_content
from tests.contract.write_path.world import DATASET, World
from tests.promises import promise


@dataclass(frozen=True, slots=True)
class Shared:
    """A dataset with one item, and the scope of a guest as it was while the guest could forget in it."""

    world: World
    dataset: Dataset
    document: DocumentId
    guest: Scope


Write = Callable[[Shared], Awaitable[Any]]

WRITES: dict[str, Write] = {
    "remember": lambda at: at.world.path.acceptor.remember(at.guest, at.dataset, a_content("Eve was here.")),
    "stage": lambda at: at.world.path.acceptor.stage(at.guest, at.dataset, a_content("Eve was here.")),
    "replace": lambda at: at.world.path.acceptor.replace(
        at.guest, at.dataset, at.document, a_content("Eve was here.")
    ),
    "take up": lambda at: at.world.path.stager.take_up_all(at.guest, at.dataset, {}),
    "suppress": lambda at: at.world.path.suppressor.suppress_item(at.guest, at.dataset.id, at.document),
    "restore": lambda at: at.world.path.suppressor.restore_item(at.guest, at.dataset.id, at.document),
    "forget an item's memory": lambda at: at.world.path.forgetter.forget_item_memory(
        at.guest, at.dataset.id, at.document
    ),
    "forget a dataset's memory": lambda at: at.world.path.forgetter.forget_dataset_memory(
        at.guest, at.dataset.id
    ),
    "forget item": lambda at: at.world.path.forgetter.forget_item(at.guest, at.dataset.id, at.document),
    "forget dataset": lambda at: at.world.path.forgetter.forget_dataset(at.guest, at.dataset.id),
}


@pytest.fixture
async def shared(world: World) -> Shared:
    receipt = await world.remember("Ada keeps a cat.", external_id="cat")
    assert receipt.document is not None
    await world.work()
    dataset = await world.dataset_row(DATASET)
    await _granted(world, dataset, Permission.DELETE)
    async with world.ports.catalog.reading() as tx:
        guest = await lookup.scope_of(tx, ANOTHER_PRINCIPAL, LOCAL_WORKSPACE)
    return Shared(world, dataset, receipt.document.id, guest)


async def _granted(world: World, dataset: Dataset, permission: Permission | None) -> None:
    await sharing.share(world.ports.catalog, await world.scope(), dataset.id, ANOTHER_PRINCIPAL, permission)


async def _revoked(shared: Shared) -> None:
    await _granted(shared.world, shared.dataset, None)


async def _read_only(shared: Shared) -> None:
    await _granted(shared.world, shared.dataset, Permission.READ)


async def _forgotten(shared: Shared) -> None:
    await shared.world.forget_dataset()


@promise("P5")
@pytest.mark.parametrize("happened", [_revoked, _read_only, _forgotten])
async def test_a_grant_that_is_gone_at_the_commit_lets_nothing_be_written(
    shared: Shared, happened: Callable[[Shared], Awaitable[None]]
) -> None:
    await happened(shared)
    before = await shared.world.state("Ada cat Eve")

    for write in WRITES.values():
        with pytest.raises(ForbiddenError):
            await write(shared)

    assert await shared.world.state("Ada cat Eve") == before
    async with shared.world.ports.catalog.reading() as tx:
        assert await tx.jobs.listing(LOCAL_WORKSPACE, ANOTHER_PRINCIPAL) == []


@promise("P5")
async def test_what_is_left_of_a_grant_at_the_commit_still_lets_its_holder_write_but_not_forget(
    shared: Shared,
) -> None:
    await _granted(shared.world, shared.dataset, Permission.WRITE)

    for name in (each for each in WRITES if each.startswith("forget")):
        with pytest.raises(ForbiddenError):
            await WRITES[name](shared)
    for name in ("remember", "suppress", "restore"):
        await WRITES[name](shared)


async def test_a_grant_that_stands_lets_its_holder_write(shared: Shared) -> None:
    for write in WRITES.values():
        await write(shared)


async def test_a_dataset_the_scope_never_showed_does_not_exist(shared: Shared) -> None:
    stranger = replace(shared, guest=shared.guest.narrowed_to([]))

    for write in WRITES.values():
        with pytest.raises(NotFoundError):
            await write(stranger)


async def test_a_repair_leaves_out_what_is_no_longer_shared(shared: Shared) -> None:
    damage = Finding(Drift.PASSAGE_MISSING, 1, shared.dataset.id, shared.document, ())
    report = AuditReport((damage,), datasets=1, documents=1, passages=1)
    await _revoked(shared)

    assert await shared.world.path.repairs.repair(shared.guest, report) == []


class _ForgettingBlobs:
    """The blobs, but while something is read from them the dataset is forgotten."""

    def __init__(self, world: World) -> None:
        self._world = world

    def __getattr__(self, name: str) -> object:
        return getattr(self._world.ports.blobs, name)

    async def get(self, key: BlobKey) -> bytes:
        body = await self._world.ports.blobs.get(key)
        await self._world.forget_dataset()
        return body


async def test_a_retry_brings_nothing_back_that_was_forgotten_while_it_was_read(world: World) -> None:
    receipt = await world.remember("Ada hid the key. " * 2_000, external_id="key")
    async with world.ports.catalog.transaction() as tx:
        await tx.changes.lock(LOCAL_WORKSPACE)
        await fail(tx, receipt.job, JobFailure("internal", "it broke", retryable=True, stage=Stage.EXTRACTING))
        await tx.commit()
    ports = world.ports
    acceptor = Acceptor(ports.catalog, cast("BlobStore", _ForgettingBlobs(world)), ports.bus, ports.clock)

    with pytest.raises(SupersededError):
        await acceptor.retry(await world.scope(), receipt.job.id)

    assert await world.documents() == []


async def test_an_entry_is_not_bound_to_a_dataset_whose_grant_is_gone(tmp_path: Path) -> None:
    """Between the lookup of the dataset and the entry's own transaction."""
    async with compose.open_ports(EngineSettings(data_dir=tmp_path)) as ports:
        engine = compose.assemble(ports)
        owner = await engine.scope_of(A_PRINCIPAL)
        dataset = await engine.create_dataset(owner, "notes")
        owner = await engine.scope_of(A_PRINCIPAL)
        await engine.share(owner, dataset.id, ANOTHER_PRINCIPAL, Permission.WRITE)
        guest = await engine.scope_of(ANOTHER_PRINCIPAL)
        await engine.share(owner, dataset.id, ANOTHER_PRINCIPAL, None)

        with pytest.raises(ForbiddenError):
            await engine.remember_in_session(guest, "chat", "Eve was here.", dataset=dataset.id)

        assert (await engine.sessions(guest)).sessions == ()
