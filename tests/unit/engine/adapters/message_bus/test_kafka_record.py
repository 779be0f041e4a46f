import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dormouse.adapters.message_bus.kafka_record import (
    MOST_BYTES,
    Bell,
    DeadLetter,
    Refusal,
    read_bell,
    read_dead_letter,
    written,
)
from dormouse.ids import JobId, WorkspaceId

ids = st.text(st.characters(min_codepoint=0x20, max_codepoint=0x7E), min_size=1, max_size=128)


@given(ids, ids)
def test_what_was_written_is_read(workspace: str, job: str) -> None:
    ingest, apply = Bell(WorkspaceId(workspace), JobId(job)), Bell(WorkspaceId(workspace))

    assert read_bell(written(ingest), has_job=True) == ingest
    assert read_bell(written(apply), has_job=False) == apply


@given(st.binary(max_size=64) | st.text(max_size=64).map(str.encode))
def test_anything_at_all_gets_an_answer(value: bytes) -> None:
    assert isinstance(read_bell(value, has_job=True), Refusal)
    assert read_dead_letter(value) is None


@pytest.mark.parametrize(
    ("fields", "refusal"),
    [
        ({"v": 1, "workspace": "local"}, Refusal.WRONG_SCHEMA),
        ({"v": 1, "workspace": "local", "job": ""}, Refusal.WRONG_SCHEMA),
        ({"v": 1, "workspace": "local", "job": 7}, Refusal.WRONG_SCHEMA),
        ({"v": 1, "workspace": "local", "job": "j" * 129}, Refusal.WRONG_SCHEMA),
        ({"v": 1, "workspace": "lo\0cal", "job": "j"}, Refusal.WRONG_SCHEMA),
        ({"v": 1, "workspace": "wörk", "job": "j"}, Refusal.WRONG_SCHEMA),
        ({"v": 1, "workspace": "local", "job": "j", "text": "more"}, Refusal.WRONG_SCHEMA),
        ({"workspace": "local", "job": "j"}, Refusal.WRONG_SCHEMA),
        ({"v": 1.0, "workspace": "local", "job": "j"}, Refusal.WRONG_SCHEMA),
        ({"v": 2, "anything": "else"}, Refusal.UNKNOWN_VERSION),
        (["v"], Refusal.WRONG_SCHEMA),
    ],
)
def test_what_is_not_a_bell_is_refused_with_the_reason(fields: object, refusal: Refusal) -> None:
    assert read_bell(json.dumps(fields).encode(), has_job=True) is refusal


def test_what_is_longer_than_any_bell_is_not_even_parsed() -> None:
    longest = b" " * (MOST_BYTES - 2) + b"{}"

    assert read_bell(longest, has_job=True) is Refusal.WRONG_SCHEMA
    assert read_bell(b" " + longest, has_job=True) is Refusal.TOO_LONG


def test_a_dead_letter_says_where_and_why_and_nothing_else() -> None:
    letter = DeadLetter("dormouse.apply", 3, 41, 17, "not_json")

    assert json.loads(written(letter)) == {
        "v": 1, "topic": "dormouse.apply", "partition": 3, "offset": 41, "length": 17, "reason": "not_json",
    }  # fmt: skip
    assert read_dead_letter(written(letter)) == letter
