import pytest
from hypothesis import given
from hypothesis import strategies as st

from dormouse.ingest.chunks import MAX_WORDS, chunks_of, weight_of

PARAGRAPH = (
    "The quick brown fox jumps over lazy dog number {0}. It then rests under tree {0} until evening comes. "
)


def paragraphs(count: int) -> list[str]:
    return [(PARAGRAPH.format(number) * 3).strip() for number in range(count)]


def test_chunks_have_about_110_to_150_words_and_end_with_sentences() -> None:
    chunks = list(chunks_of(" ".join(paragraphs(40))))

    assert all(weight_of(chunk) <= MAX_WORDS * 1.2 for chunk in chunks)
    assert sum(weight_of(chunk) >= 90 for chunk in chunks) >= len(chunks) - 1
    assert all(chunk.rstrip().endswith(".") for chunk in chunks)


def test_prose_wrapped_at_a_width_still_ends_with_sentences() -> None:
    words = " ".join(paragraphs(20)).split()
    wrapped = "\n".join(" ".join(words[start : start + 13]) for start in range(0, len(words), 13))

    assert all(chunk.endswith(".") for chunk in chunks_of(wrapped))


def test_lines_of_records_stay_whole() -> None:
    lines = [f"row {number}, some value. Another value, {number * 7}" for number in range(200)]

    found = "\n".join(chunks_of("\n".join(lines), keeps_lines=True)).split("\n")

    assert found == lines


@pytest.mark.parametrize(
    "text",
    ["a" * 40_000, "今天天气很好。我们去公园吧！" * 900, "👨‍👩‍👧" * 5000, "a," * 20_000, "\n" * 50_000 + "x"],
)
def test_text_without_words_is_cut_too(text: str) -> None:
    chunks = list(chunks_of(text))

    assert "".join("".join(chunks).split()) == "".join(text.split())
    assert max(map(len, chunks)) < 2000


def test_a_paragraph_put_in_leaves_later_chunks_as_they_were() -> None:
    whole = paragraphs(60)
    changed = [*whole[:20], "A new paragraph of a few words stands here now.", *whole[20:]]

    before, after = set(chunks_of("\n\n".join(whole))), set(chunks_of("\n\n".join(changed)))

    assert len(before - after) <= 4


@given(st.lists(st.text(alphabet="abcé今👍 .!?\n\t#-", max_size=400), max_size=30), st.booleans())
def test_no_character_but_white_space_is_lost(pieces: list[str], keeps_lines: bool) -> None:
    text = "\n".join(pieces)

    chunks = list(chunks_of(text, keeps_lines=keeps_lines))

    assert "".join("".join(chunks).split()) == "".join(text.split())
    assert all(chunk.strip() for chunk in chunks)
