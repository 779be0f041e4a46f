"""Jobs and datasets as the routes show them."""

from typing_extensions import TypedDict

from dormouse.model.dataset import Dataset
from dormouse.model.job import Job, JobCounts, JobFailure, Stage
from dormouse_gateway.web.instants import iso, iso_or_none


class FailureView(TypedDict):
    code: str
    message: str
    retryable: bool
    stage: str


class DroppedView(TypedDict):
    """What a language model said and was not kept, by reason."""

    noQuote: int
    malformed: int
    unknownPassage: int
    repeated: int
    tooMany: int


class CountsView(TypedDict):
    """From `windows` on: what a language model derived, and what it cost."""

    sizeBytes: int
    passages: int
    done: int
    unchanged: int
    facts: int
    episodes: int
    foresights: int
    entities: int
    erased: int
    windows: int
    windowsDone: int
    windowsCopied: int
    derived: int
    repairedQuotes: int
    dropped: DroppedView
    modelCalls: int
    tokensIn: int
    tokensOut: int


class JobView(TypedDict):
    """A write's receipt. `datasetId` and `documentId` are null where it concerns none, `documentName` also
    where the document is gone."""

    id: str
    kind: str
    stage: str
    datasetId: str | None
    documentId: str | None
    documentName: str | None
    acceptedAt: str
    updatedAt: str
    searchableAt: str | None
    finishedAt: str | None
    counts: CountsView
    error: FailureView | None
    enrichmentError: FailureView | None
    cancelReason: str | None
    isDuplicate: bool
    retryOf: str | None
    parkedReason: str | None
    nextAttemptAt: str | None


class DatasetView(TypedDict):
    id: str
    name: str
    createdAt: str
    updatedAt: str
    ownerId: str


def status_of(jobs: list[Job]) -> str:
    """One word of the graph contract for all of a call's jobs: trouble first, then what still runs."""
    if any(job.stage is Stage.FAILED for job in jobs):
        return "errored"
    return "completed" if all(job.stage.is_final or job.stage.is_searchable for job in jobs) else "running"


def failure_view(failure: JobFailure | None) -> FailureView | None:
    if failure is None:
        return None
    return {
        "code": failure.code,
        "message": failure.message,
        "retryable": failure.retryable,
        "stage": failure.stage.value,
    }


def job_view(job: Job, document_name: str | None = None) -> JobView:
    return {
        "id": job.id,
        "kind": job.kind.value,
        "stage": job.stage.value,
        "datasetId": job.dataset,
        "documentId": job.document,
        "documentName": document_name,
        "acceptedAt": iso(job.accepted_ms),
        "updatedAt": iso(job.updated_ms),
        "searchableAt": iso_or_none(job.searchable_ms),
        "finishedAt": iso_or_none(job.finished_ms),
        "counts": _counts_view(job.counts),
        "error": failure_view(job.failure),
        "enrichmentError": failure_view(job.enrichment_failure),
        "cancelReason": job.cancel_reason.value if job.cancel_reason else None,
        "isDuplicate": job.is_duplicate,
        "retryOf": job.retry_of,
        "parkedReason": job.parked_reason,
        "nextAttemptAt": iso_or_none(job.next_attempt_ms),
    }


def dataset_view(dataset: Dataset) -> DatasetView:
    return {
        "id": dataset.id,
        "name": dataset.name,
        "createdAt": iso(dataset.created_ms),
        "updatedAt": iso(dataset.updated_ms),
        "ownerId": dataset.owner,
    }


def _counts_view(counts: JobCounts) -> CountsView:
    return {
        "sizeBytes": counts.size_bytes,
        "passages": counts.passages,
        "done": counts.done,
        "unchanged": counts.unchanged,
        "facts": counts.facts,
        "episodes": counts.episodes,
        "foresights": counts.foresights,
        "entities": counts.entities,
        "erased": counts.erased,
        "windows": counts.windows,
        "windowsDone": counts.windows_done,
        "windowsCopied": counts.windows_copied,
        "derived": counts.derived,
        "repairedQuotes": counts.repaired_quotes,
        "dropped": {
            "noQuote": counts.dropped_no_quote,
            "malformed": counts.dropped_malformed,
            "unknownPassage": counts.dropped_unknown_passage,
            "repeated": counts.dropped_repeated,
            "tooMany": counts.dropped_too_many,
        },
        "modelCalls": counts.model_calls,
        "tokensIn": counts.tokens_in,
        "tokensOut": counts.tokens_out,
    }
