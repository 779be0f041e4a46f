"""An answer in a language model's words, which rests on sources it names or is not given.

One call, one attempt: whoever asks is waiting. Source: recall contract, "ask".
"""

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass

from dormouse.adapters.answerer.extractive import NO_INFORMATION
from dormouse.adapters.answerer.prompt import prompt_of
from dormouse.adapters.language_model.chat import ChatModel
from dormouse.model.passage import Passage
from dormouse.ports.answerer import Answer

NOT_ANSWERED = "The memories that were found do not answer this."

_FENCE = re.compile(r"\A```(?:json)?\s*|\s*```\Z", re.IGNORECASE)
_MARK = re.compile(r"\s*\[(\d{1,3}(?:\s*,\s*\d{1,3})*)\]")


@dataclass(frozen=True, slots=True)
class Worded:
    """`sources` count from 1, as the model was told them."""

    text: str
    sources: tuple[int, ...] = ()


class LlmAnswerer:
    def __init__(self, chat: ChatModel) -> None:
        self._chat = chat

    async def answer(self, question: str, passages: Sequence[Passage], instruction: str) -> Answer:
        """Raises `ModelUnavailableError` and `ModelRefusedError`; without passages nobody is asked."""
        if not passages:
            return Answer(NO_INFORMATION, (), self._chat.model)
        reply = await self._chat.ask(prompt_of(question, passages, instruction), is_patient=False)
        worded = read_reply(reply.text, len(passages))
        if worded is None:
            return Answer(NOT_ANSWERED, (), self._chat.model)
        return Answer(worded.text, tuple(number - 1 for number in worded.sources), self._chat.model)


def read_reply(reply: str, sources: int) -> Worded | None:
    """The answer with the sources it names, in the order of its marks; None if it rests on none of them."""
    answer, listed = _parts(reply)
    marked = [int(each) for marks in _MARK.findall(answer) for each in marks.split(",")]
    named = [number for number in dict.fromkeys([*marked, *listed]) if 1 <= number <= sources]
    text = _MARK.sub(lambda found: _kept(found, sources), answer).strip()
    return Worded(text, tuple(named)) if text and named else None


def _parts(reply: str) -> tuple[str, list[int]]:
    """An endpoint without constrained JSON may answer in plain words; their marks are all there is then."""
    text = _FENCE.sub("", reply.strip())
    try:
        said, _ = json.JSONDecoder(strict=False).raw_decode(text)
    except (ValueError, RecursionError):
        return ("", []) if text.startswith("{") else (text, [])
    if not isinstance(said, dict) or said.get("answered") is False or not isinstance(said.get("answer"), str):
        return "", []
    listed = said.get("sources")
    numbers = listed if isinstance(listed, list) else []
    return said["answer"], [each for each in numbers if isinstance(each, int) and not isinstance(each, bool)]


def _kept(found: re.Match[str], sources: int) -> str:
    """A mark as one pair of brackets a number, without the numbers that no source has."""
    numbers = [int(number) for number in found[1].split(",") if 1 <= int(number) <= sources]
    space = found[0][: found[0].index("[")] if numbers else ""
    return space + "".join(f"[{number}]" for number in numbers)
