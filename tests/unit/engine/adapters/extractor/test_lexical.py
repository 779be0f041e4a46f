from dataclasses import replace
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dormouse.adapters.extractor.lexical import MAX_MEMORIES, LexicalExtractor, extract
from dormouse.model.interval import END_MS, Interval
from dormouse.model.memory import Basis, MemoryDraft, MemoryKind, SourceKind
from dormouse.model.passage import PassageKind, Precision
from tests.builders import a_passage


def ms(*parts: int) -> int:
    return round(datetime(*parts, tzinfo=UTC).timestamp() * 1000)  # type: ignore[arg-type,misc]  # only ints


SAID = ms(2026, 11, 30, 12)


def memories(
    text: str, *, said_ms: int | None = SAID, speaker: str = "", role: str = ""
) -> tuple[MemoryDraft, ...]:
    kind = PassageKind.TURN if speaker or role else PassageKind.CHUNK
    passage = a_passage(text, kind=kind, speaker=speaker, role=role, occurred_ms=said_ms)
    return extract([passage], "UTC")[0].memories


def test_a_fact_holds_from_when_it_was_said() -> None:
    [fact] = memories("Our staging cluster runs on three nodes.")

    assert (fact.kind, fact.valid, fact.valid_basis) == (
        MemoryKind.FACT,
        Interval(SAID, END_MS),
        Basis.ASSERTED,
    )
    assert (fact.source, fact.quote) == (SourceKind.DOCUMENT, "Our staging cluster runs on three nodes.")


def test_a_fact_holds_from_the_date_it_states() -> None:
    [fact] = memories("She lives in Berlin since June 2023.")

    assert (fact.kind, fact.valid, fact.valid_basis) == (
        MemoryKind.FACT, Interval(ms(2023, 6, 1), END_MS), Basis.STATED,
    )  # fmt: skip
    assert fact.precision is Precision.MONTH


def test_a_stretch_has_both_ends() -> None:
    [fact] = memories("Before that she lived in Munich from 2019 to 2021.")

    assert (fact.kind, fact.valid) == (MemoryKind.FACT, Interval(ms(2019, 1, 1), ms(2022, 1, 1)))


def test_until_ends_a_fact_where_its_date_begins() -> None:
    [fact] = memories("The phone contract runs until 1 March 2027.")

    assert fact.valid == Interval(SAID, ms(2027, 3, 1))


def test_a_dated_deed_is_an_episode_at_its_date() -> None:
    [episode] = memories("Yesterday we migrated the billing database to PostgreSQL.", speaker="Ann")

    assert (episode.kind, episode.about) == (MemoryKind.EPISODE, Interval(ms(2026, 11, 29), ms(2026, 11, 30)))
    assert (episode.source, episode.entity_names) == (SourceKind.STATED, ("Ann", "PostgreSQL"))


def test_a_plan_is_held_from_when_it_was_said_and_looks_at_its_window() -> None:
    [plan] = memories("I'm planning to visit her on 14 December 2026.", speaker="Ann")

    assert (plan.kind, plan.valid) == (MemoryKind.FORESIGHT, Interval(SAID, END_MS))
    assert plan.about == Interval(ms(2026, 12, 14), ms(2026, 12, 15))
    assert plan.content == "Ann: I'm planning to visit her on 14 December 2026."


def test_without_a_time_nothing_relative_is_resolved() -> None:
    [fact] = memories("Yesterday we migrated the billing database.", said_ms=None)

    assert (fact.kind, fact.valid, fact.about) == (MemoryKind.FACT, Interval(), None)


@pytest.mark.parametrize("role", ["assistant", "system", "tool"])
def test_advice_makes_no_facts(role: str) -> None:
    assert memories("The best database for this is PostgreSQL.", role=role) == ()


def test_code_in_a_fence_claims_nothing() -> None:
    assert memories("```\nThis line is only a comment here\n```\nBut this line is said by me.") == memories(
        "But this line is said by me."
    )


def test_a_conversation_is_one_episode_at_its_first_turn() -> None:
    first = a_passage("Hey Mel!", kind=PassageKind.TURN, session="s", speaker="Caroline", occurred_ms=SAID)
    second = replace(first, text="Hey!", order=1, speaker="Melanie", occurred_ms=SAID + 5, previous=(first.id,))

    opening, rest = extract([first, second], "UTC")

    [episode] = opening.memories
    assert (episode.kind, episode.quote, episode.entity_names) == (
        MemoryKind.EPISODE, "Hey Mel!", ("Caroline", "Melanie"),
    )  # fmt: skip
    assert episode.about == Interval(SAID, SAID + 6)
    assert rest.memories == ()
    assert [entity.name for entity in rest.entities] == ["Melanie"]


def test_a_turn_in_the_middle_begins_no_conversation() -> None:
    turn = a_passage("Hey Mel!", kind=PassageKind.TURN, session="s", speaker="Caroline", occurred_ms=SAID)
    middle = replace(turn, previous=(turn.id,))

    assert extract([middle, replace(middle, order=2)], "UTC")[0].memories == ()


async def test_one_extraction_per_passage_in_order() -> None:
    passages = [a_passage(f"Ada owns {number} engines in London.", order=number) for number in range(5)]

    found = await LexicalExtractor().extract(passages, "UTC")

    assert [extraction.passage for extraction in found] == [passage.id for passage in passages]
    assert list(found) == list(await LexicalExtractor().extract(passages, "UTC"))


@given(
    st.text(max_size=400) | st.text(alphabet="Ada went. yesterday until 2024 will\n`#=(今天。", max_size=400)
)
def test_every_quote_stands_in_its_passage(text: str) -> None:
    found = memories(text)

    assert len(found) <= MAX_MEMORIES
    assert all(memory.quote in text for memory in found)
