"""Memories by a language model: one call for each window of passages, and only what they really say is kept."""

from dormouse.adapters.extractor.candidates import sift
from dormouse.adapters.extractor.prompt import VERSION, prompt_of, reply_tokens
from dormouse.adapters.extractor.salvage import Salvaged, salvage
from dormouse.adapters.language_model.chat import ChatModel, estimated_tokens
from dormouse.errors import ModelReplyMalformedError
from dormouse.ports.extractor import ModelUsage, Window, WindowExtraction

USUAL_SHARE = 3  # a reply takes about a third of what it is allowed


class LlmExtractor:
    def __init__(self, chat: ChatModel) -> None:
        self._chat = chat

    @property
    def version(self) -> str:
        return f"{self._chat.model}/{VERSION}"

    def estimated_tokens(self, window: Window) -> int:
        prompt = prompt_of(window)
        return estimated_tokens(prompt.instructions, prompt.data) + reply_tokens(window) // USUAL_SHARE

    async def derive(self, window: Window) -> WindowExtraction:
        """What a reply of no use holds is nothing: asking again would cost as much and say the same."""
        prompt = prompt_of(window)
        try:
            reply = await self._chat.ask(prompt)
        except ModelReplyMalformedError:
            asked = ModelUsage(calls=1, tokens_in=estimated_tokens(prompt.instructions, prompt.data))
            nothing = sift(Salvaged(broken=1), window)
            return WindowExtraction(nothing.extractions, asked, dict(nothing.dropped))
        sifted = sift(salvage(reply.text), window)
        return WindowExtraction(
            extractions=sifted.extractions,
            usage=ModelUsage(reply.calls, reply.tokens_in, reply.tokens_out),
            dropped=dict(sifted.dropped),
            repaired=sifted.repaired,
        )
