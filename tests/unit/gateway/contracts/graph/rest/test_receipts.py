from hypothesis import given
from hypothesis import strategies as st

from dormouse.model.job import Job, Stage
from dormouse_gateway.contracts.graph.rest.receipts import status_of
from tests.builders import a_job


def test_trouble_outranks_work_that_goes_on() -> None:
    assert status_of([a_job(Stage.APPLYING), a_job(Stage.FAILED)]) == "errored"


def test_enrichment_does_not_keep_a_call_running() -> None:
    assert status_of([a_job(Stage.ENRICHING), a_job(Stage.COMPLETE)]) == "completed"


@given(st.lists(st.sampled_from([a_job(stage) for stage in Stage]), min_size=1))
def test_the_order_of_jobs_never_changes_the_word(jobs: list[Job]) -> None:
    assert status_of(jobs) == status_of(jobs[::-1])
