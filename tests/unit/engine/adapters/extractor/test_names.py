import pytest
from hypothesis import given
from hypothesis import strategies as st

from dormouse.adapters.extractor.names import MAX_NAMES, names


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("We met Alice Johnson of Acme Corp.", {"Alice Johnson of Acme Corp"}),
        ("Yesterday I saw Dr. Smith in Berlin.", {"Dr. Smith", "Berlin"}),
        ("We run PostgreSQL 18.2 and GPT-4 on Monday, 3 May 2024.", {"PostgreSQL 18.2", "GPT-4"}),
        ("Bob's phone broke. Dana works here.", {"Bob", "Dana"}),
        ("The weather is nice. Everything went well.", set()),
        ("I read “The Night Watch” with @ada_l.", {"The Night Watch", "@ada_l"}),
        ("她读了《红楼梦》。", {"红楼梦"}),
        ("Émilie lives with Łukasz and Анна.", {"Émilie", "Łukasz", "Анна"}),
    ],
)
def test_names_are_found_as_written(text: str, expected: set[str]) -> None:
    assert set(names(text, "en")) == expected


def test_a_speaker_is_known_where_a_sentence_begins() -> None:
    assert names("Caroline came too.", "en", {"Caroline"}) == ("Caroline",)
    assert names("Caroline came too.", "en") == ()


@given(st.text(max_size=300))
def test_names_are_bounded_and_stand_in_the_text(text: str) -> None:
    found = names(text, "en")

    assert len(found) <= MAX_NAMES
    assert all(name and name in text for name in found)
