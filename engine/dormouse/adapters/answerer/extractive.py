"""An answer without a language model: the sentences of the best memories that share most with the question."""

import re
from collections.abc import Sequence

from dormouse.model.passage import Passage
from dormouse.ports.answerer import Answer
from dormouse.text.language import detect_language
from dormouse.text.terms import query_terms, terms

MODEL = "extractive"
NO_INFORMATION = "There is no information about this in memory."
QUOTES = 3
LONGEST_QUOTE = 400  # characters

_SENTENCE = re.compile(r"[^.!?。！？\n]+(?:[.!?。！？]+[\"”')\]]*|\n|$)")


class ExtractiveAnswerer:
    async def answer(self, question: str, passages: Sequence[Passage], instruction: str) -> Answer:
        """`instruction` can steer nobody here and is not followed."""
        del instruction
        if not passages:
            return Answer(NO_INFORMATION, (), MODEL)
        chosen = _chosen(question, passages)
        quotes = [_quoted(question, passages[i]) for i in chosen]
        return Answer("\n".join(quotes), chosen, MODEL)


def _chosen(question: str, passages: Sequence[Passage]) -> tuple[int, ...]:
    """The best passage, and those of the next few that share a term with the question."""
    wanted = query_terms(question, detect_language(question)).keys()
    speaking = [
        i
        for i, passage in enumerate(passages)
        if i == 0 or wanted & terms(passage.indexed_text, passage.language).keys()
    ]
    return tuple(speaking[:QUOTES])


def _quoted(question: str, passage: Passage) -> str:
    quote = best_sentence(question, passage.text)
    return f"{passage.heading}: “{quote}”" if passage.heading else f"“{quote}”"


def best_sentence(question: str, text: str) -> str:
    """The sentence that shares most terms with the question, the first among equals, in its own words."""
    wanted = query_terms(question, detect_language(question))
    language = detect_language(text)
    sentences = [found.group().strip() for found in _SENTENCE.finditer(text)]
    best = max(
        (each for each in sentences if each),
        key=lambda each: len(wanted.keys() & terms(each, language).keys()),
        default=text.strip(),
    )
    return best if len(best) <= LONGEST_QUOTE else best[: LONGEST_QUOTE - 1].rstrip() + "…"
