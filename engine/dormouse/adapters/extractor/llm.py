"""Memories by a language model: one call for each window of passages, and only what they really say is kept."""

from collections import Counter
from dataclasses import replace

from dormouse.adapters.extractor.candidates import sift
from dormouse.adapters.extractor.prompt import VERSION, prompt_of, reply_tokens
from dormouse.adapters.extractor.salvage import Salvaged, salvage
from dormouse.adapters.language_model.chat import ChatModel, estimated_tokens
from dormouse.errors import ModelReplyMalformedError
from dormouse.model.passage import WINDOW_BEFORE
from dormouse.ports.extractor import ModelUsage, Window, WindowExtraction

MOST_HALVINGS = 2
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
        """What a reply of no use holds is nothing: asking again would cost as much and say the same. One that
        was cut off is asked for in halves, and then in quarters; of a quarter is kept what is whole."""
        return await self._derived(window, MOST_HALVINGS)

    async def _derived(self, window: Window, halvings: int) -> WindowExtraction:
        prompt = prompt_of(window)
        try:
            reply = await self._chat.ask(prompt)
        except ModelReplyMalformedError:
            asked = ModelUsage(calls=1, tokens_in=estimated_tokens(prompt.instructions, prompt.data))
            nothing = sift(Salvaged(broken=1), window)
            return WindowExtraction(nothing.extractions, asked, dict(nothing.dropped))
        usage = ModelUsage(reply.calls, reply.tokens_in, reply.tokens_out)
        if reply.is_cut and halvings and len(window.passages) > 1:
            first, second = halves(window)
            found = await self._derived(first, halvings - 1)
            return _joined(usage, found, await self._derived(second, halvings - 1))
        sifted = sift(salvage(reply.text), window)
        return WindowExtraction(
            extractions=sifted.extractions,
            usage=usage,
            dropped=dict(sifted.dropped),
            repaired=sifted.repaired,
        )


def halves(window: Window) -> tuple[Window, Window]:
    """Both together have the window's passages; the second sees the last of the first's."""
    middle = len(window.passages) // 2
    first, second = window.passages[:middle], window.passages[middle:]
    return replace(window, passages=first), replace(window, passages=second, before=first[-WINDOW_BEFORE:])


def _joined(cut: ModelUsage, first: WindowExtraction, second: WindowExtraction) -> WindowExtraction:
    usages = (cut, first.usage, second.usage)
    return WindowExtraction(
        extractions=first.extractions + second.extractions,
        usage=ModelUsage(
            sum(each.calls for each in usages),
            sum(each.tokens_in for each in usages),
            sum(each.tokens_out for each in usages),
        ),
        dropped=dict(Counter(first.dropped) + Counter(second.dropped)),
        repaired=first.repaired + second.repaired,
    )
