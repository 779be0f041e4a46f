"""What is wrong with the parts of a running engine, for people who look for a fault."""

from functools import partial

from dormouse.errors import DormouseError, EmbedderUnavailableError, MisconfiguredError, UnavailableError
from dormouse.model.health import Health
from dormouse.model.rebuild import DerivedStore
from dormouse.model.scope import Scope
from dormouse.ports.bundle import Ports

FULL_BYTES = 10_000_000  # logs and blobs of one write


async def troubles(ports: Ports, scope: Scope) -> Health:
    """Each probe raises a problem, or returns a warning where there is one."""
    problems: list[DormouseError] = []
    warnings: list[DormouseError] = []
    probes = (
        ports.catalog.check,
        partial(_room, ports),
        partial(_graph_and_vectors, ports, scope),
        partial(_blobs, ports, scope),
        partial(_progress, ports, scope),
        partial(_model, ports, scope),
    )
    for probe in probes:
        try:
            warning = await probe()
        except (UnavailableError, MisconfiguredError) as exc:
            problems.append(exc)
        else:
            warnings += [warning] if warning else []
    return Health(tuple(problems), tuple(warnings))


async def _room(ports: Ports) -> None:
    free = ports.free_bytes()
    if free is not None and free < FULL_BYTES:
        raise UnavailableError(
            "the disk of the data folder is full: what is remembered is found, and nothing new is taken in; "
            "free some space"
        )


async def _blobs(ports: Ports, scope: Scope) -> None:
    async for _ in ports.blobs.list(scope.workspace):
        return


async def _progress(ports: Ports, scope: Scope) -> None:
    async with ports.catalog.reading() as tx:
        reason = (await tx.workspaces.get(scope.workspace)).parked_reason
    if reason is not None:
        raise UnavailableError(f"accepted work waits and is tried again by itself ({reason})")


async def _model(ports: Ports, scope: Scope) -> DormouseError | None:
    """The former model goes on answering where it can be had; a move that is under way is told as a rebuild."""
    active, configured = ports.embedders.active, ports.embedders.configured
    if active.model == configured.model:
        return None
    async with ports.catalog.reading() as tx:
        is_moving = (await tx.workspaces.get(scope.workspace)).building is not None
    different = MisconfiguredError(
        f"another embedding model is configured ({configured.model}) than the one that answers "
        f"({active.model}): run `dormouse migrate-embedding`, or configure the former one again",
        setting="EMBEDDING__MODEL",
    )
    try:
        await active.embed_query("dormouse")
    except EmbedderUnavailableError as exc:
        raise exc if is_moving else different from exc
    return None if is_moving else different


async def _graph_and_vectors(ports: Ports, scope: Scope) -> DormouseError | None:
    async with ports.catalog.reading() as tx:
        rebuilds = await tx.history.rebuilds(scope.workspace)
        is_beside = (await tx.workspaces.get(scope.workspace)).building is not None
    if rebuilds:
        names = " and ".join(each.store.value for each in rebuilds)
        told = UnavailableError(f"being rebuilt: {names}; `dormouse jobs` shows how far it is")
        if not is_beside or any(each.store is DerivedStore.GRAPH for each in rebuilds):
            raise told
        await ports.vector_upkeep.marks_after(scope, None, 1)  # raises where the former ones are lost
        return told
    await _compare(ports, scope)
    return None


async def _compare(ports: Ports, scope: Scope) -> None:
    passages = (await ports.graph.count(scope)).passages
    points = await ports.vectors.count(scope)
    if passages == points:
        return
    async with ports.catalog.reading() as tx:
        is_at_rest = await tx.past.unapplied_count(scope.workspace) == 0
    if is_at_rest and (await ports.graph.count(scope)).passages == passages:
        raise MisconfiguredError(
            f"the graph holds {passages} passages and the vectors {points}: `dormouse audit` names what "
            "differs, and `dormouse doctor --repair` puts it right"
        )
