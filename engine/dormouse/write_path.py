"""The write path put together: from the ports to everything that accepts, extracts, applies and erases.

The activities know nothing of each other; here one is handed to another.
"""

from collections.abc import Callable
from dataclasses import dataclass

from dormouse.apply.counted import CountedTerms
from dormouse.apply.decide import Decider
from dormouse.apply.loop import Applier, Duties
from dormouse.apply.settle import Settler
from dormouse.apply.steps import Deeds, Steps
from dormouse.apply.takeover import Takeover
from dormouse.apply.write import StoreWriter
from dormouse.audit.accept import RepairAcceptor
from dormouse.audit.repair import Repairer
from dormouse.codec.change_set import ChangeSet
from dormouse.forget.accept import ForgetAcceptor
from dormouse.forget.erase import Eraser
from dormouse.forget.hide import Hider
from dormouse.forget.suppress import SuppressAcceptor
from dormouse.ingest.accept import Acceptor
from dormouse.ingest.derive import Derivation
from dormouse.ingest.enrich import EnrichLimits, EnrichWorker
from dormouse.ingest.extract import ExtractWorker
from dormouse.ingest.ontologies import Ontologies
from dormouse.ingest.outcome import Outcomes
from dormouse.ingest.prepare import Preparation
from dormouse.ingest.stage import Stager
from dormouse.ingest.sweep import Sweeper
from dormouse.jobs.fenced_call import FencedCalls, Patience
from dormouse.model.change import ApplyLease, Change, ChangeKind
from dormouse.model.rebuild import DerivedStore
from dormouse.ports.bundle import Ports
from dormouse.rebuild.backfill import Backfill
from dormouse.rebuild.contents import ContentsReader
from dormouse.rebuild.embed_again import EmbedAgain
from dormouse.rebuild.followers import Follower, GraphFollower, VectorFollower
from dormouse.rebuild.parts import ModelParts


@dataclass(frozen=True, slots=True)
class WritePath:
    """Acceptors for callers, and the loops that do what was accepted; `steps` applies one change, `backfill`
    follows some when a store is made anew. `enricher` is None where no language model derives memories."""

    acceptor: Acceptor
    stager: Stager
    forgetter: ForgetAcceptor
    suppressor: SuppressAcceptor
    repairs: RepairAcceptor
    extractor: ExtractWorker
    steps: Steps
    applier: Applier
    backfill: Backfill
    embed_again: EmbedAgain
    sweeper: Sweeper
    enricher: EnrichWorker | None = None


@dataclass(frozen=True, slots=True)
class Slots:
    """How many jobs are extracted and workspaces applied at once."""

    jobs: int = 2
    workspaces: int = 2


def write_path(
    ports: Ports,
    *,
    holder: str,
    patience: Patience,
    slots: Slots = Slots(),
    limits: EnrichLimits = EnrichLimits(),  # noqa: B008 - frozen
) -> WritePath:
    """`holder` names this process in leases and must be new with every start."""
    catalog, blobs, bus = ports.catalog, ports.blobs, ports.bus
    sweeper = Sweeper(catalog, blobs, bus, ports.directory, ports.clock)
    ontologies = Ontologies(catalog, blobs, ports.ontology_reader)
    preparation = Preparation(catalog, blobs, ports.embedders, ports.extractor, ports.reader, ontologies)
    outcomes = Outcomes(catalog, blobs, ports.clock, holder=holder, alarm=sweeper.wake)
    calls = FencedCalls(catalog, patience)
    parts = ModelParts(catalog, blobs, ports.embedders)
    enricher = _enricher(ports, ontologies, holder, limits)
    steps, takeover = _applying(ports, calls, parts, patience, _Alarms(sweeper.wake, enricher))
    backfill = _backfill(ports, calls, parts)
    return WritePath(
        acceptor=Acceptor(catalog, blobs, bus, ports.clock),
        stager=Stager(catalog, bus),
        forgetter=ForgetAcceptor(catalog, bus),
        suppressor=SuppressAcceptor(catalog, bus),
        repairs=RepairAcceptor(catalog, bus, sweeper.sweep_blobs),
        extractor=ExtractWorker(catalog, bus, preparation, outcomes, slots=slots.jobs),
        steps=steps,
        applier=Applier(
            catalog,
            bus,
            Duties(takeover, steps, backfill.step),
            holder=holder,
            slots=slots.workspaces,
        ),
        backfill=backfill,
        embed_again=EmbedAgain(catalog, bus, parts, ports.directory),
        sweeper=sweeper,
        enricher=enricher,
    )


@dataclass(frozen=True, slots=True)
class _Alarms:
    """Who is woken when something was parked, and when something became searchable."""

    sweeper: Callable[[], None]
    enricher: EnrichWorker | None


def _enricher(ports: Ports, ontologies: Ontologies, holder: str, limits: EnrichLimits) -> EnrichWorker | None:
    if ports.deriver is None:
        return None
    derivation = Derivation(ports.catalog, ports.blobs, ports.embedders, ports.deriver, ontologies)
    # Another holder than extraction's: a release of the one must not end the other's lease.
    outcomes = Outcomes(ports.catalog, ports.blobs, ports.clock, holder=f"{holder}:enrich")
    return EnrichWorker(ports.catalog, ports.bus, derivation, outcomes, limits)


def _backfill(ports: Ports, calls: FencedCalls, parts: ModelParts) -> Backfill:
    followers: dict[DerivedStore, Follower] = {
        DerivedStore.GRAPH: GraphFollower(ports.graph, ports.renewal, calls),
        DerivedStore.VECTORS: VectorFollower(ports.catalog, parts, ports.collections, ports.embedders, calls),
    }
    return Backfill(ports.catalog, ContentsReader(ports.blobs), followers)


def _applying(
    ports: Ports, calls: FencedCalls, parts: ModelParts, patience: Patience, alarms: _Alarms
) -> tuple[Steps, Takeover]:
    catalog, graph, vectors, blobs = ports.catalog, ports.graph, ports.vectors, ports.blobs
    counted = CountedTerms(catalog, blobs)
    eraser = Eraser(catalog, graph, vectors, blobs, calls, counted.removal)
    hider = Hider(catalog, graph, ports.vector_upkeep, calls, counted.share)
    repairer = Repairer(ports, calls)

    async def plan(change: Change) -> ChangeSet:
        if change.kind is ChangeKind.REPAIR:
            return await repairer.plan(change)
        return await (hider if change.kind.is_hiding else eraser).plan(change)

    async def again(lease: ApplyLease, change: Change) -> None:
        await (hider if change.kind.is_hiding else eraser).again(lease, change)

    steps = Steps(
        catalog,
        Decider(catalog, graph, blobs, counted, plan),
        Settler(catalog, blobs, enrich=alarms.enricher.wake if alarms.enricher else None),
        Deeds(
            upsert=StoreWriter(graph, vectors, parts.active_part, calls).write,
            erase=eraser.erase,
            hide=hider.hide,
            repair=repairer.repair,
            clear=eraser.clear,
        ),
        alarm=alarms.sweeper,
    )
    return steps, Takeover(catalog, graph, calls, patience, again)
