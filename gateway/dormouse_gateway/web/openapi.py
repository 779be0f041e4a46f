"""The OpenAPI document of whatever routes are served, from what each says of itself.

Source: OpenAPI 3.1.1.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel, TypeAdapter
from pydantic.json_schema import GenerateJsonSchema
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute
from typing_extensions import TypedDict

from dormouse_gateway.web.operation import FILE, JSON, Answer, DescribedRoute, Form, Operation, Parameter
from dormouse_gateway.web.problems import REPLIES, AsciiResponse

PATH = "/openapi.json"
DESCRIPTION = """Shared, long-term memory for AI agents.

A request needs a key, as `X-Api-Key` or `Authorization: Bearer`, unless its path is open or the server has no
keys file and listens on loopback for its one user. Fields of bodies may also be written in snake_case. Unknown
fields and query parameters are refused. Every error answers with `ProblemView`."""

REQUEST_ID = Parameter(
    "X-Request-Id",
    "Names this request in the server's log. One that the caller sends is kept when it is 1 to 128 letters, "
    "digits or `._-`; another is given otherwise.",
    place="header",
)
RETRY_AFTER = Parameter("Retry-After", "Seconds after which another try may do.", {"type": "integer"}, "header")

_ANYWHERE = (429, 500, 503)
_TO_TRY_AGAIN = (429, 503)


class ProblemView(TypedDict):
    """What is wrong (`detail` names field and rule), a stable `code`, and what to do about it."""

    detail: str
    code: str
    remediation: str
    request_id: str


def openapi_route(version: str) -> DescribedRoute:
    """Describes the application that serves it, itself included; written when first asked for."""
    written: list[dict[str, Any]] = []

    async def read(request: Request) -> Response:
        if not written:
            written.append(document(request.app.routes, version))
        return AsciiResponse(written[0])

    operation = Operation(
        "This description", "server", {200: Answer("An OpenAPI 3.1 document.", dict[str, Any])}, is_open=True
    )
    return DescribedRoute(PATH, read, {"GET": operation}, methods=["GET"])


def document(routes: Iterable[BaseRoute], version: str) -> dict[str, Any]:
    """Of all described routes; a path with a slash at its end is another way to write the same."""
    described = [
        (route.path, method, operation)
        for route in routes
        if isinstance(route, DescribedRoute) and not route.path.endswith("/")
        for method, operation in route.operations.items()
    ]
    writer = _Writer(*_schemas([operation for _, _, operation in described]))
    refused = {status for _, _, operation in described for status in refusals_of(operation)}
    paths: dict[str, dict[str, Any]] = {}
    for path, method, operation in sorted(described, key=lambda each: each[:2]):
        paths.setdefault(path, {})[method.lower()] = writer.operation(operation, f"{method} {path}")
    return {
        "openapi": "3.1.1",
        "info": {
            "title": "Dormouse",
            "version": version,
            "description": DESCRIPTION,
            "license": {"name": "Apache-2.0", "identifier": "Apache-2.0"},
        },
        "security": [{"ApiKey": []}, {"Bearer": []}],
        "paths": paths,
        "components": {
            "schemas": dict(sorted(writer.definitions.items())),
            "responses": {f"Refused{status}": writer.refusal(status) for status in sorted(refused)},
            "securitySchemes": {
                "ApiKey": {"type": "apiKey", "in": "header", "name": "X-Api-Key"},
                "Bearer": {"type": "http", "scheme": "bearer"},
            },
        },
    }


def refusals_of(operation: Operation) -> list[int]:
    """Every status that an error of this route may have."""
    found = {*operation.refusals, *_ANYWHERE}
    if not operation.is_open:
        found.add(401)
    if not operation.is_open or operation.names_in("query"):
        found.add(400)  # a query parameter that is not declared
    if operation.names_in("path"):
        found.add(404)
    if operation.body is not None:
        found |= {400, 413, 415}
    return sorted(found)


class _Schema(GenerateJsonSchema):
    def field_title_should_be_set(self, _schema: object) -> bool:
        """A name in other letters tells nobody more."""
        return False


def _schemas(operations: Iterable[Operation]) -> tuple[dict[Any, Any], dict[str, Any]]:
    """The schema of every shape, and the definitions they share."""
    bodies, answers = [], [ProblemView]
    for operation in operations:
        if operation.body is not None:
            bodies.append(_model_of(operation.body))
        answers += [answer.shape for answer in operation.answers.values() if answer.shape is not None]
    inputs = [(body, "validation", TypeAdapter(body)) for body in dict.fromkeys(bodies)]
    outputs = [(shape, "serialization", TypeAdapter(shape)) for shape in dict.fromkeys(answers)]
    schemas, rest = TypeAdapter.json_schemas(
        [*inputs, *outputs],  # type: ignore[list-item]
        ref_template="#/components/schemas/{model}",
        schema_generator=_Schema,
    )
    return {shape: schema for (shape, _), schema in schemas.items()}, rest.get("$defs", {})


def _model_of(body: type[BaseModel] | Form) -> type[BaseModel]:
    return body.fields if isinstance(body, Form) else body


@dataclass(frozen=True, slots=True)
class _Writer:
    schemas: Mapping[Any, Any]
    definitions: Mapping[str, Any]

    def operation(self, operation: Operation, name: str) -> dict[str, Any]:
        written: dict[str, Any] = {
            "operationId": name,
            "summary": operation.summary,
            "tags": [operation.tag],
            "parameters": [_parameter(each) for each in (*operation.parameters, REQUEST_ID)],
            "responses": {str(status): self._answer(each) for status, each in operation.answers.items()},
        }
        if operation.description:
            written["description"] = operation.description
        if operation.body is not None:
            written["requestBody"] = self._body(operation.body)
        if operation.is_open:
            written["security"] = []
        for status in refusals_of(operation):
            written["responses"].setdefault(str(status), {"$ref": f"#/components/responses/Refused{status}"})
        return written

    def _body(self, body: type[BaseModel] | Form) -> dict[str, Any]:
        schema = self.schemas[_model_of(body)]
        if not isinstance(body, Form):
            return {"required": True, "content": {JSON: {"schema": schema}}}
        plain = self.definitions[schema["$ref"].rpartition("/")[2]]
        form = {**plain, "properties": {**plain["properties"], **body.more}}
        if body.required:
            form["required"] = [*plain.get("required", ()), *body.required]
        return {"required": True, "content": {"multipart/form-data": {"schema": form}}}

    def _answer(self, answer: Answer) -> dict[str, Any]:
        schema = {"type": "null"} if answer.media == JSON else FILE
        if answer.shape is not None:
            schema = self.schemas[answer.shape]
        headers = {each.name: _header(each) for each in (*answer.headers, REQUEST_ID)}
        if not answer.media:
            return {"description": answer.meaning, "headers": headers}
        return {
            "description": answer.meaning,
            "headers": headers,
            "content": {answer.media: {"schema": schema}},
        }

    def refusal(self, status: int) -> dict[str, Any]:
        codes = " or ".join(f"`{code}`" for code, reply in REPLIES.items() if reply.status == status)
        headers = [REQUEST_ID, RETRY_AFTER] if status in _TO_TRY_AGAIN else [REQUEST_ID]
        return {
            "description": f"Refused: `code` is {codes or '`invalid_input`'}.",
            "headers": {each.name: _header(each) for each in headers},
            "content": {JSON: {"schema": self.schemas[ProblemView]}},
        }


def _parameter(parameter: Parameter) -> dict[str, Any]:
    return {
        "name": parameter.name,
        "in": parameter.place,
        "required": parameter.is_required,
        "description": parameter.meaning,
        "schema": dict(parameter.schema),
    }


def _header(parameter: Parameter) -> dict[str, Any]:
    return {"description": parameter.meaning, "schema": dict(parameter.schema)}
