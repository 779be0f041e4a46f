from hypothesis import given

from dormouse.jobs.standing import Standing, standing_of
from dormouse.model.job import Job, Stage
from tests.builders import a_job, some_jobs


def test_a_dataset_without_jobs_is_new() -> None:
    assert standing_of([]) == Standing("new")


def test_work_in_flight_outranks_a_failure_and_is_counted() -> None:
    standing = standing_of([a_job(Stage.FAILED), a_job(Stage.APPLYING, done=2, total=5), a_job(Stage.ACCEPTED)])

    assert standing == Standing("running", done=2, total=5)


def test_enrichment_does_not_keep_it_running() -> None:
    assert standing_of([a_job(Stage.ENRICHING)]) == Standing("done")


def test_a_failure_is_told_when_nothing_runs() -> None:
    assert standing_of([a_job(Stage.FAILED)]) == Standing("failed")


@given(some_jobs())
def test_the_order_of_jobs_never_changes_how_it_stands(jobs: list[Job]) -> None:
    assert standing_of(jobs) == standing_of(jobs[::-1])
