"""The write path put together: from the ports to everything that accepts, extracts, applies and erases.

The activities know nothing of each other; here one is handed to another.
"""

from dataclasses import dataclass

from dormouse.apply.counted import CountedTerms
from dormouse.apply.decide import Decider
from dormouse.apply.loop import Applier
from dormouse.apply.settle import Settler
from dormouse.apply.steps import Deeds, Steps
from dormouse.apply.takeover import Takeover
from dormouse.apply.write import StoreWriter
from dormouse.codec.change_set import ChangeSet
from dormouse.forget.accept import ForgetAcceptor
from dormouse.forget.erase import Eraser
from dormouse.forget.hide import Hider
from dormouse.forget.suppress import SuppressAcceptor
from dormouse.ingest.accept import Acceptor
from dormouse.ingest.extract import ExtractWorker
from dormouse.ingest.outcome import Outcomes
from dormouse.ingest.prepare import Preparation
from dormouse.ingest.stage import Stager
from dormouse.ingest.sweep import Sweeper
from dormouse.jobs.fenced_call import FencedCalls, Patience
from dormouse.model.change import ApplyLease, Change
from dormouse.ports.bundle import Ports


@dataclass(frozen=True, slots=True)
class WritePath:
    """Acceptors for callers, and the three loops that do what was accepted; `steps` applies one change."""

    acceptor: Acceptor
    stager: Stager
    forgetter: ForgetAcceptor
    suppressor: SuppressAcceptor
    extractor: ExtractWorker
    steps: Steps
    applier: Applier
    sweeper: Sweeper


def write_path(
    ports: Ports, *, holder: str, patience: Patience, jobs: int = 2, workspaces: int = 2
) -> WritePath:
    """`holder` names this process in leases and must be new with every start; `jobs` are extracted and
    `workspaces` applied at once."""
    catalog, blobs, bus = ports.catalog, ports.blobs, ports.bus
    sweeper = Sweeper(catalog, blobs, bus, ports.directory, ports.clock)
    preparation = Preparation(catalog, blobs, ports.embedder, ports.extractor, ports.reader)
    outcomes = Outcomes(catalog, blobs, ports.clock, holder=holder, alarm=sweeper.wake)
    steps, takeover = _applying(ports, sweeper, patience)
    return WritePath(
        acceptor=Acceptor(catalog, blobs, bus, ports.clock),
        stager=Stager(catalog, bus),
        forgetter=ForgetAcceptor(catalog, bus),
        suppressor=SuppressAcceptor(catalog, bus),
        extractor=ExtractWorker(catalog, bus, preparation, outcomes, slots=jobs),
        steps=steps,
        applier=Applier(catalog, bus, steps, takeover, holder=holder, slots=workspaces),
        sweeper=sweeper,
    )


def _applying(ports: Ports, sweeper: Sweeper, patience: Patience) -> tuple[Steps, Takeover]:
    catalog, graph, vectors, blobs = ports.catalog, ports.graph, ports.vectors, ports.blobs
    calls = FencedCalls(catalog, patience)
    counted = CountedTerms(catalog, blobs)
    eraser = Eraser(catalog, graph, vectors, blobs, calls, counted.removal)
    hider = Hider(catalog, graph, ports.vector_upkeep, calls, counted.share)

    async def plan(change: Change) -> ChangeSet:
        return await (hider if change.kind.is_hiding else eraser).plan(change)

    async def again(lease: ApplyLease, change: Change) -> None:
        await (hider if change.kind.is_hiding else eraser).again(lease, change)

    steps = Steps(
        catalog,
        Decider(catalog, graph, blobs, counted, plan),
        Settler(catalog, blobs),
        Deeds(StoreWriter(graph, vectors, blobs, calls).write, eraser.erase, hider.hide, eraser.clear),
        alarm=sweeper.wake,
    )
    return steps, Takeover(catalog, graph, calls, patience, again)
