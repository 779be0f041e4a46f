from datetime import UTC, datetime

import pytest

from dormouse.ingest.parse_transcript import turns_of_transcript
from dormouse.ingest.parsed import Turn
from dormouse.ingest.timestamps import zone_named

ZULU = zone_named("UTC")


def turns(text: str, *, is_forced: bool = False) -> tuple[Turn, ...]:
    return turns_of_transcript(text, ZULU, is_forced=is_forced)


def test_lines_with_names_are_turns_and_others_go_on() -> None:
    found = turns("Caroline: Hey Mel!\nMelanie: Hey!\nHow are you?\n\nCaroline: Fine: really.\n")

    assert [(turn.speaker, turn.text) for turn in found] == [
        ("Caroline", "Hey Mel!"),
        ("Melanie", "Hey!\nHow are you?"),
        ("Caroline", "Fine: really."),
    ]


@pytest.mark.parametrize(
    "text",
    [
        "[2023-05-08 13:56] Bob: hi\n[2023-05-08 13:57] Amy: yo\n[2023-05-08 13:58] Bob: ok",
        "2023-05-08 13:56 - Bob: hi\n2023-05-08 13:57 - Amy: yo\n2023-05-08 13:58 - Bob: ok",
        "Bob (2023-05-08 13:56): hi\nAmy (2023-05-08 13:57): yo\nBob (2023-05-08 13:58): ok",
        "**Bob** (2023-05-08 13:56): hi\n**Amy** (2023-05-08 13:57): yo\n**Bob** (2023-05-08 13:58): ok",
    ],
)
def test_times_before_or_after_names_are_read(text: str) -> None:
    found = turns(text)

    assert [(turn.speaker, turn.text) for turn in found] == [("Bob", "hi"), ("Amy", "yo"), ("Bob", "ok")]
    assert [turn.occurred_ms for turn in found] == [1_683_554_160_000, 1_683_554_220_000, 1_683_554_280_000]


def test_a_line_with_a_time_dates_what_follows() -> None:
    found = turns(
        "Session 1 (1:56 pm on 8 May, 2023)\nAnn: a\nBob: b\n\n## Session 2 - 25 May 2023\nAnn: c\nBob: d\n"
    )

    assert [(t.session, t.time) for t in found] == [
        ("Session 1", "1:56 pm on 8 May, 2023"),
        ("Session 1", "1:56 pm on 8 May, 2023"),
        ("Session 2", "25 May 2023"),
        ("Session 2", "25 May 2023"),
    ]


@pytest.mark.parametrize(
    "text", ["User: hi\nAssistant: hello", "**Human:** hi\n\n**AI:** hello", "Q: a\nA: b\nQ: c\nA: d"]
)
def test_roles_need_no_repetition(text: str) -> None:
    assert len(turns(text)) >= 2


@pytest.mark.parametrize(
    "text",
    [
        "Note: buy milk.\nRemember: nothing.\nNote: more.",
        "The reason is simple: nobody asked.\nAnother sentence: the same.\nThe reason is simple: again.",
        "name: Ada\nage: 36\nname: Bob\nage: 7",
        "Name: Ada\nEmail: ada@example.org\nName: Bob\nEmail: bob@example.org",
        "From: a@b.c\nTo: d@e.f\nSubject: x\nTo: again",
        "INFO: started\nERROR: failed\nINFO: again",
        "Apple: a fruit\nBanana: a fruit\nCherry: a fruit",
        "def f():\n    return {\n        Key: 1,\n        Key: 2,\n    }",
        "# Heading\n\nText at 10:30: lunch.\nSee https://example.org: a page.",
    ],
)
def test_prose_yaml_mail_and_logs_are_no_conversation(text: str) -> None:
    assert turns(text) == ()


def test_forced_one_line_is_enough_and_what_stands_before_is_kept() -> None:
    found = turns("We met at noon.\nAda: Hello", is_forced=True)

    assert [(turn.speaker, turn.text) for turn in found] == [("", "We met at noon."), ("Ada", "Hello")]


def test_names_of_every_script_speak() -> None:
    found = turns("爱丽丝：你好\n鲍勃：你好吗\n爱丽丝：很好\n")

    assert [turn.speaker for turn in found] == ["爱丽丝", "鲍勃", "爱丽丝"]


@pytest.mark.parametrize(
    ("lines", "days"),
    [
        (
            "[1/2/26, 23:59:01] Ada Byron: Hi\n[1/3/26, 08:00:00] Grace: Hi\n\u200e[1/13/26, 9:15 AM] Ada: Hi",
            ["2026-01-02", "2026-01-03", "2026-01-13"],
        ),
        (
            "01.02.26, 23:59 - Ada: Ahoj\n02.02.26, 08:00 - Grace: Dobré\n01.03.26, 09:15 - Ada: Zpět",
            ["2026-02-01", "2026-02-02", "2026-03-01"],
        ),
    ],
    ids=["a day that is no month", "time passes"],
)
def test_dates_of_an_exported_chat_are_read_in_the_order_of_the_whole_file(lines: str, days: list[str]) -> None:
    found = turns(lines, is_forced=True)

    times = [datetime.fromtimestamp(turn.occurred_ms / 1000, UTC) for turn in found if turn.occurred_ms]
    assert [f"{each:%Y-%m-%d}" for each in times] == days
    assert [turn.speaker for turn in found][1] == "Grace"


def test_dates_that_could_be_read_both_ways_are_none() -> None:
    found = turns("[1/2/26, 23:59] Ada: One\n[1/2/26, 23:59] Grace: Two", is_forced=True)

    assert [turn.occurred_ms for turn in found] == [None, None]
