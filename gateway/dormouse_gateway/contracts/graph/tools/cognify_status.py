"""cognify_status: what became of what was remembered, in the reference's words and as structured receipts.

Source: graph contract, "cognify_status".
"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass

from mcp.types import CallToolResult, ToolAnnotations

from dormouse.engine import Engine
from dormouse.errors import NotFoundError
from dormouse.ids import DatasetId
from dormouse.model.dataset import Dataset
from dormouse.model.job import Job, JobKind, Stage
from dormouse.model.scope import Permission, Scope
from dormouse_gateway.contracts.graph.arguments import COGNIFY_PIPELINE, CognifyStatusArguments
from dormouse_gateway.contracts.graph.client_names import dataset_of_client
from dormouse_gateway.mcp.tool import Call, Tool, reply
from dormouse_gateway.web.instants import iso, iso_or_none

FAILURE = "❌ Failed to get cognify status: "
ADD_PIPELINE = "add_pipeline"  # content that was accepted is added: there is nothing more to that
LATEST = 50
MOST_ELSEWHERE = 20  # datasets that nobody named
UNSETTLED = ("running", "failed")

STARTED = "DATASET_PROCESSING_STARTED"
COMPLETED = "DATASET_PROCESSING_COMPLETED"
ERRORED = "DATASET_PROCESSING_ERRORED"

DESCRIPTION = """\
Check what became of content that `remember` took, above all with background=true: whether its ingestion is \
finished, still running or failed, and why. Reports the jobs of one dataset with their errors, newest first: \
of `dataset_name`, else of your own one and of every other where work is running or failed last."""


@dataclass(frozen=True, slots=True)
class Told:
    """A dataset and its latest jobs that bring content, newest first. `name` is empty if it was asked for."""

    dataset: DatasetId
    jobs: Sequence[Job]
    name: str = ""


@dataclass(frozen=True, slots=True)
class _CognifyStatus:
    engine: Engine
    is_scoped: bool

    async def __call__(self, call: Call, arguments: CognifyStatusArguments) -> CallToolResult:
        scope = await self.engine.scope_of(call.principal)
        name = arguments.dataset_name or dataset_of_client(call.client_name, is_scoped=self.is_scoped)
        asked = await self._named(scope, name)
        # Without a name the caller means whatever a recall said was indexing, and that looks everywhere.
        elsewhere = [] if arguments.dataset_name else await self._unsettled(scope, asked)
        told = [Told(asked.id, await self._jobs(scope, asked.id))] if asked else []
        others = [Told(each.id, await self._jobs(scope, each.id), each.name) for each in elsewhere]
        jobs = told[0].jobs if told else []
        view: dict[str, object] = {
            "dataset": asked.name if asked else None,
            "dataset_id": asked.id if asked else None,
            "jobs": [job_view(job) for job in jobs],
            "elsewhere": [
                {"dataset": each.name, "dataset_id": each.dataset, "jobs": [job_view(job) for job in each.jobs]}
                for each in others
            ],
        }
        return reply(render([*told, *others], arguments.pipelines), structured=view)

    async def _named(self, scope: Scope, name: str) -> Dataset | None:
        try:
            return await self.engine.dataset_named(scope, name, permission=Permission.READ)
        except NotFoundError:
            return None

    async def _jobs(self, scope: Scope, dataset: DatasetId) -> list[Job]:
        found = await self.engine.jobs(scope, datasets=[dataset], limit=LATEST)
        return [job for job in found if job.kind in (JobKind.REMEMBER, JobKind.ADD)]

    async def _unsettled(self, scope: Scope, besides: Dataset | None) -> list[Dataset]:
        """Other datasets in which work is in flight, then those whose latest failed; each by name."""
        standings = await self.engine.standings(scope, scope.readable)
        found = [
            each.dataset
            for each in await self.engine.datasets(scope)
            if standings[each.dataset.id].state in UNSETTLED and (not besides or each.dataset.id != besides.id)
        ]
        found.sort(key=lambda each: UNSETTLED.index(standings[each.id].state))
        return found[:MOST_ELSEWHERE]


def cognify_status_tool(engine: Engine, *, is_scoped: bool) -> Tool:
    return Tool(
        name="cognify_status",
        title="Ingestion status",
        description=DESCRIPTION,
        arguments=CognifyStatusArguments,
        annotations=ToolAnnotations(read_only_hint=True, idempotent_hint=True, open_world_hint=False),
        failure=FAILURE,
        run=_CognifyStatus(engine, is_scoped),
    )


def render(told: Sequence[Told], pipelines: Sequence[str]) -> str:
    """The status of one pipeline by dataset, of several by dataset and pipeline; then errors, newest first."""
    wanted = list(dict.fromkeys(pipelines)) or [COGNIFY_PIPELINE]
    shown: dict[str, object] = {}
    errors: list[tuple[int, str]] = []
    for each in told:
        states = {pipeline: state for pipeline in wanted if (state := _state(pipeline, each.jobs))}
        if states:
            shown[each.dataset] = states if len(wanted) > 1 else next(iter(states.values()))
        errors += [(_ended_ms(job), _error(job, each.name)) for job in each.jobs if job.failure]
    lines = [line for _, line in sorted(errors, key=lambda error: -error[0])]
    return "\n".join([repr(shown), *(["", "Background task errors:", *lines] if lines else [])])


def job_view(job: Job) -> dict[str, object]:
    failure, lack = job.failure, job.enrichment_failure
    return {
        "id": job.id,
        "stage": job.stage.value,
        "data_id": job.document,
        "counts": asdict(job.counts),
        "started": iso(job.accepted_ms),
        "searchable": iso_or_none(job.searchable_ms),
        "finished": iso_or_none(job.finished_ms),
        "error": {"code": failure.code, "message": failure.message, "retryable": failure.retryable}
        if failure
        else None,
        "enrichment_error": {"code": lack.code, "message": lack.message, "retryable": lack.retryable}
        if lack
        else None,
    }


def _state(pipeline: str, jobs: Sequence[Job]) -> str | None:
    """None for a pipeline that never ran; what was cancelled counts as if it had not been, and what is only
    staged was added and nothing more."""
    counted = [job for job in jobs if job.stage is not Stage.CANCELLED]
    if pipeline == ADD_PIPELINE:
        return COMPLETED if counted else None
    built = [job for job in counted if job.kind is JobKind.REMEMBER]
    if not built or pipeline != COGNIFY_PIPELINE:
        return None
    if any(not job.stage.is_final and not job.stage.is_searchable for job in built):
        return STARTED
    return ERRORED if built[0].stage is Stage.FAILED else COMPLETED


def _error(job: Job, name: str) -> str:
    assert job.failure
    place = f"{name}: " if name else ""
    return f"  [{iso(_ended_ms(job)).replace('Z', '+00:00')}] {place}{job.failure.message}"


def _ended_ms(job: Job) -> int:
    return job.finished_ms or job.updated_ms
