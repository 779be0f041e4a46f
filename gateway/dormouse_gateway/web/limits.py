"""Bodies are read under a limit that holds while they stream, whatever Content-Length says."""

from collections.abc import AsyncGenerator

from starlette.datastructures import FormData
from starlette.formparsers import MultiPartException, MultiPartParser
from starlette.requests import Request

from dormouse.errors import InvalidInputError, TooLargeError
from dormouse.model.document import CONTENT_LIMIT_BYTES
from dormouse_gateway.mcp.arguments import whole
from dormouse_gateway.mcp.sole_keys import RepeatedKeyError, loads
from dormouse_gateway.web.field_names import note_fields
from dormouse_gateway.web.problems import Problem, ProblemError

JSON_LIMIT_BYTES = 1024 * 1024
FORM_LIMIT_BYTES = 64 * 1024 * 1024  # several documents of the largest size in one call
MAX_FILES = 100
MAX_FIELDS = 200
MAX_NAMES = 100


async def json_object(request: Request) -> dict[str, object]:
    """The body as a JSON object; an empty body is an empty object."""
    body = await _json(request, empty={})
    if not isinstance(body, dict):
        raise InvalidInputError("the body must be a JSON object")
    note_fields(request, map(str, body))
    return {str(_sound(name)): _sound(value) for name, value in body.items()}


async def json_names(request: Request) -> list[str]:
    """The body as a JSON array of texts, at least one."""
    body = await _json(request, empty=[])
    if (
        not isinstance(body, list)
        or not 0 < len(body) <= MAX_NAMES
        or not all(isinstance(each, str) for each in body)
    ):
        raise InvalidInputError(f"the body must be a JSON array of 1 to {MAX_NAMES} texts")
    return [whole(each) for each in body]


async def _json(request: Request, *, empty: object) -> object:
    _require_type(request, "application/json")
    content = b"".join([chunk async for chunk in _limited(request, JSON_LIMIT_BYTES)])
    if not content:
        return empty
    try:
        return loads(content)
    except RepeatedKeyError as exc:
        raise InvalidInputError(f"the body must have the key '{exc.key}' once only", field=exc.key) from None
    except (ValueError, RecursionError) as exc:
        raise InvalidInputError("the body is not valid JSON") from exc


async def form(request: Request) -> FormData:
    """The body as multipart/form-data. Large files lie in temporary files until `close` is awaited."""
    _require_type(request, "multipart/form-data")
    parser = MultiPartParser(
        request.headers,
        _limited(request, FORM_LIMIT_BYTES),
        max_files=MAX_FILES,
        max_fields=MAX_FIELDS,
        max_part_size=CONTENT_LIMIT_BYTES,
    )
    try:
        given = await parser.parse()
    except MultiPartException as exc:
        raise InvalidInputError(
            f"the form cannot be read: at most {MAX_FILES} files, {MAX_FIELDS} fields and 10 MiB per field"
        ) from exc
    note_fields(request, given)
    return given


def _sound(value: object) -> object:
    """Lone surrogates cannot be stored or sent on: each becomes U+FFFD, as in the tools."""
    if isinstance(value, str):
        return whole(value)
    if isinstance(value, list):
        return [_sound(each) for each in value]
    if isinstance(value, dict):
        return {str(_sound(name)): _sound(each) for name, each in value.items()}
    return value


async def _limited(request: Request, limit_bytes: int) -> AsyncGenerator[bytes, None]:
    announced = request.headers.get("content-length", "")
    if announced.isdecimal() and int(announced) > limit_bytes:
        raise _too_large(limit_bytes)
    taken = 0
    async for chunk in request.stream():
        taken += len(chunk)
        if taken > limit_bytes:
            raise _too_large(limit_bytes)
        yield chunk


def _too_large(limit_bytes: int) -> TooLargeError:
    return TooLargeError(f"the body is over {limit_bytes:,} bytes")


def _require_type(request: Request, wanted: str) -> None:
    """Also keeps web pages out: a browser sends neither type to another origin without asking first."""
    given = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if given != wanted:
        raise ProblemError(Problem(code="unsupported_media_type", detail=f"the body must be {wanted}"))
