"""GET /api/v1/export: what the caller may read, as JSON Lines in one canonical order.

The first line names format and version, the last one counts the lines between; an answer without it broke off.
"""

import json
from collections.abc import AsyncIterator

from starlette.responses import Response, StreamingResponse

from dormouse.audit.compare import ContentHash
from dormouse.audit.export import What
from dormouse.errors import InvalidInputError
from dormouse.model.scope import Permission, Scope
from dormouse_gateway.contracts.graph.rest.call import Call
from dormouse_gateway.web.operation import Answer, Operation, Parameter

FORMAT, VERSION = "dormouse export", 1
_MOST_DATASETS = 100

EXPORT = Operation(
    "Everything the caller may read, as JSON Lines",
    "server",
    {200: Answer("A head, the rows, and an end that counts them.", media="application/x-ndjson")},
    "Datasets, documents with their passages in reading order and their memories, entities and mentions. "
    'An answer without its last line, `"row": "end"`, broke off.',
    parameters=(
        Parameter(
            "dataset",
            "Only this dataset, by name or id; may be repeated.",
            {"type": "array", "items": {"type": "string"}},
        ),
        Parameter("vectors", "With vectors and term counts, to compare two memories.", {"type": "boolean"}),
    ),
    refusals=(404,),
)


async def export(call: Call) -> Response:
    """`dataset` (name or id) may be repeated; `vectors=true` adds vectors and term counts."""
    query = call.request.query_params
    named = [
        (await call.engine.dataset_named(call.scope, name, permission=Permission.READ)).id
        for name in query.getlist("dataset")[:_MOST_DATASETS]
    ]
    what = What(has_vectors=_flag(query.get("vectors", "false")))
    scope = call.scope.narrowed_to(named) if named else call.scope
    return StreamingResponse(_lines(call, scope, what), media_type="application/x-ndjson")


async def _lines(call: Call, scope: Scope, what: What) -> AsyncIterator[str]:
    yield _line({"row": "export", "format": FORMAT, "version": VERSION})
    count, content = 0, ContentHash()
    async for row in call.engine.export(scope, what):
        count += 1
        content.add(row)
        yield _line({"row": row.kind.value, **row.body})
    yield _line({"row": "end", "rows": count, "content_sha256": content.hexdigest()})


def _line(body: dict[str, object]) -> str:
    return json.dumps(body) + "\n"


def _flag(text: str) -> bool:
    if text not in {"true", "false"}:
        raise InvalidInputError("vectors must be true or false", field="vectors")
    return text == "true"
