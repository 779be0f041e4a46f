from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dormouse.ingest.parsed import ParsedDocument, Section, Turn
from dormouse.ingest.split import split
from dormouse.model.document import ContentKind
from dormouse.model.passage import Passage, PassageKind, Precision
from tests.builders import NOW_MS, a_document, a_revision

PROSE = "Ada {0} wrote the first program for the engine in year {0}. It was never run there. "


def passages(parsed: ParsedDocument, kind: ContentKind = ContentKind.TEXT) -> tuple[Passage, ...]:
    document = a_document(name="notes.txt")
    return split(parsed, document, replace(a_revision(document.id, 3), kind=kind))


def test_a_turn_is_indexed_with_its_time_and_speaker() -> None:
    turn = Turn("Caroline", "", "Hey Mel!", time="1:56 pm on 8 May, 2023", occurred_ms=5, external_id="D1:1")

    [passage] = passages(ParsedDocument(turns=(turn,)), ContentKind.CHAT)

    assert passage.indexed_text == "1:56 pm on 8 May, 2023 Caroline: Hey Mel!"
    assert (passage.kind, passage.occurred_ms, passage.external_id) == (PassageKind.TURN, 5, "D1:1")
    assert (passage.first_revision, passage.last_revision) == (3, 3)


def test_neighbours_are_those_before_in_the_same_session_nearest_first() -> None:
    turns = tuple(Turn("Ann", "", f"t{n}", session=session) for n, session in enumerate("aabaa"))

    found = passages(ParsedDocument(turns=turns))

    assert [passage.order for passage in found] == [0, 1, 2, 3, 4]
    assert found[2].previous == ()
    assert found[4].previous == (found[3].id, found[1].id)


def test_a_long_turn_is_chunked_and_every_piece_names_the_turn() -> None:
    long = "".join(PROSE.format(n) for n in range(40))

    found = passages(ParsedDocument(turns=(Turn("Ann", "user", long, external_id="7"), Turn("Bob", "", "ok"))))

    assert len(found) > 3
    assert {(p.speaker, p.role, p.external_id, p.kind) for p in found[:-1]} == {
        ("Ann", "user", "7", PassageKind.TURN)
    }
    assert found[-1].previous == (found[-2].id, found[-3].id)


def test_a_turn_without_a_time_was_said_after_the_one_before_it() -> None:
    turns = (Turn("a", "", "x", occurred_ms=9, precision=Precision.DAY), Turn("b", "", "y"))

    later = passages(ParsedDocument(turns=turns), ContentKind.CHAT)[1]

    assert (later.occurred_ms, later.precision, later.heading) == (9, Precision.FUZZY, "b")


@pytest.mark.parametrize(("kind", "occurred_ms"), [(ContentKind.TEXT, NOW_MS), (ContentKind.FILE, None)])
def test_a_note_is_said_when_handed_over_and_a_file_at_no_known_time(
    kind: ContentKind, occurred_ms: int | None
) -> None:
    [passage] = passages(ParsedDocument(sections=(Section((), "Ada lives in London."),)), kind)

    assert passage.occurred_ms == occurred_ms


def test_a_chunk_is_headed_by_its_path_and_a_file_by_its_name() -> None:
    sections = (Section(("Plan", "Step 1"), "Begin."), Section((), "Loose."))

    assert [p.heading for p in passages(ParsedDocument(title="Plan", sections=sections))] == [
        "Plan › Step 1",
        "Plan",
    ]
    assert passages(ParsedDocument(sections=sections[1:]), ContentKind.FILE)[0].heading == "notes.txt"
    assert passages(ParsedDocument(sections=sections[1:]))[0].heading == ""


def test_a_title_that_the_text_begins_with_is_not_said_twice() -> None:
    [passage] = passages(ParsedDocument(title="Fix (film)", sections=(Section((), "Fix (film)\nA film."),)))

    assert passage.indexed_text == "Fix (film)\nA film."


def test_equal_texts_are_different_passages() -> None:
    found = passages(ParsedDocument(turns=(Turn("a", "", "ok"), Turn("a", "", "ok"))))

    assert found[0].id != found[1].id


def test_a_changed_paragraph_in_the_middle_leaves_the_other_ids() -> None:
    paragraphs = [(PROSE.format(n) * 6).strip() for n in range(9)]
    before = passages(ParsedDocument(sections=(Section((), "\n\n".join(paragraphs)),)))
    paragraphs[4] = paragraphs[4].replace("Ada 4", "Grace 4")

    after = passages(ParsedDocument(sections=(Section((), "\n\n".join(paragraphs)),)))

    assert len({p.id for p in before} ^ {p.id for p in after}) == 2


@given(st.lists(st.tuples(st.sampled_from(["a", "b"]), st.text(alphabet="xyz 今.\n", min_size=1)), max_size=20))
def test_ids_are_unique_and_the_same_each_time(said: list[tuple[str, str]]) -> None:
    parsed = ParsedDocument(turns=tuple(Turn(who, "", text) for who, text in said if text.strip()))

    found = passages(parsed)

    assert len({passage.id for passage in found}) == len(found)
    assert passages(parsed) == found
    assert "".join(p.text for p in found).split() or not parsed.turns
