from dormouse.cli.jobs import details, line

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


def test_a_job_in_full_tells_what_it_counted_and_why_it_was_not_enriched() -> None:
    error = {"code": "model_unavailable", "message": "the language model does not answer"}

    told = list(details({**A_JOB, "counts": {"done": 3, "derived": 0}, "enrichmentError": error}))

    assert told == [
        "done 3",
        "searchable, but nothing derived by the language model: the language model does not answer",
        f"once that is mended, `dormouse jobs retry {A_JOB['id']}` asks it again",
    ]
