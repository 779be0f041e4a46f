"""What a model sent as arguments, made into what a tool asked for.

Models send null for "nothing", "null" for null, objects as JSON strings and keys that nobody asked for.
What is meant beyond doubt is understood; everything else is refused by name, and no value is ever repeated.
"""

from collections.abc import Mapping
from functools import cache
from typing import Any, ClassVar, TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError
from pydantic_core import ErrorDetails

from dormouse.errors import InvalidInputError
from dormouse_gateway.mcp.sole_keys import RepeatedKeyError, loads
from dormouse_gateway.web.field_rules import rule_of

IGNORED = frozenset({"task_progress"})  # one client adds it to every call

A = TypeVar("A", bound="Arguments")


class Arguments(BaseModel):
    """Arguments of one tool. `ids` are the parameters for which "" and "null" mean absent, and which are
    trimmed; other strings are content and stay as they came."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    ids: ClassVar[frozenset[str]] = frozenset()


def read_arguments(model: type[A], given: Mapping[str, Any] | None) -> A:
    """Raises InvalidInputError, naming the first parameter that is wrong and its rule."""
    meant = {name: _meant(model, name, value) for name, value in (given or {}).items() if name not in IGNORED}
    present = {
        name: value for name, value in meant.items() if value is not None or name not in model.model_fields
    }
    try:
        return model.model_validate(present)
    except ValidationError as exc:
        found = exc.errors(include_url=False, include_context=False, include_input=False)
        raise _refusal(found) from None  # its text quotes values


def whole(value: str) -> str:
    """Lone surrogates cannot be stored or sent: each becomes U+FFFD."""
    if value.isascii():
        return value
    return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _meant(model: type[Arguments], name: str, value: object) -> object:
    """`value` as it was meant; None for absent."""
    if not isinstance(value, str):
        return _all_whole(value)
    text = whole(value)
    if name in model.ids:
        text = text.strip()
        if text in {"", "null"}:
            return None
    wanted = _containers_of(model).get(name)
    return _decoded(name, text, wanted) if wanted else text


def _all_whole(value: object) -> object:
    if isinstance(value, str):
        return whole(value)
    if isinstance(value, list):
        return [_all_whole(item) for item in value]
    if isinstance(value, dict):
        return {whole(str(key)): _all_whole(item) for key, item in value.items()}
    return value


@cache  # by model, and there are as many of these as tools
def _containers_of(model: type[Arguments]) -> Mapping[str, type]:
    """The parameters that are a list or an object, and which of the two."""
    annotations = {name: str(field.annotation) for name, field in model.model_fields.items()}
    lists = {name: list for name, text in annotations.items() if text.startswith(("list", "tuple"))}
    return {**lists, **{name: dict for name, text in annotations.items() if text.startswith("dict")}}


def _decoded(name: str, text: str, wanted: type) -> object:
    """A list or object that came as a JSON string; a bare string stands for a list of one."""
    if text.strip() in {"", "null"}:
        return None
    try:
        value = loads(text)
    except RepeatedKeyError as exc:
        raise InvalidInputError(f"{name} must have the key '{exc.key}' once only.", field=name) from None
    except (ValueError, RecursionError):
        value = None
    if isinstance(value, wanted):
        return _all_whole(value)
    return [text] if wanted is list else text


def _refusal(found: list[ErrorDetails]) -> InvalidInputError:
    """One sentence about the first fault; unknown names come first, since a typo explains the rest."""
    fault = next((error for error in found if error["type"] == "extra_forbidden"), found[0])
    name = whole(str(fault["loc"][0]))[:64] if fault["loc"] else "arguments"
    if fault["type"] == "extra_forbidden":
        return InvalidInputError(f"unknown argument '{name}'.", field=name)
    if fault["type"] == "missing":
        return InvalidInputError(f"{name} is required.", field=name)
    rule = rule_of(fault, {}).removesuffix(".")
    return InvalidInputError(f"{name} {rule}.", field=name)
