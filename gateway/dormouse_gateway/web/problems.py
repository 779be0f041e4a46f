"""One table from error code to answer, and one envelope: `detail`, `code`, `remediation`, `request_id`.

Details are the engine's own messages, which name field and rule; nothing foreign (driver texts, paths,
traces) ever reaches a caller. A test fails when a code of `dormouse.errors` is missing here.
"""

import json
import logging
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple
from uuid import uuid4

from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, Response
from starlette.types import ExceptionHandler, Scope

from dormouse.errors import DormouseError, UnavailableError

log = logging.getLogger(__name__)


class Reply(NamedTuple):
    status: int
    remediation: str


_CLOSED_BY_CLIENT = 499  # no standard has one; proxies log this
_LATER = "Try again after the time in Retry-After."
REPLIES: Mapping[str, Reply] = {
    "invalid_input": Reply(400, "Correct the named field and send the request again."),
    "unreadable_document": Reply(422, "Check that the file opens and that its name ends as its type does."),
    "too_large": Reply(413, "Split the content and send the parts one by one."),
    "unknown_ontology": Reply(
        409, "Upload it first, with `dormouse ontology add` or `POST /api/v1/ontologies`, or leave the key out."
    ),
    "not_found": Reply(404, "Check the name or id; `GET /api/v1/datasets` and `GET /api/v1/jobs` list yours."),
    "forbidden": Reply(403, "Ask the dataset's owner for the grant that this needs."),
    "conflict": Reply(409, "Read the current state, then decide again."),
    "document_exists": Reply(409, "Send the new content to PATCH /api/v1/update."),
    "idempotency_conflict": Reply(422, "Use a new Idempotency-Key for another request."),
    "superseded": Reply(409, "Nothing is to be done: newer content or a forget took its place."),
    "unavailable": Reply(503, _LATER),
    "catalog_unavailable": Reply(503, _LATER + " If it stays, run `dormouse doctor`."),
    "store_unavailable": Reply(503, _LATER + " If it stays, run `dormouse doctor`."),
    "embedder_unavailable": Reply(503, _LATER + " If it stays, run `dormouse doctor`."),
    "model_unavailable": Reply(
        503, _LATER + " If it stays, see to the endpoint that DORMOUSE_LLM__BASE_URL names."
    ),
    "model_refused": Reply(502, "Ask whoever runs the server to check the DORMOUSE_LLM__ settings."),
    "model_reply_malformed": Reply(502, "Ask whoever runs the server to check the DORMOUSE_LLM__ settings."),
    "overloaded": Reply(429, _LATER),
    "data_folder_busy": Reply(503, "Use the server that owns the data folder; `dormouse status` names it."),
    "lease_lost": Reply(503, _LATER),
    "misconfigured": Reply(500, "Ask whoever runs the server to run `dormouse doctor`."),
    "internal": Reply(500, "Report it with the request_id; the server's log has the details."),
    # What HTTP itself refuses, before the engine is asked.
    "unauthenticated": Reply(401, "Send an API key as `X-Api-Key` or `Authorization: Bearer`."),
    "method_not_allowed": Reply(405, "See the Allow header."),
    "unsupported_media_type": Reply(415, "Send the content type that the route expects."),
}
_OF_STATUS = {404: "not_found", 405: "method_not_allowed", 413: "too_large", 415: "unsupported_media_type"}


@dataclass(frozen=True, slots=True)
class Problem:
    """What is answered. An empty `remediation` means the table's."""

    code: str
    detail: str
    status: int = 0
    remediation: str = ""
    headers: Mapping[str, str] = field(default_factory=dict)


class ProblemError(Exception):
    """Ends a handler with exactly this answer, for texts and statuses that a contract records."""

    def __init__(self, problem: Problem) -> None:
        super().__init__(problem.detail)
        self.problem = problem


def request_id_of(scope: Scope) -> str:
    """The request's id, given at first use; it is in every problem and in the log, never guessable content."""
    state = scope.setdefault("state", {})
    return str(state.setdefault("request_id", uuid4().hex))


def name_request(scope: Scope, request_id: str) -> None:
    """The caller's own id for it; the caller of this says that it is fit to be shown and logged."""
    scope.setdefault("state", {})["request_id"] = request_id


def problem_of(error: DormouseError) -> Problem:
    headers = {"Retry-After": str(error.retry_after_s)} if isinstance(error, UnavailableError) else {}
    return Problem(code=error.code, detail=str(error), headers=headers)


def problem_response(problem: Problem, scope: Scope) -> Response:
    reply = REPLIES[problem.code]
    body = {
        "detail": problem.detail,
        "code": problem.code,
        "remediation": problem.remediation or reply.remediation,
        "request_id": request_id_of(scope),
    }
    status = problem.status or reply.status
    return AsciiResponse(body, status_code=status, headers=dict(problem.headers))


class AsciiResponse(JSONResponse):
    """JSON that survives lone surrogates: they travel escaped, as everything beyond ASCII does."""

    def render(self, content: object) -> bytes:
        return json.dumps(content, separators=(",", ":"), allow_nan=False).encode("ascii")


def exception_handlers() -> dict[type[Exception], ExceptionHandler]:
    """For Starlette's `exception_handlers`: every way a handler may end becomes the one envelope."""
    return {
        DormouseError: _on_dormouse_error,
        ProblemError: _on_problem,
        HTTPException: _on_http_refusal,
        ClientDisconnect: _on_hang_up,
        Exception: _on_surprise,
    }


async def _on_dormouse_error(request: Request, error: Exception) -> Response:
    assert isinstance(error, DormouseError)
    if REPLIES[error.code].status >= 500:
        log.warning("request_failed", extra={"code": error.code})
    return problem_response(problem_of(error), request.scope)


async def _on_problem(request: Request, error: Exception) -> Response:
    assert isinstance(error, ProblemError)
    return problem_response(error.problem, request.scope)


async def _on_http_refusal(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    code = _OF_STATUS.get(error.status_code, "invalid_input")
    problem = Problem(
        code=code, detail=error.detail, status=error.status_code, headers=dict(error.headers or {})
    )
    return problem_response(problem, request.scope)


async def _on_hang_up(_request: Request, _error: Exception) -> Response:
    """The client left in the middle of its own body: no fault of the server's, and nobody hears the answer."""
    return Response(status_code=_CLOSED_BY_CLIENT)


async def _on_surprise(request: Request, _error: Exception) -> Response:
    """Starlette raises the error again after this answer, and the outermost layers log it whole."""
    return problem_response(
        Problem(code="internal", detail="Something went wrong on the server."), request.scope
    )
