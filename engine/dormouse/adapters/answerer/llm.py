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
from dormouse.errors import ModelReplyMalformedError
from dormouse.model.passage import Passage
from dormouse.ports.answerer import Answer
from dormouse.text.soundness import made_sound

NOT_ANSWERED = "The memories that were found do not answer this."

_FENCE = re.compile(r"\A```(?:json)?\s*|\s*```\Z", re.IGNORECASE)
_NUMBER = r"(?:\d{1,3}\s*[-–]\s*\d{1,3}|[-+−#^]?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?)"
_MARK = re.compile(rf"\s*\[\s*({_NUMBER}(?:\s*[,;]\s*{_NUMBER})*)\s*\]")
_STRETCH = re.compile(r"(\d{1,3})(?:\s*[-–]\s*(\d{1,3}))?")


@dataclass(frozen=True, slots=True)
class Worded:
    """`sources` count from 1, as the model was told them."""

    text: str
    sources: tuple[int, ...] = ()


class LlmAnswerer:
    def __init__(self, chat: ChatModel) -> None:
        self._chat = chat

    async def answer(self, question: str, passages: Sequence[Passage], instruction: str) -> Answer:
        """Raises `ModelUnavailableError`, `ModelRefusedError` and `ModelReplyMalformedError`; without passages
        nobody is asked."""
        if not passages:
            return Answer(NO_INFORMATION, (), self._chat.model)
        reply = await self._chat.ask(prompt_of(question, passages, instruction), is_patient=False)
        if reply.is_cut:
            raise ModelReplyMalformedError("the model's answer was cut off at its limit")
        worded = read_reply(reply.text, len(passages))
        if worded is None:
            return Answer(NOT_ANSWERED, (), self._chat.model)
        return Answer(worded.text, tuple(number - 1 for number in worded.sources), self._chat.model)


def read_reply(reply: str, sources: int) -> Worded | None:
    """The answer with the sources it names, in the order of its marks; None if it says they hold none.

    Raises `ModelReplyMalformedError` for anything else: what names no source may be anybody's guess.
    """
    parts = _parts(reply)
    if parts is None:
        return None
    answer, listed = parts
    text = _marked_soundly(made_sound(answer), sources).strip()
    marked = [number for marks in _MARK.findall(text) for number in _numbers(marks, sources)]
    named = dict.fromkeys([*marked, *(number for number in listed if 1 <= number <= sources)])
    if not (text and named):
        raise ModelReplyMalformedError("the model's answer names none of the memories it was given")
    return Worded(text, tuple(named))


def _parts(reply: str) -> tuple[str, list[int]] | None:
    """An endpoint without constrained JSON may answer in plain words; their marks are all there is then. None
    where a whole reply says that there is no answer."""
    text = _FENCE.sub("", reply.strip())
    try:
        said, _ = json.JSONDecoder(strict=False).raw_decode(text)
    except (ValueError, RecursionError):
        return ("", []) if text.startswith("{") else (text, [])
    if isinstance(said, dict) and said.get("answered") is False:
        return None
    if not isinstance(said, dict) or not isinstance(said.get("answer"), str):
        return "", []
    listed = said.get("sources")
    numbers = listed if isinstance(listed, list) else []
    return said["answer"], [each for each in numbers if isinstance(each, int) and not isinstance(each, bool)]


def _marked_soundly(answer: str, sources: int) -> str:
    """Until nothing changes: what stood around a mark that is gone may be one itself."""
    while True:
        text = _MARK.sub(lambda found: _kept(found, sources), answer)
        if text == answer:
            return text
        answer = text


def _numbers(marks: str, sources: int) -> list[int]:
    """Those that are a source's; `1-3` are three, and a stretch that leaves the sources is none."""
    numbers: list[int] = []
    for each in re.split(r"\s*[,;]\s*", marks):
        found = _STRETCH.fullmatch(each)
        first, last = (int(found[1]), int(found[2] or found[1])) if found else (0, 0)
        if 1 <= first <= last <= sources:
            numbers += range(first, last + 1)
    return numbers


def _kept(found: re.Match[str], sources: int) -> str:
    """A mark as one pair of brackets a number, without the numbers that no source has."""
    numbers = _numbers(found[1], sources)
    space = found[0][: found[0].index("[")] if numbers else ""
    return space + "".join(f"[{number}]" for number in numbers)
