from dormouse.cli.status import held


def test_one_is_not_spoken_of_as_many() -> None:
    assert held({"documents": 1, "passages": 1200, "unfinishedJobs": 0}) == (
        "1 document, 1,200 passages, 0 unfinished jobs"
    )
