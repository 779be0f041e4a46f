from dormouse.cli.jobs import line

A_JOB = {
    "id": "j1",
    "acceptedAt": "2026-11-30T19:49:21.622Z",
    "kind": "remember",
    "stage": "complete",
    "counts": {"done": 3, "passages": 3},
}


def test_a_job_says_its_dataset_and_its_time_with_the_zone() -> None:
    assert line(A_JOB, "notes") == "j1  2026-11-30T19:49:21Z  remember  [notes]  complete  3/3 passages"


def test_a_job_of_a_forgotten_dataset_has_no_name_for_it() -> None:
    assert "[" not in line(A_JOB, "")
