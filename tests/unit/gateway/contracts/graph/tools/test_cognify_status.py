"""The reference's words for what became of a write."""

from dataclasses import replace

import pytest

from dormouse.model.job import Job, JobFailure, JobKind, Stage
from dormouse_gateway.contracts.graph.tools.cognify_status import Told, job_view, render
from tests.builders import A_DATASET, ANOTHER_DATASET, NOW_MS, a_job

FAILED = replace(
    a_job(Stage.FAILED),
    finished_ms=NOW_MS,
    failure=JobFailure("unreadable_document", "the file is encrypted", retryable=False, stage=Stage.EXTRACTING),
)


@pytest.mark.parametrize(
    ("jobs", "status"),
    [
        ([a_job(Stage.ACCEPTED)], "STARTED"),
        ([a_job(Stage.COMPLETE), a_job(Stage.APPLYING)], "STARTED"),
        ([a_job(Stage.SEARCHABLE)], "COMPLETED"),
        ([a_job(Stage.CANCELLED), a_job(Stage.COMPLETE)], "COMPLETED"),
        ([a_job(Stage.COMPLETE), FAILED], "COMPLETED"),
    ],
)
def test_work_in_flight_outranks_the_latest_end(jobs: list[Job], status: str) -> None:
    text = render([Told(A_DATASET, jobs)], ["cognify_pipeline"])

    assert text.splitlines()[0] == f"{{'{A_DATASET}': 'DATASET_PROCESSING_{status}'}}"


@pytest.mark.parametrize("jobs", [[], [a_job(Stage.CANCELLED)]])
def test_where_nothing_ran_there_is_nothing(jobs: list[Job]) -> None:
    assert render([Told(A_DATASET, jobs)], ["cognify_pipeline"]) == "{}"


def test_several_pipelines_are_told_one_by_one_and_those_that_never_ran_not_at_all() -> None:
    text = render(
        [Told(A_DATASET, [a_job(Stage.COMPLETE)])], ["add_pipeline", "cognify_pipeline", "memify_pipeline"]
    )

    assert text == (
        f"{{'{A_DATASET}': {{'add_pipeline': 'DATASET_PROCESSING_COMPLETED', "
        "'cognify_pipeline': 'DATASET_PROCESSING_COMPLETED'}}"
    )


def test_errors_follow_with_their_time() -> None:
    assert render([Told(A_DATASET, [FAILED])], ["cognify_pipeline"]) == (
        f"{{'{A_DATASET}': 'DATASET_PROCESSING_ERRORED'}}\n\nBackground task errors:\n"
        "  [2026-01-05T12:00:00.000+00:00] the file is encrypted"
    )


def test_errors_of_other_datasets_name_them_and_stand_among_the_rest_by_time() -> None:
    later = replace(FAILED, finished_ms=NOW_MS + 1000)

    text = render([Told(A_DATASET, [FAILED]), Told(ANOTHER_DATASET, [later], "plans")], ["cognify_pipeline"])

    assert text.splitlines() == [
        repr({A_DATASET: "DATASET_PROCESSING_ERRORED", ANOTHER_DATASET: "DATASET_PROCESSING_ERRORED"}),
        "",
        "Background task errors:",
        "  [2026-01-05T12:00:01.000+00:00] plans: the file is encrypted",
        "  [2026-01-05T12:00:00.000+00:00] the file is encrypted",
    ]


def test_a_job_is_shown_with_its_error() -> None:
    view = job_view(FAILED)

    assert view["stage"] == "failed"
    assert view["error"] == {
        "code": "unreadable_document",
        "message": "the file is encrypted",
        "retryable": False,
    }


def test_what_is_only_staged_was_added_and_nothing_more() -> None:
    staged = [a_job(Stage.COMPLETE, kind=JobKind.ADD)]

    assert render([Told(A_DATASET, staged)], ["cognify_pipeline"]) == "{}"
    assert render([Told(A_DATASET, staged)], ["add_pipeline"]) == repr(
        {A_DATASET: "DATASET_PROCESSING_COMPLETED"}
    )
