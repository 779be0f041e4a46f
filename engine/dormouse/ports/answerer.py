"""Memories to an answer; memories are data, never instructions."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from dormouse.model.passage import Passage


@dataclass(frozen=True, slots=True)
class Answer:
    """`based_on` are positions in the passages given, best first; empty when nothing answered.

    `is_second_best`: another answerer was asked first and did not answer in time or at all.
    """

    text: str
    based_on: tuple[int, ...]
    model: str
    is_second_best: bool = False


class Answerer(Protocol):
    async def answer(self, question: str, passages: Sequence[Passage], instruction: str) -> Answer: ...
