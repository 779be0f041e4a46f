"""The recorded session again: same statuses and fields, but for the differences that are listed."""

from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from tests.contract.program import DEADLINE_S, Program
from tests.contract.rest.differences import DIFFERENCES, NOT_REPLAYED, PAGE, in_page, may_miss, status_of
from tests.contract.rest.session_replay import BY_CASE, Replay
from tests.contract.rest.test_recorded import fields, lacking

CASES = [case for case in BY_CASE if case not in NOT_REPLAYED]


@pytest.fixture(scope="module")
def answers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, tuple[httpx.Response, list[str]]]]:
    """Our answer to every recorded call, in order, by two users; and which of the recorded fields it lacks."""
    folder = tmp_path_factory.mktemp("replay")
    program = Program(folder / "data folder", {"DORMOUSE_API_KEYS_FILE": str(folder / "keys.json")})
    secrets = [
        program.run("keys", "create", "--user", user, "--file", str(folder / "keys.json")).stdout.strip()
        for user in ("ada", "bob")
    ]
    with program.serving() as url:
        owner, other = (
            httpx.Client(base_url=url, headers={"X-Api-Key": key}, timeout=DEADLINE_S, trust_env=False)
            for key in secrets
        )
        with owner, other:
            replay = Replay(owner, other)
            found = {}
            for case in CASES:
                answer = replay.ask(case)
                found[case] = (answer, _lacking(case, replay.expected(case), answer))
            yield found


@pytest.mark.parametrize("case", CASES)
def test_a_recorded_call_has_the_recorded_status_and_fields(
    answers: dict[str, tuple[httpx.Response, list[str]]], case: str
) -> None:
    answer, missing = answers[case]

    assert answer.status_code == status_of(case, BY_CASE[case]["status"]), answer.text
    assert [place for place in missing if not may_miss(place)] == []
    if answer.status_code >= 400:
        assert set(answer.json()) == {"detail", "code", "remediation", "request_id"}


def test_no_difference_is_listed_that_is_none(
    answers: dict[str, tuple[httpx.Response, list[str]]],
) -> None:
    listed = {case: status for each in DIFFERENCES for case, status in each.statuses.items()}

    assert [case for case, status in listed.items() if status == BY_CASE[case]["status"]] == []
    assert [case for case in listed if case not in answers] == []


def test_the_page_shows_the_table_as_it_is() -> None:
    page = PAGE.read_text(encoding="utf-8")

    assert page == in_page(page), "run python -m tests.contract.rest.differences"


def test_what_is_left_out_was_recorded() -> None:
    assert set(NOT_REPLAYED) <= set(BY_CASE)


def _lacking(case: str, expected: object, answer: httpx.Response) -> list[str]:
    """Nothing where the recorded answer is a refusal, or ours is another than the recorded."""
    is_other = answer.status_code != BY_CASE[case]["status"]
    if is_other or answer.status_code >= 400 or "json" not in answer.headers.get("content-type", ""):
        return []
    return lacking(fields(expected), fields(answer.json()))


def test_the_folder_is_not_told_by_any_answer(
    answers: dict[str, tuple[httpx.Response, list[str]]], tmp_path_factory: pytest.TempPathFactory
) -> None:
    root = str(Path(tmp_path_factory.getbasetemp()))

    assert [case for case, (answer, _) in answers.items() if root in answer.text] == []
