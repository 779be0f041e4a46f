"""What a route is for, declared where it is served: read by `/openapi.json` and by the route itself.

A parameter that no operation declares is refused, so the description cannot leave one out.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal
from urllib.parse import unquote

from pydantic import BaseModel
from starlette.routing import Match, Route
from starlette.types import Scope

JSON = "application/json"
TEXT: Mapping[str, object] = {"type": "string"}
FILE: Mapping[str, object] = {"type": "string", "format": "binary"}


@dataclass(frozen=True, slots=True)
class Parameter:
    """`schema` is JSON Schema; one of type `array` in a query is a name that may be repeated."""

    name: str
    meaning: str
    schema: Mapping[str, object] = field(default_factory=lambda: TEXT)
    place: Literal["query", "header", "path"] = "query"
    is_required: bool = False


@dataclass(frozen=True, slots=True)
class Answer:
    """`shape` is a type that pydantic can describe (a `TypedDict` view); None: the body is `null` or, for
    another `media` than JSON, bytes; without `media` there is no body."""

    meaning: str
    shape: Any = None
    media: str = JSON
    headers: tuple[Parameter, ...] = ()


@dataclass(frozen=True, slots=True)
class Form:
    """A multipart body: the plain fields of a model, beside fields that are files or may be repeated.

    `required` are those of the latter that must be there."""

    fields: type[BaseModel]
    more: Mapping[str, Mapping[str, object]] = field(default_factory=dict)
    required: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Operation:
    """`refusals` are statuses of this route alone; those that any route may answer are added by themselves.
    `is_open`: served without a credential."""

    summary: str
    tag: str
    answers: Mapping[int, Answer]
    description: str = ""
    parameters: tuple[Parameter, ...] = ()
    body: type[BaseModel] | Form | None = None
    refusals: tuple[int, ...] = ()
    is_open: bool = False

    def names_in(self, place: Literal["query", "header", "path"]) -> frozenset[str]:
        return frozenset(each.name for each in self.parameters if each.place == place)


class DescribedRoute(Route):
    """A route that carries what it does. `methods` None: the endpoint itself answers for other methods."""

    def __init__(
        self,
        path: str,
        endpoint: Callable[..., Any],
        operations: Mapping[str, Operation],
        *,
        methods: Iterable[str] | None = None,
    ) -> None:
        super().__init__(path, endpoint, methods=None if methods is None else list(methods))
        self.operations = operations
        self._segments = path.split("/")

    def matches(self, scope: Scope) -> tuple[Match, Scope]:
        """A name in the path may have a slash in it, percent-encoded: paths are cut before they are decoded."""
        raw = scope.get("raw_path") or b""
        if b"%2f" not in raw.lower():
            return super().matches(scope)
        given = [unquote(each) for each in raw.decode("latin-1").split("/")]
        if len(given) != len(self._segments):
            return Match.NONE, {}
        named: dict[str, str] = {}
        for segment, text in zip(self._segments, given, strict=True):
            if segment.startswith("{"):
                named[segment[1:-1]] = text
            elif segment != text:
                return Match.NONE, {}
        if not all(named.values()):
            return Match.NONE, {}
        is_served = self.methods is None or scope["method"] in self.methods
        found = {"endpoint": self.endpoint, "path_params": {**scope.get("path_params", {}), **named}}
        return (Match.FULL if is_served else Match.PARTIAL), found


def path_parameter(name: str, meaning: str) -> Parameter:
    return Parameter(name, meaning, TEXT, "path", is_required=True)
