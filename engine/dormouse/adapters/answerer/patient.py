"""A slow or failing answerer never costs the caller the answer: after a deadline, another one answers."""

import asyncio
from collections.abc import Sequence
from dataclasses import replace

import structlog

from dormouse.errors import ModelRefusedError, ModelReplyMalformedError, ModelUnavailableError
from dormouse.model.passage import Passage
from dormouse.ports.answerer import Answer, Answerer

log = structlog.get_logger()


class PatientAnswerer:
    """`deadline_s` bounds how long `first` is waited for; `second` must not wait for anybody."""

    def __init__(self, first: Answerer, second: Answerer, *, deadline_s: float) -> None:
        self._first, self._second, self._deadline_s = first, second, deadline_s

    async def answer(self, question: str, passages: Sequence[Passage], instruction: str) -> Answer:
        try:
            async with asyncio.timeout(self._deadline_s):
                return await self._first.answer(question, passages, instruction)
        except TimeoutError:
            log.warning("answer_too_late", deadline_s=self._deadline_s)
        except (ModelUnavailableError, ModelRefusedError, ModelReplyMalformedError) as exc:
            log.warning("answer_failed", code=exc.code)
        return replace(await self._second.answer(question, passages, instruction), is_second_best=True)
