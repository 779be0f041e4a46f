"""What a start with a language model opens; importing this loads the client library."""

from dataclasses import dataclass

from dormouse.adapters.answerer.extractive import ExtractiveAnswerer
from dormouse.adapters.answerer.llm import LlmAnswerer
from dormouse.adapters.answerer.patient import PatientAnswerer
from dormouse.adapters.extractor.llm import LlmExtractor
from dormouse.adapters.language_model.chat import ChatModel
from dormouse.adapters.language_model.endpoint import open_client
from dormouse.model.health import LanguageModelUse
from dormouse.settings import LLMSettings

ANSWERS_AT_ONCE = 8  # callers wait for them, so they never queue behind the deriving of memories


@dataclass(frozen=True, slots=True)
class LanguageModel:
    """`extractor` is None where memories are not to be derived; `host` names the endpoint."""

    answerer: PatientAnswerer
    extractor: LlmExtractor | None
    chats: tuple[ChatModel, ...]
    host: str

    def use(self) -> LanguageModelUse:
        failures = [chat.last_failure for chat in self.chats if chat.last_failure]
        return LanguageModelUse(self.chats[0].model, self.host, failures[0] if failures else "")

    async def close(self) -> None:
        for chat in self.chats:
            await chat.close()


def open_language_model(settings: LLMSettings) -> LanguageModel:
    """Nothing is sent: an endpoint that is down at start is asked again when there is something to ask."""
    answers = _chat(settings, settings.answer_timeout_s, ANSWERS_AT_ONCE)
    derives = _chat(settings, settings.timeout_s, settings.concurrent_calls)
    return LanguageModel(
        answerer=PatientAnswerer(
            LlmAnswerer(answers), ExtractiveAnswerer(), deadline_s=settings.answer_timeout_s
        ),
        extractor=LlmExtractor(derives) if settings.enrich else None,
        chats=(answers, derives),
        host=settings.host,
    )


def _chat(settings: LLMSettings, timeout_s: float, slots: int) -> ChatModel:
    client = open_client(settings.base_url, settings.api_key.get_secret_value(), timeout_s)
    return ChatModel(client, settings.model, slots=slots)
