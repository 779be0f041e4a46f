import asyncio
from collections.abc import Sequence

import pytest

from dormouse.adapters.answerer.extractive import ExtractiveAnswerer
from dormouse.adapters.answerer.patient import PatientAnswerer
from dormouse.errors import ModelRefusedError, ModelReplyMalformedError, ModelUnavailableError
from dormouse.model.passage import Passage
from dormouse.ports.answerer import Answer
from tests.builders import a_passage


class HangingAnswerer:
    async def answer(self, question: str, passages: Sequence[Passage], instruction: str) -> Answer:
        await asyncio.Event().wait()
        raise AssertionError("never")


class FailingAnswerer:
    def __init__(self, error: Exception) -> None:
        self._error = error

    async def answer(self, question: str, passages: Sequence[Passage], instruction: str) -> Answer:
        raise self._error


@pytest.mark.virtual_time
async def test_a_hanging_model_costs_the_deadline_and_the_best_memories_are_quoted() -> None:
    patient = PatientAnswerer(HangingAnswerer(), ExtractiveAnswerer(), deadline_s=20.0)

    answer = await patient.answer("Where does Ada live?", [a_passage()], "")

    assert asyncio.get_running_loop().time() == 20.0
    assert answer == Answer("“Ada lives in London.”", (0,), "extractive", is_second_best=True)


@pytest.mark.parametrize(
    "error", [ModelUnavailableError("away"), ModelRefusedError("no"), ModelReplyMalformedError("odd")]
)
async def test_a_failing_model_costs_nothing_but_its_words(error: Exception) -> None:
    patient = PatientAnswerer(FailingAnswerer(error), ExtractiveAnswerer(), deadline_s=20.0)

    assert (await patient.answer("Where does Ada live?", [a_passage()], "")).is_second_best


async def test_an_error_nobody_foresaw_is_not_hidden() -> None:
    patient = PatientAnswerer(FailingAnswerer(KeyError()), ExtractiveAnswerer(), deadline_s=20.0)

    with pytest.raises(KeyError):
        await patient.answer("Where?", [a_passage()], "")
