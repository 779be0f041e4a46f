"""The real client library over a transport that answers in the process; the loop's clock is virtual."""

import asyncio
import json
from collections.abc import Callable
from typing import Any

import httpx
import pytest

from dormouse.adapters.language_model.chat import ChatModel, Prompt, estimated_tokens
from dormouse.adapters.language_model.endpoint import open_client
from dormouse.errors import ModelRefusedError, ModelReplyMalformedError, ModelUnavailableError

pytestmark = pytest.mark.virtual_time

PROMPT = Prompt("Be brief.", '{"question": "?"}', limit=50, schema={"type": "object"})
JSON = {"Content-Type": "application/json"}
Answer = Callable[[int, dict[str, Any]], httpx.Response]


class Endpoint(httpx.AsyncBaseTransport):
    """Answers by the number of the request; notes what was asked and when."""

    def __init__(self, answer: Answer) -> None:
        self._answer = answer
        self.asked: list[dict[str, Any]] = []
        self.at_s: list[float] = []

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        self.asked.append(json.loads(request.content))
        self.at_s.append(asyncio.get_running_loop().time())
        return self._answer(len(self.asked), self.asked[-1])

    def model(self, slots: int = 1) -> ChatModel:
        return ChatModel(open_client("http://llm.test/v1", "", 30.0, transport=self), "m", slots=slots)


def said(text: str = "yes", finish: str = "stop", **usage: int) -> httpx.Response:
    choice = {"index": 0, "finish_reason": finish, "message": {"role": "assistant", "content": text}}
    body = {"id": "1", "object": "chat.completion", "created": 1, "model": "m", "choices": [choice]}
    return httpx.Response(200, json=body | ({"usage": usage} if usage else {}))


def refused(status: int, message: str = "no", code: str | None = None, **headers: str) -> httpx.Response:
    return httpx.Response(status, json={"error": {"message": message, "code": code}}, headers=headers)


async def test_tokens_are_the_endpoints_own_count() -> None:
    endpoint = Endpoint(lambda *_: said("yes", prompt_tokens=11, completion_tokens=2, total_tokens=13))

    reply = await endpoint.model().ask(PROMPT)

    assert (reply.text, reply.tokens_in, reply.tokens_out, reply.calls) == ("yes", 11, 2, 1)


async def test_an_endpoint_that_counts_nothing_is_counted_for() -> None:
    reply = await Endpoint(lambda *_: said("yes")).model().ask(PROMPT)

    assert reply.tokens_in > 0
    assert reply.tokens_out > 0


async def test_a_busy_endpoint_is_asked_again_when_it_wants_to_be() -> None:
    endpoint = Endpoint(lambda number, _: refused(429, **{"Retry-After": "7"}) if number == 1 else said())

    reply = await endpoint.model().ask(PROMPT)

    assert reply.calls == 2
    assert 7 <= endpoint.at_s[1] - endpoint.at_s[0] < 10


@pytest.mark.parametrize("status", [408, 429, 500, 502, 503])
async def test_trouble_that_stays_ends_after_a_few_attempts(status: int) -> None:
    endpoint = Endpoint(lambda *_: refused(status))

    with pytest.raises(ModelUnavailableError):
        await endpoint.model().ask(PROMPT)

    assert len(endpoint.asked) == 4


async def test_whoever_is_waited_for_asks_once() -> None:
    endpoint = Endpoint(lambda *_: refused(500))

    with pytest.raises(ModelUnavailableError):
        await endpoint.model().ask(PROMPT, is_patient=False)

    assert len(endpoint.asked) == 1


async def test_an_endpoint_that_asks_for_an_hour_is_left_alone_and_the_time_is_passed_on() -> None:
    endpoint = Endpoint(lambda *_: refused(429, **{"Retry-After": "3600"}))

    with pytest.raises(ModelUnavailableError) as caught:
        await endpoint.model().ask(PROMPT)

    assert (len(endpoint.asked), caught.value.retry_after_s) == (1, 3600)


@pytest.mark.parametrize(
    ("answer", "names"),
    [
        (refused(401, "Incorrect API key provided: s3cret"), "DORMOUSE_LLM__API_KEY"),
        (refused(404, "no model s3cret"), "DORMOUSE_LLM__MODEL"),
        (refused(429, "s3cret", "insufficient_quota"), "paid"),
        (refused(400, "context too long: s3cret"), "HTTP 400"),
    ],
)
async def test_what_will_not_pass_is_not_repeated_and_quotes_nothing(
    answer: httpx.Response, names: str
) -> None:
    endpoint = Endpoint(lambda *_: answer)
    prompt = Prompt("Be brief.", "{}", limit=50)

    with pytest.raises(ModelRefusedError, match=names) as caught:
        await endpoint.model().ask(prompt)

    assert len(endpoint.asked) == 1
    assert "s3cret" not in str(caught.value)


async def test_an_endpoint_without_schemas_is_asked_more_simply_and_from_then_on() -> None:
    def plain_only(_number: int, asked: dict[str, Any]) -> httpx.Response:
        return refused(400, "response_format is unknown") if "response_format" in asked else said()

    endpoint = Endpoint(plain_only)
    model = endpoint.model()

    first = await model.ask(PROMPT)
    await model.ask(PROMPT)

    assert first.text == "yes"
    kinds = [asked.get("response_format", {}).get("type") for asked in endpoint.asked]
    assert kinds == ["json_schema", "json_object", None, None]


async def test_a_newer_name_for_the_limit_is_found_out() -> None:
    def newer(_number: int, asked: dict[str, Any]) -> httpx.Response:
        if "max_tokens" in asked:
            return refused(400, "Unsupported parameter: 'max_tokens', use 'max_completion_tokens'")
        return refused(400, "'temperature' does not support 0") if "temperature" in asked else said()

    endpoint = Endpoint(newer)

    await endpoint.model().ask(PROMPT)

    assert endpoint.asked[-1]["max_completion_tokens"] == 50
    assert endpoint.asked[-1]["response_format"]["type"] == "json_schema"


async def test_no_more_calls_at_a_time_than_slots() -> None:
    running, most = 0, 0
    are_two = asyncio.Event()  # the first is not over before the second came

    class Slow(Endpoint):
        async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
            nonlocal running, most
            running += 1
            most = max(most, running)
            if running > 1:
                are_two.set()
            await are_two.wait()
            await asyncio.sleep(0)
            running -= 1
            return said()

    model = Slow(lambda *_: said()).model(slots=2)

    async with asyncio.TaskGroup() as group:
        for _ in range(5):
            group.create_task(model.ask(PROMPT))

    assert most == 2


def choosing(choices: object) -> str:
    return json.dumps({"id": "1", "object": "chat.completion", "model": "m", "choices": choices})


@pytest.mark.parametrize(
    "body",
    [
        "null",
        "7",
        "[]",
        "{}",
        "[" * 100_000,
        '{"choices": ' + "[" * 100_000 + "]" * 100_000 + "}",
        '{"choices": ' + "9" * 10_000 + "}",
        choosing(None),
        choosing([]),
        choosing({}),
        choosing("yes"),
        choosing([None]),
        choosing(["yes"]),
        choosing([{}]),
        choosing([{"message": None}]),
        choosing([{"message": "yes"}]),
        choosing([{"message": {"content": {"text": "yes"}}}]),
        choosing([{"message": {"content": ["yes"]}}]),
        choosing([{"message": {"content": 7}}]),
    ],
    ids=lambda body: body[:70],
)
async def test_a_reply_of_another_shape_is_malformed_and_not_asked_for_again(body: str) -> None:
    endpoint = Endpoint(lambda *_: httpx.Response(200, text=body, headers=JSON))

    with pytest.raises(ModelReplyMalformedError):
        await endpoint.model().ask(PROMPT)

    assert len(endpoint.asked) == 1


async def test_a_message_without_content_is_an_empty_one() -> None:
    body = choosing([{"message": {"role": "assistant", "content": None}}])

    reply = await Endpoint(lambda *_: httpx.Response(200, text=body, headers=JSON)).model().ask(PROMPT)

    assert (reply.text, reply.is_cut) == ("", False)


@pytest.mark.parametrize(
    "wrong", ["NaN", "Infinity", "-1", "1e30", "9" * 100, "1.5", "true", '"7"', "{}", "null"]
)
async def test_a_count_that_can_be_none_is_estimated(wrong: str) -> None:
    usage = f', "usage": {{"prompt_tokens": {wrong}, "completion_tokens": {wrong}}}}}'
    body = choosing([{"message": {"role": "assistant", "content": "yes"}}])[:-1] + usage

    reply = await Endpoint(lambda *_: httpx.Response(200, text=body, headers=JSON)).model().ask(PROMPT)

    assert reply.tokens_in == estimated_tokens(PROMPT.instructions, PROMPT.data)
    assert reply.tokens_out == estimated_tokens("yes")


@pytest.mark.parametrize("kind", ["text/html", "application/json"])
async def test_a_reply_that_is_no_json_is_trouble_that_may_pass(kind: str) -> None:
    endpoint = Endpoint(lambda *_: httpx.Response(200, text="<html>", headers={"Content-Type": kind}))

    with pytest.raises(ModelUnavailableError):
        await endpoint.model().ask(PROMPT, is_patient=False)


async def test_other_programs_variables_are_not_followed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_ORG_ID", "theirs")
    monkeypatch.setenv("OPENAI_API_KEY", "theirs")
    headers: list[httpx.Headers] = []

    class Noting(Endpoint):
        async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
            headers.append(request.headers)
            return said()

    await Noting(lambda *_: said()).model().ask(PROMPT)

    assert "theirs" not in str(headers[0].raw)


async def test_the_last_failure_is_known_until_a_question_is_answered() -> None:
    model = Endpoint(lambda number, _: refused(401) if number == 1 else said()).model()
    before = model.last_failure

    with pytest.raises(ModelRefusedError):
        await model.ask(PROMPT)
    failed = model.last_failure
    await model.ask(PROMPT)

    assert (before, failed, model.last_failure) == ("", "model_refused", "")
