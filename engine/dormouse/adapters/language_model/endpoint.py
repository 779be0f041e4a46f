"""The client of an OpenAI-compatible endpoint, and its failures in the engine's words.

Importing this module loads the client library, which takes a second: only a start that uses it does so.
"""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Literal

import httpx
import openai

from dormouse.errors import ModelRefusedError, ModelReplyMalformedError, ModelUnavailableError

CONNECT_S = 5.0
Group = Literal["LLM", "EMBEDDING"]

_REFUSALS = {
    401: "refuses the key: check DORMOUSE_{group}__API_KEY",
    402: "wants to be paid first",
    403: "refuses the key: check DORMOUSE_{group}__API_KEY",
    404: "does not know the model or the path: check DORMOUSE_{group}__MODEL and DORMOUSE_{group}__BASE_URL",
}
_PASSING = frozenset({408, 409, 425, 429})
MOST_TOKENS = 100_000_000  # of one call; no model reads or says as much
# What reading an answer of another shape ends in, the client library's own reading too.
_MISREADINGS = (ValueError, TypeError, AttributeError, LookupError, OverflowError, RecursionError)


def open_client(
    base_url: str, api_key: str, timeout_s: float, *, transport: httpx.AsyncBaseTransport | None = None
) -> openai.AsyncOpenAI:
    """Nothing is sent yet. Variables that other programs use for the same library are not followed."""
    timeout = httpx.Timeout(timeout_s, connect=CONNECT_S)
    client = openai.AsyncOpenAI(
        base_url=base_url,
        api_key=api_key or "none",  # an endpoint without keys gets one that says so
        organization="",
        project="",
        timeout=timeout,
        max_retries=0,
        http_client=httpx.AsyncClient(timeout=timeout, transport=transport, follow_redirects=False),
    )
    client.organization = client.project = None
    return client


@contextmanager
def failures_translated(group: Group) -> Iterator[None]:
    """Raises `ModelUnavailableError` for what may pass, `ModelRefusedError` for what will not, and
    `ModelReplyMalformedError` for JSON of another shape than the interface's; no text of the endpoint's goes
    on, for it may quote what it was sent."""
    try:
        yield
    except openai.APIStatusError as exc:
        raise _translated(exc, group) from exc
    except (openai.APIConnectionError, httpx.HTTPError) as exc:
        raise ModelUnavailableError("the model's endpoint does not answer") from exc
    except (openai.OpenAIError, json.JSONDecodeError, UnicodeDecodeError) as exc:  # some proxy's page, say
        raise ModelUnavailableError("the model's endpoint answered with something unreadable") from exc
    except _MISREADINGS as exc:
        raise ModelReplyMalformedError("the model's endpoint answered in another form than agreed") from exc


def counted_tokens(usage: object, name: str) -> int | None:
    """The endpoint's own count, None where it gives none that can be one."""
    count = getattr(usage, name, None)
    is_count = isinstance(count, int) and not isinstance(count, bool) and 0 <= count <= MOST_TOKENS
    return count if is_count else None


def retry_after_s(failure: BaseException | None) -> float | None:
    """What the endpoint asked for; dates are left out, whole and broken seconds are not."""
    if not isinstance(failure, openai.APIStatusError):
        return None
    try:
        seconds = float(failure.response.headers.get("retry-after", ""))
    except ValueError:
        return None
    return seconds if 0 <= seconds < 86_400 else None


def complaint_of(failure: openai.APIStatusError) -> str:
    """For choosing another way to ask; never shown to anybody."""
    return f"{failure.param or ''} {failure.message}"


def _translated(failure: openai.APIStatusError, group: Group) -> ModelRefusedError | ModelUnavailableError:
    status = failure.status_code
    if status == 429 and failure.code == "insufficient_quota":
        status = 402
    if status >= 500 or status in _PASSING:
        wait_s = round(retry_after_s(failure) or 1)
        said = "is asked too often just now" if status == 429 else "is not available"
        return ModelUnavailableError(f"the model's endpoint {said}", retry_after_s=max(wait_s, 1))
    said = _REFUSALS.get(status, f"refuses the request (HTTP {status})").format(group=group)
    return ModelRefusedError(f"the model's endpoint {said}")
