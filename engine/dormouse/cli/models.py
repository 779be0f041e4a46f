"""Whether the models of this environment answer: each is asked once, for a few tokens and a few seconds."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable

from dormouse.cli.finding import Finding
from dormouse.errors import DormouseError
from dormouse.settings import EmbeddingSettings, LLMSettings

ASK_S = 15.0
_REMEDY = "Correct it and restart the server; what is remembered and found by words needs no model."


async def answering(llm: LLMSettings, embedding: EmbeddingSettings) -> AsyncIterator[Finding]:
    """Nothing for a model that is not configured here."""
    if llm.is_configured:
        yield await _asked("language model, asked", f"{llm.model} at {llm.host}", lambda: _chat(llm))
    if embedding.is_configured:
        yield await _asked("embedding model, asked", embedding.model, lambda: _embed(embedding))


async def _asked(about: str, model: str, ask: Callable[[], Awaitable[None]]) -> Finding:
    try:
        async with asyncio.timeout(ASK_S):
            await ask()
    except DormouseError as exc:
        return Finding(about, "problem", f"{model}: {exc}", _REMEDY)
    except TimeoutError:
        words = f"{model}: no answer within {ASK_S:.0f} s"
        return Finding(
            about, "warning", words, "A slow one costs recalls their words; a lost one is not there."
        )
    return Finding(about, "ok", f"{model} answers")


async def _chat(settings: LLMSettings) -> None:
    from dormouse.adapters.language_model.chat import ChatModel, Prompt
    from dormouse.adapters.language_model.endpoint import open_client

    client = open_client(settings.base_url, settings.api_key.get_secret_value(), ASK_S)
    chat = ChatModel(client, settings.model, slots=1)
    try:
        await chat.ask(Prompt("Answer with one word.", "Are you there?", limit=16), is_patient=False)
    finally:
        await chat.close()


async def _embed(settings: EmbeddingSettings) -> None:
    from dormouse.adapters.embedder.openai import OpenAIEmbedder

    embedder = await OpenAIEmbedder.open(settings, None)
    try:
        await embedder.embed_query("dormouse")
    finally:
        await embedder.close()
