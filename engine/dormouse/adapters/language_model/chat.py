"""One question to a language model, asked again while trouble may pass, and as the endpoint understands it.

Never more calls at a time than its slots; content goes into the request and nowhere else.
"""

import asyncio
import random
from dataclasses import dataclass
from typing import Any

import openai
from openai.types.chat import ChatCompletion

from dormouse import telemetry
from dormouse.adapters.language_model.back_off import pause_s
from dormouse.adapters.language_model.dialect import Dialect
from dormouse.adapters.language_model.endpoint import (
    complaint_of,
    counted_tokens,
    failures_translated,
    retry_after_s,
)
from dormouse.errors import ModelRefusedError, ModelReplyMalformedError, ModelUnavailableError

_MALFORMED_REQUEST = frozenset({400, 422})


@dataclass(frozen=True, slots=True)
class Prompt:
    """`schema` is the JSON schema of the reply, None for words; `limit` the most tokens it may have."""

    instructions: str
    data: str
    limit: int
    schema: dict[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class Reply:
    """`is_cut`: the limit ended it. Tokens are the endpoint's count, or an estimate where it gives none;
    `calls` counts those that failed too."""

    text: str
    tokens_in: int
    tokens_out: int
    calls: int
    is_cut: bool = False


class ChatModel:
    """`slots` bounds calls at the same time."""

    def __init__(self, client: openai.AsyncOpenAI, model: str, *, slots: int) -> None:
        self._client = client
        self.model = model
        self.last_failure = ""  # the code of what the last question ended in
        self._slots = asyncio.Semaphore(slots)
        self._dialect = Dialect()

    async def ask(self, prompt: Prompt, *, is_patient: bool = True) -> Reply:
        """Raises `ModelUnavailableError`, `ModelRefusedError` and `ModelReplyMalformedError`; an impatient
        caller's one attempt is all."""
        try:
            reply = await self._attempted(prompt, is_patient=is_patient)
        except (ModelUnavailableError, ModelRefusedError, ModelReplyMalformedError) as exc:
            self.last_failure = exc.code
            raise
        self.last_failure = ""
        return reply

    async def close(self) -> None:
        await self._client.close()

    async def _attempted(self, prompt: Prompt, *, is_patient: bool) -> Reply:
        attempt = 1
        async with self._slots:
            while True:
                try:
                    return await self._asked(prompt, attempt)
                except ModelUnavailableError as exc:
                    wait_s = pause_s(attempt, retry_after_s(exc.__cause__), random.random())  # noqa: S311 - no secret
                    if wait_s is None or not is_patient:
                        raise
                attempt += 1
                await asyncio.sleep(wait_s)

    async def _asked(self, prompt: Prompt, attempt: int) -> Reply:
        """In ever simpler words while the endpoint does not understand; what it understood is kept."""
        dialect = self._dialect
        while True:
            try:
                with telemetry.chat(self.model) as seen:
                    reply = await self._call(prompt, dialect, attempt)
                    seen.tokens_in, seen.tokens_out = reply.tokens_in, reply.tokens_out
            except ModelRefusedError as exc:
                simpler = _simpler(dialect, exc, prompt)
                if simpler is None:
                    raise
                dialect = simpler
                continue
            self._dialect = dialect
            return reply

    async def _call(self, prompt: Prompt, dialect: Dialect, attempt: int) -> Reply:
        with failures_translated("LLM"):
            completion = await self._client.chat.completions.create(
                model=self.model,
                messages=[
                    {"role": "system", "content": prompt.instructions},
                    {"role": "user", "content": prompt.data},
                ],
                **dialect.options(prompt.schema, prompt.limit),
            )
            if isinstance(completion, str):
                raise ModelUnavailableError("the model's endpoint answered with a page")  # some proxy's, say
            return _reply_of(completion, prompt, attempt)


def estimated_tokens(*texts: str) -> int:
    """A cautious guess: three bytes a token holds for most scripts."""
    return sum(len(text.encode("utf-8", "replace")) for text in texts) // 3 + 1


def _simpler(dialect: Dialect, refused: ModelRefusedError, prompt: Prompt) -> Dialect | None:
    cause = refused.__cause__
    if not isinstance(cause, openai.APIStatusError) or cause.status_code not in _MALFORMED_REQUEST:
        return None
    return dialect.after_refusal(complaint_of(cause), wants_json=prompt.schema is not None)


def _reply_of(completion: object, prompt: Prompt, calls: int) -> Reply:
    """Raises `TypeError` for any other shape; the client library checks none. Endpoints may leave out the
    text, the usage and why it ended."""
    choices = completion.choices if isinstance(completion, ChatCompletion) else None
    if not isinstance(choices, list) or not choices:
        raise TypeError("a completion has choices")
    message = choices[0].message
    text = "" if message.content is None else message.content
    if not isinstance(text, str):
        raise TypeError("the content of a message is text")
    usage = getattr(completion, "usage", None)
    return Reply(
        text=text,
        tokens_in=counted_tokens(usage, "prompt_tokens") or estimated_tokens(prompt.instructions, prompt.data),
        tokens_out=counted_tokens(usage, "completion_tokens") or estimated_tokens(text),
        calls=calls,
        is_cut=getattr(choices[0], "finish_reason", None) == "length",
    )
