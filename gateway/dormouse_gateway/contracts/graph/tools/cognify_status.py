"""cognify_status: what became of what was remembered, in the reference's words and as structured receipts.

Source: graph contract, "cognify_status".
"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass

from mcp.types import CallToolResult, ToolAnnotations

from dormouse.engine import Engine
from dormouse.errors import NotFoundError
from dormouse.ids import DatasetId
from dormouse.model.job import Job, JobKind, Stage
from dormouse.model.scope import Permission
from dormouse_gateway.contracts.graph.arguments import COGNIFY_PIPELINE, CognifyStatusArguments
from dormouse_gateway.contracts.graph.client_names import dataset_of_client
from dormouse_gateway.mcp.tool import Call, Tool, reply
from dormouse_gateway.web.instants import iso, iso_or_none

FAILURE = "❌ Failed to get cognify status: "
ADD_PIPELINE = "add_pipeline"  # content that was accepted is added: there is nothing more to that
LATEST = 50

STARTED = "DATASET_PROCESSING_STARTED"
COMPLETED = "DATASET_PROCESSING_COMPLETED"
ERRORED = "DATASET_PROCESSING_ERRORED"

DESCRIPTION = """\
Check what became of content that `remember` took, above all with background=true: whether its ingestion is \
finished, still running or failed, and why. Reports the jobs of one dataset with their errors, newest first."""


@dataclass(frozen=True, slots=True)
class _CognifyStatus:
    engine: Engine
    is_scoped: bool

    async def __call__(self, call: Call, arguments: CognifyStatusArguments) -> CallToolResult:
        scope = await self.engine.scope_of(call.principal)
        name = arguments.dataset_name or dataset_of_client(call.client_name, is_scoped=self.is_scoped)
        try:
            dataset = await self.engine.dataset_named(scope, name, permission=Permission.READ)
        except NotFoundError:
            return reply("{}", structured={"dataset": None, "dataset_id": None, "jobs": []})
        found = await self.engine.jobs(scope, datasets=[dataset.id], limit=LATEST)
        jobs = [job for job in found if job.kind in (JobKind.REMEMBER, JobKind.ADD)]
        view = {"dataset": dataset.name, "dataset_id": dataset.id, "jobs": [job_view(job) for job in jobs]}
        return reply(render(dataset.id, jobs, arguments.pipelines), structured=view)


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


def render(dataset: DatasetId, jobs: Sequence[Job], pipelines: Sequence[str]) -> str:
    """The status of one pipeline by dataset, of several by dataset and pipeline; then errors, newest first."""
    asked = list(dict.fromkeys(pipelines)) or [COGNIFY_PIPELINE]
    states = {pipeline: state for pipeline in asked if (state := _state(pipeline, jobs))}
    shown: dict[str, object] = {}
    if states:
        shown[dataset] = states if len(asked) > 1 else next(iter(states.values()))
    errors = [f"  [{_instant(job)}] {job.failure.message}" for job in jobs if job.failure]
    return "\n".join([repr(shown), *(["", "Background task errors:", *errors] if errors else [])])


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


def _instant(job: Job) -> str:
    return iso(job.finished_ms or job.updated_ms).replace("Z", "+00:00")
