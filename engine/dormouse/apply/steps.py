"""One change through its steps, and what becomes of it when a step fails.

Source: writes §3.
"""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

import structlog

from dormouse import telemetry
from dormouse.apply.decide import Decider
from dormouse.apply.settle import Settler
from dormouse.codec.change_set import ChangeSet
from dormouse.errors import LeaseLostError, UnavailableError
from dormouse.jobs.transition import (
    MAX_ATTEMPTS,
    attempt_pause_ms,
    failure_of,
    passing_pause_ms,
    waited_too_long,
)
from dormouse.model.change import ApplyLease, Change, ChangeKind
from dormouse.model.job import Stage
from dormouse.ports.catalog.transaction import Catalog

log = structlog.get_logger()

CarryOut = Callable[[ApplyLease, Change, ChangeSet], Awaitable[None]]
Clear = Callable[[Change], Awaitable[None]]


@dataclass(frozen=True, slots=True)
class Deeds:
    """`clear` removes what an applied erasure leaves in the blobs; the others carry a change set out."""

    upsert: CarryOut
    erase: CarryOut
    hide: CarryOut
    repair: CarryOut
    clear: Clear


class Steps:
    """`alarm` wakes the sweeper after a workspace was parked."""

    def __init__(
        self,
        catalog: Catalog,
        decider: Decider,
        settler: Settler,
        deeds: Deeds,
        *,
        alarm: Callable[[], None] = lambda: None,
    ) -> None:
        self._catalog = catalog
        self._decider = decider
        self._settler = settler
        self._deeds = deeds
        self._alarm = alarm

    async def take(self, lease: ApplyLease, change: Change) -> bool:
        """Apply the change; False when the workspace has to wait. Raises `LeaseLostError`."""
        if change.attempts >= MAX_ATTEMPTS:
            await self._give_up(lease, change, RuntimeError())
            return True
        try:
            await self.apply(lease, change)
        except LeaseLostError:
            raise
        except UnavailableError as exc:
            return await self._wait(lease, change, exc)
        except Exception as exc:  # noqa: BLE001  the boundary of a change: whatever it was is counted
            return await self._count_attempt(lease, change, exc)
        return True

    async def apply(self, lease: ApplyLease, change: Change) -> None:
        """Decide, carry out, settle; each may be repeated after a crash at any point."""
        change_set = await self._decider.decide(lease, change)
        if change_set is None:
            return
        name, carry_out = self._deed(change.kind)
        attributes: dict[str, str | int] = {
            telemetry.OPERATION: name,
            telemetry.STORE_ID: change.workspace,
            telemetry.RECORD_COUNT: len(change_set.rows.passages) or change_set.counts.erased,
        }
        with telemetry.span(name, attributes, parent=telemetry.origin_of(change.job)):
            await carry_out(lease, change, change_set)
        await self._settler.settle(lease, change, change_set)
        if change.kind.is_erasure:
            await self._deeds.clear(change)

    def _deed(self, kind: ChangeKind) -> tuple[str, CarryOut]:
        if kind.adds:
            return telemetry.UPSERT_MEMORY, self._deeds.upsert
        if kind.is_hiding:
            return telemetry.UPDATE_MEMORY, self._deeds.hide
        if kind is ChangeKind.REPAIR:
            return telemetry.UPDATE_MEMORY, self._deeds.repair
        return telemetry.DELETE_MEMORY, self._deeds.erase

    async def _wait(self, lease: ApplyLease, change: Change, error: UnavailableError) -> bool:
        async with self._catalog.reading() as tx:
            job = await tx.jobs.get(change.job)
            now_ms = tx.now_ms
        if change.kind.adds and waited_too_long(job, now_ms):
            await self._give_up(lease, change, error)
            return True
        log.warning("workspace_parked", workspace=change.workspace, seq=change.seq, code=error.code)
        await self._park(lease, error.code, passing_pause_ms(now_ms - job.accepted_ms, error.retry_after_s))
        return False

    async def _count_attempt(self, lease: ApplyLease, change: Change, error: Exception) -> bool:
        async with self._catalog.transaction() as tx:
            attempts = await tx.changes.count_attempt(lease, change.seq)
            await tx.commit()
        log.warning(
            "change_attempt_failed",
            workspace=change.workspace,
            seq=change.seq,
            attempts=attempts,
            error=type(error).__name__,
        )
        if attempts >= MAX_ATTEMPTS:
            await self._give_up(lease, change, error)
            if not (change.kind.is_erasure or change.kind.is_hiding):
                return True
        await self._park(lease, "internal", attempt_pause_ms(attempts))
        return False

    async def _give_up(self, lease: ApplyLease, change: Change, error: Exception) -> None:
        log.error("change_given_up", workspace=change.workspace, seq=change.seq, kind=change.kind.value)
        await self._settler.give_up(lease, change, failure_of(error, Stage.APPLYING))

    async def _park(self, lease: ApplyLease, reason: str, pause_ms: int) -> None:
        async with self._catalog.transaction() as tx:
            await tx.workspaces.assert_lease(lease)
            await tx.workspaces.park(lease.workspace, tx.now_ms + pause_ms, reason)
            await tx.commit()
        self._alarm()
