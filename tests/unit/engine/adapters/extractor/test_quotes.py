import pytest

from dormouse.adapters.extractor.quotes import found_in

TEXT = "On Monday  we met “Ada Lovelace” in\nLondon, and she told us about the engine she had seen."


@pytest.mark.parametrize(
    ("quote", "found"),
    [
        ("Ada Lovelace", "Ada Lovelace"),
        ('we met "ada lovelace" in London', "we met “Ada Lovelace” in\nLondon"),
        ("... she told us about the engine", "she told us about the engine"),
        ("On Monday we met Ada Lovelace in London", "On Monday  we met “Ada Lovelace” in\nLondon"),
        ("she told us all about the engine she had seen", "she told us about the engine she had seen"),
    ],
)
def test_a_quote_comes_back_in_the_passages_own_words(quote: str, found: str) -> None:
    assert found_in(quote, TEXT) == found


@pytest.mark.parametrize(
    "quote",
    [
        "",
        "On",
        "Charles Babbage",
        "she told us about the engine he had built himself years ago",
        "On Monday the engine she had seen",
        "London Ada Monday engine",
        "x" * 2000,
    ],
)
def test_what_the_passage_does_not_say_is_no_quote(quote: str) -> None:
    assert found_in(quote, TEXT) is None
