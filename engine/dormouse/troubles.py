"""What is wrong with the parts of a running engine, for people who look for a fault."""

from collections.abc import Sequence
from functools import partial

from dormouse.errors import DormouseError, MisconfiguredError, UnavailableError
from dormouse.model.scope import Scope
from dormouse.ports.bundle import Ports


async def troubles(ports: Ports, scope: Scope) -> Sequence[DormouseError]:
    """What each store that does not answer says, and whether graph and vectors hold the same; empty when all
    is well."""
    found: list[DormouseError] = []
    probes = (
        ports.catalog.check,
        partial(_graph_and_vectors, ports, scope),
        partial(_blobs, ports, scope),
        partial(_progress, ports, scope),
        partial(_model, ports, scope),
    )
    for probe in probes:
        try:
            await probe()
        except (UnavailableError, MisconfiguredError) as exc:
            found.append(exc)
    return found


async def _blobs(ports: Ports, scope: Scope) -> None:
    async for _ in ports.blobs.list(scope.workspace):
        return


async def _progress(ports: Ports, scope: Scope) -> None:
    async with ports.catalog.reading() as tx:
        reason = (await tx.workspaces.get(scope.workspace)).parked_reason
    if reason is not None:
        raise UnavailableError(f"accepted work waits and is tried again by itself ({reason})")


async def _model(ports: Ports, scope: Scope) -> None:
    """A move to it that is under way is told as a rebuild."""
    async with ports.catalog.reading() as tx:
        is_moving = (await tx.workspaces.get(scope.workspace)).building is not None
    active, configured = ports.embedders.active.model, ports.embedders.configured.model
    if active != configured and not is_moving:
        raise MisconfiguredError(
            f"another embedding model is configured ({configured}) than the one that answers ({active}): run "
            "`dormouse migrate-embedding`, or configure the former one again",
            setting="EMBEDDING__MODEL",
        )


async def _graph_and_vectors(ports: Ports, scope: Scope) -> None:
    async with ports.catalog.reading() as tx:
        rebuilt = [each.store.value for each in await tx.history.rebuilds(scope.workspace)]
    if rebuilt:
        names = " and ".join(rebuilt)
        raise UnavailableError(f"being rebuilt: {names}; `dormouse jobs` shows how far it is")
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
