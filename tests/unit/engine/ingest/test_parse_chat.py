import pytest

from dormouse.ingest.parse_chat import turns_of_json
from dormouse.ingest.parsed import Turn
from dormouse.ingest.timestamps import zone_named
from dormouse.model.passage import Precision

ZULU = zone_named("UTC")


def turns(value: object, *, is_forced: bool = False) -> tuple[Turn, ...]:
    return turns_of_json(value, ZULU, is_forced=is_forced)


def test_a_message_keeps_speaker_time_and_name() -> None:
    message = {
        "id": "D1:3",
        "speaker": "Caroline",
        "time": "1:56 pm on 8 May, 2023",
        "text": "I went.",
        "session": "S1",
    }

    assert turns([message]) == (
        Turn(
            speaker="Caroline",
            role="",
            text="I went.",
            time="1:56 pm on 8 May, 2023",
            occurred_ms=1_683_554_160_000,
            offset_minutes=0,
            precision=Precision.INSTANT,
            external_id="D1:3",
            session="S1",
        ),
    )


@pytest.mark.parametrize("holder", ["messages", "turns", "conversation", "history"])
def test_messages_are_found_under_their_usual_names(holder: str) -> None:
    assert [turn.text for turn in turns({holder: [{"role": "user", "content": "hi"}]})] == ["hi"]


@pytest.mark.parametrize(
    "content",
    ["hi there", ["hi", "there"], [{"type": "text", "text": "hi"}, {"type": "text", "text": "there"}],
     {"parts": ["hi", "there"]}, [{"type": "image_url", "image_url": {"url": "x"}}, {"text": "hi there"}]],
)  # fmt: skip
def test_parts_of_a_message_are_joined(content: object) -> None:
    [turn] = turns([{"author": {"role": "user"}, "content": content}])

    assert (" ".join(turn.text.split()), turn.role, turn.speaker) == ("hi there", "user", "user")


def test_numbered_sessions_bring_their_own_time() -> None:
    chat = {
        "conversation": {
            "speaker_a": "Ann",
            "session_1": [{"speaker": "Ann", "dia_id": "D1:1", "text": "one"}],
            "session_1_date_time": "1:56 pm on 8 May, 2023",
            "session_2": [{"speaker": "Ann", "dia_id": "D2:1", "text": "two"}],
            "session_2_date_time": "2:00 pm on 9 May, 2023",
        }
    }

    assert [(t.session, t.time, t.external_id) for t in turns(chat)] == [
        ("session_1", "1:56 pm on 8 May, 2023", "D1:1"),
        ("session_2", "2:00 pm on 9 May, 2023", "D2:1"),
    ]


def test_lists_of_sessions_stay_apart() -> None:
    found = turns([[{"role": "user", "content": "a"}], [{"role": "user", "content": "b"}]])

    assert len({turn.session for turn in found}) == 2


@pytest.mark.parametrize(
    "value",
    [{"name": "Ada", "text": "x"}, [{"name": "Ada"}], [{"text": "no speaker"}], [1], "text", [], {},
     [{"role": "user", "content": "hi"}, {"price": 3}]],
)  # fmt: skip
def test_other_json_is_no_chat(value: object) -> None:
    assert turns(value) == ()


def test_a_message_without_text_is_left_out() -> None:
    chat = [{"role": "assistant", "content": None, "tool_calls": [1]}, {"role": "user", "content": "hi"}]

    assert [turn.text for turn in turns(chat, is_forced=True)] == ["hi"]


def test_a_time_that_cannot_be_read_stays_as_written() -> None:
    [turn] = turns([{"role": "user", "content": "hi", "date": "05/08/23"}])

    assert (turn.time, turn.occurred_ms) == ("05/08/23", None)
