"""The engine over any set of ports, whatever they are made of."""

import socket
from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from functools import partial
from typing import Literal, get_args
from uuid import uuid4

from dormouse.access.lookup import visible
from dormouse.adapters.workspace_directory.local import LOCAL_WORKSPACE
from dormouse.engine import Acceptors, Engine
from dormouse.ids import WorkspaceId
from dormouse.ingest.enrich import EnrichLimits, end_without_model
from dormouse.ingest.preview import Preview
from dormouse.jobs.fenced_call import Patience
from dormouse.ports.bundle import Ports
from dormouse.rebuild import request
from dormouse.recall.pipeline import RecallPipeline
from dormouse.running import Loops, Upkeep
from dormouse.sessions.search import search
from dormouse.write_path import WritePath, write_path

Role = Literal["extract", "apply"]
ROLES: frozenset[Role] = frozenset(get_args(Role))

# The folder's lock proves a predecessor dead: none of its calls can still be under way.
PATIENCE = Patience(erase_s=60.0, takeover_s=0.0)


@dataclass(frozen=True, slots=True)
class Form:
    """How one process takes part: which loops it runs, for which workspace, and how long it waits for those
    who may still be at work."""

    roles: frozenset[Role] = ROLES
    workspace: WorkspaceId = LOCAL_WORKSPACE
    patience: Patience = PATIENCE


def assemble(ports: Ports, limits: EnrichLimits = EnrichLimits(), form: Form = Form()) -> Engine:  # noqa: B008
    """Nothing is started."""
    # New with every start: a dead predecessor's leases must not look like our own, and pids come again.
    holder = f"{socket.gethostname()}:{uuid4()}"
    path = write_path(ports, holder=holder, patience=form.patience, limits=limits)
    return Engine(
        ports,
        accepts=Acceptors(path.acceptor, path.stager, path.forgetter, path.suppressor, path.repairs),
        pipeline=RecallPipeline(
            ports,
            session_search=partial(search, ports.catalog),
            visible=visible,
            passages_of=Preview(ports.clock).passages_of,
        ),
        rebuilds=request.RebuildRequests(ports.catalog, ports.bus, ports.collections, ports.embedders),
        loops=Loops(_loops(ports, path, form)),
    )


def _loops(ports: Ports, path: WritePath, form: Form) -> dict[str, Callable[[], Coroutine[None, None, None]]]:
    """By name. Every process that works also sweeps, in turns: who stopped must not have been the only one."""
    loops: dict[str, Callable[[], Coroutine[None, None, None]]] = {}
    if "extract" in form.roles:
        loops["extract"] = path.extractor.run
        loops["enrich"] = path.enricher.run if path.enricher else partial(end_without_model, ports.catalog)
    if "apply" in form.roles:
        loops["apply"] = path.applier.run
        loops["embed-again"] = path.embed_again.run
        loops["upkeep"] = Upkeep(ports.catalog, ports.vectors, form.workspace).run
    if form.roles:
        loops["sweep"] = path.sweeper.run
    return loops
