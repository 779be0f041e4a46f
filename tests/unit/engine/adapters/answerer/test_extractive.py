from dormouse.adapters.answerer.extractive import NO_INFORMATION, ExtractiveAnswerer, best_sentence
from tests.builders import a_passage


async def test_it_quotes_the_sentence_that_answers() -> None:
    passage = a_passage("It rained. Ada lives in London. We left.", heading="Notes")

    made = await ExtractiveAnswerer().answer("Where does Ada live?", [passage], "")

    assert made.text == "Notes: “Ada lives in London.”"
    assert made.based_on == (0,)


async def test_nothing_remembered_is_said_so_and_rests_on_nothing() -> None:
    made = await ExtractiveAnswerer().answer("Where?", [], "")

    assert (made.text, made.based_on) == (NO_INFORMATION, ())


async def test_passages_that_share_nothing_with_the_question_are_not_quoted() -> None:
    passages = [a_passage("Ada lives in London."), a_passage("Bread is cheap.", order=1)]

    assert (await ExtractiveAnswerer().answer("Where does Ada live?", passages, "")).based_on == (0,)


def test_a_sentence_without_an_end_is_cut_with_a_mark() -> None:
    assert best_sentence("word", "word " * 500).endswith("…")
