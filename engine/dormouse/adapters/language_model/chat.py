"""One question to a language model, asked again while trouble may pass, and as the endpoint understands it.

Never more calls at a time than its slots; content goes into the request and nowhere else.
"""

import asyncio
import random
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import openai
from openai.types.chat import ChatCompletion

from dormouse import telemetry
from dormouse.adapters.language_model.back_off import pause_s
from dormouse.adapters.language_model.dialect import Dialect
from dormouse.adapters.language_model.endpoint import complaint_of, failures_translated, retry_after_s
from dormouse.errors import ModelRefusedError, ModelUnavailableError

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
        self._slots = asyncio.Semaphore(slots)
        self._dialect = Dialect()

    async def ask(self, prompt: Prompt, *, is_patient: bool = True) -> Reply:
        """Raises `ModelUnavailableError` and `ModelRefusedError`; an impatient caller's one attempt is all."""
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

    async def close(self) -> None:
        await self._client.close()

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
            if not isinstance(completion, ChatCompletion):  # a page of some proxy's, say
                raise ValueError("not a completion")  # noqa: TRY004 - its value, not our call, is wrong
        return _reply_of(completion, prompt, attempt)


def estimated_tokens(*texts: str) -> int:
    """A cautious guess: three bytes a token holds for most scripts."""
    return sum(len(text.encode("utf-8", "replace")) for text in texts) // 3 + 1


def _simpler(dialect: Dialect, refused: ModelRefusedError, prompt: Prompt) -> Dialect | None:
    cause = refused.__cause__
    if not isinstance(cause, openai.APIStatusError) or cause.status_code not in _MALFORMED_REQUEST:
        return None
    return dialect.after_refusal(complaint_of(cause), wants_json=prompt.schema is not None)


def _reply_of(completion: ChatCompletion, prompt: Prompt, calls: int) -> Reply:
    """Endpoints leave out what they please; a reply without a choice is an empty one."""
    choices: Sequence[Any] = getattr(completion, "choices", None) or ()
    message = getattr(choices[0], "message", None) if choices else None
    text = getattr(message, "content", None) or ""
    usage = getattr(completion, "usage", None)
    return Reply(
        text=text,
        tokens_in=getattr(usage, "prompt_tokens", None) or estimated_tokens(prompt.instructions, prompt.data),
        tokens_out=getattr(usage, "completion_tokens", None) or estimated_tokens(text),
        calls=calls,
        is_cut=bool(choices) and getattr(choices[0], "finish_reason", None) == "length",
    )
