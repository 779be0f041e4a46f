import httpx
import pytest

from dormouse.adapters.extractor.llm import LlmExtractor
from dormouse.adapters.language_model.chat import ChatModel
from dormouse.adapters.language_model.endpoint import open_client
from dormouse.ports.extractor import Window
from tests.builders import a_passage

WINDOW = Window((a_passage("I moved to Berlin in May."), a_passage("It rained.", order=1)))


@pytest.mark.parametrize("body", ["{}", "[" * 100_000, '{"choices": [{"message": {"content": {}}}]}'])
async def test_a_malformed_reply_costs_its_window_and_is_counted(body: str) -> None:
    answers = httpx.MockTransport(
        lambda _: httpx.Response(200, text=body, headers={"Content-Type": "application/json"})
    )
    chat = ChatModel(open_client("http://llm.test/v1", "", 30.0, transport=answers), "m", slots=1)

    made = await LlmExtractor(chat).derive(WINDOW)

    assert [each.memories for each in made.extractions] == [(), ()]
    assert dict(made.dropped) == {"malformed": 1}
    assert made.usage.calls == 1
    assert made.usage.tokens_in > 0
