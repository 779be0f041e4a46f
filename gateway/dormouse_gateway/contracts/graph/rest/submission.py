"""Items handed over as a form: files in `data`, texts in `raw_data`, and what is said of them.

Everything is checked before anything is stored.
"""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeVar

from starlette.datastructures import FormData, UploadFile
from starlette.requests import Request

from dormouse.errors import InvalidInputError, TooLargeError
from dormouse.ingest.ontologies import option_of
from dormouse.model.document import CONTENT_LIMIT_BYTES, Content, ContentKind
from dormouse_gateway.contracts.graph.rest.bodies import AddBody, ItemFields, RememberBody, parsed
from dormouse_gateway.mcp.sole_keys import RepeatedKeyError, loads
from dormouse_gateway.web.instants import instant_of
from dormouse_gateway.web.limits import form
from dormouse_gateway.web.operation import FILE, TEXT
from dormouse_gateway.web.problems import Problem, ProblemError

MAX_FILENAME_CHARACTERS = 1024
_FILE_FIELD, _TEXT_FIELD = "data", "raw_data"
_REPEATED = frozenset({"ontology_key", "ontologyKey"})
ITEM_PARTS: Mapping[str, Mapping[str, object]] = {
    _FILE_FIELD: {"type": "array", "items": FILE, "description": "Files, each of up to 10 MiB."},
    _TEXT_FIELD: {"type": "array", "items": TEXT, "description": "Texts, each of up to 10 MiB."},
}
_UNSAFE = re.compile(r"[\x00-\x1f\x7f]|^/|^[A-Za-z]:|(^|/)\.\.(/|$)")

F = TypeVar("F", bound=ItemFields)


async def submitted(request: Request, fields: type[F]) -> tuple[F, list[Content]]:
    """The form's plain fields, and its items: files first, then texts."""
    given = await form(request)
    try:
        return await _read(given, fields)
    finally:
        await given.close()


def target_of(body: RememberBody | AddBody) -> None:
    """Raises `InvalidInputError` unless exactly one of name and id says where the items go."""
    if bool(body.dataset_name) == bool(body.dataset_id):
        raise InvalidInputError("Either datasetId or datasetName must be provided.", field="datasetName")


def hashed_parts(body: ItemFields, contents: Sequence[Content]) -> tuple[bytes, ...]:
    """What counts as the body of a repeated call; whether the first one waited does not."""
    said = body.model_dump_json(exclude={"run_in_background"}).encode()
    names = (content.filename.encode("utf-8", "replace") for content in contents)
    return (said, *names, *(content.body for content in contents))


def file_name(given: str) -> str:
    """The name as sent, folders included; never a way out of them.

    Raises `InvalidInputError` for absolute paths, `..`, control characters and names that are too long.
    """
    parts = given.replace("\\", "/").split("/")
    # A leading slash stays: it is refused.
    name = "/".join(part for at, part in enumerate(parts) if part not in {"", "."} or (at == 0 and not part))
    if not name or len(name) > MAX_FILENAME_CHARACTERS or _UNSAFE.search(name):
        raise InvalidInputError(
            f"a file's name must be relative, without '..', and at most {MAX_FILENAME_CHARACTERS} characters",
            field="data",
        )
    return name


def _plain(fields: FormData) -> dict[str, object]:
    plain: dict[str, Any] = {}
    for name, value in fields.multi_items():
        if name in {_FILE_FIELD, _TEXT_FIELD}:
            continue
        if name in _REPEATED and isinstance(value, str):
            plain.setdefault(name, []).append(value)
            continue
        if name in plain or not isinstance(value, str):
            raise InvalidInputError(f"{name[:60]}: one text value is expected", field=name[:60])
        plain[name] = value
    return plain


async def _uploaded(file: str | UploadFile, body: ItemFields, template: Content) -> Content:
    if isinstance(file, str):
        raise InvalidInputError("data: files are expected; send text as 'raw_data'", field="data")
    name = file_name(file.filename or "upload.txt")
    content = _sized(await file.read(CONTENT_LIMIT_BYTES + 1), "data")
    return replace(template, body=content, kind=ContentKind(body.kind or "file"), filename=name)


def _typed(text: str | UploadFile, body: ItemFields, template: Content) -> Content:
    """Text is text, also when it looks like a path or an address: nothing is fetched."""
    if not isinstance(text, str):
        raise InvalidInputError("raw_data: text is expected; send files as 'data'", field="raw_data")
    content = _sized(text.encode("utf-8", "surrogatepass"), "raw_data")
    return replace(template, body=content, kind=ContentKind(body.kind or "text"))


def _sized(content: bytes, field: str) -> bytes:
    if len(content) > CONTENT_LIMIT_BYTES:
        raise TooLargeError(f"{field}: one item may have {CONTENT_LIMIT_BYTES:,} bytes", field=field)
    return content


async def _read(given: FormData, fields: type[F]) -> tuple[F, list[Content]]:
    body = parsed(fields, _plain(given))
    occurred_ms, offset = instant_of(body.occurred_at, "occurred_at") if body.occurred_at else (None, None)
    template = Content(
        body=b"",
        external_id=body.external_id,
        occurred_ms=occurred_ms,
        offset_minutes=offset,
        zone=body.zone,
        is_kind_said=body.kind is not None,
        options=_given(custom_prompt=body.custom_prompt) | option_of(_named(body.ontology_key)),
    )
    contents = [await _uploaded(file, body, template) for file in given.getlist(_FILE_FIELD)]
    contents += [_typed(text, body, template) for text in given.getlist(_TEXT_FIELD)]
    if not contents:
        raise InvalidInputError("Provide at least one file in 'data' or one entry in 'raw_data'.", field="data")
    if body.external_id and len(contents) > 1:
        raise InvalidInputError("external_id: one item at a time can have it", field="external_id")
    return body, _described(body, contents)


def _described(body: ItemFields, contents: Sequence[Content]) -> list[Content]:
    """With the label and metadata of each, by position."""
    labels = labels_of(body.labels)
    metadata = metadata_of(body.external_metadata)
    for field, values in (("label", labels), ("external_metadata", metadata)):
        if values and len(values) != len(contents):
            raise ProblemError(Problem("invalid_input", _mismatch(field, len(values), len(contents))))
    labelled = [*labels, *[""] * (len(contents) - len(labels))]
    described = [*metadata, *[""] * (len(contents) - len(metadata))]
    said = body.model_fields_set
    return [
        replace(
            content,
            options=content.options
            | ({"label": label} if "labels" in said else {})
            | ({"external_metadata": about} if "external_metadata" in said else {}),
        )
        for content, label, about in zip(contents, labelled, described, strict=True)
    ]


def labels_of(text: str) -> list[str]:
    """A JSON array of texts, or texts with commas between them."""
    if not text.strip().startswith("["):
        return [label.strip() for label in text.split(",")] if text.strip() else []
    labels = _array(text, "labels")
    if not all(label is None or isinstance(label, str) for label in labels):
        raise InvalidInputError("labels must be a JSON array of texts", field="labels")
    return [str(label or "") for label in labels]


def metadata_of(text: str) -> list[str]:
    """Each item's JSON object as text, from an array of them."""
    rows = _array(text, "external_metadata") if text.strip() else []
    if not all(row is None or isinstance(row, dict) for row in rows):
        raise InvalidInputError("external_metadata must be a JSON array of objects", field="external_metadata")
    return [json.dumps(row) if row else "" for row in rows]


def _array(text: str, field: str) -> list[object]:
    try:
        rows = loads(text)
    except RepeatedKeyError as exc:
        raise InvalidInputError(f"{field} must have the key '{exc.key}' once only", field=field) from None
    except (ValueError, RecursionError) as exc:
        raise InvalidInputError(f"{field} must be a JSON array", field=field) from exc
    if not isinstance(rows, list):
        raise InvalidInputError(f"{field} must be a JSON array", field=field)
    return rows


def _named(keys: Sequence[str]) -> list[str]:
    """Forms send an empty field for none."""
    return [key for key in keys if key]


def _given(**options: str) -> dict[str, str]:
    return {name: value for name, value in options.items() if value}


def _mismatch(field: str, given: int, items: int) -> str:
    return (
        f"Provide one {field} per data item (uploads first, then raw_data entries): "
        f"got {given} {field}s for {items} items."
    )
