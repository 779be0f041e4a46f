"""At most one answer per recall, from the hits alone; nothing found means that nobody is asked."""

from collections.abc import Sequence

from dormouse.model.recall import Hit
from dormouse.ports.answerer import Answer, Answerer

MAX_PASSAGES = 30  # more dilutes an answer and costs tokens


async def answer(answerer: Answerer, question: str, hits: Sequence[Hit], instruction: str) -> Answer | None:
    if not hits:
        return None
    return await answerer.answer(question, [hit.passage for hit in hits[:MAX_PASSAGES]], instruction)
