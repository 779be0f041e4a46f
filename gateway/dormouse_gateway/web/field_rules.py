"""What is wrong with a field, in words for whoever sent it: the validator's own speak of inputs and patterns,
and some repeat the value."""

from collections.abc import Mapping
from typing import Any

from pydantic_core import ErrorDetails

_OF_TYPE = {
    "int": "must be an integer",
    "float": "must be a number",
    "bool": "must be true or false",
    "list": "must be a list",
    "dict": "must be an object",
    "mapping": "must be an object",
    "model": "must be an object",
}
_WRONG_TYPE = frozenset({"type", "parsing", "attributes_type", "parsing_size", "from_float"})
_OWN = "Value error, "


def rule_of(fault: ErrorDetails, patterns: Mapping[str, str]) -> str:
    """The rule that was broken. `patterns` says in words what the regular expressions of the fields demand."""
    kind, _, what = fault["type"].partition("_")
    context: Mapping[str, Any] = fault.get("ctx") or {}
    if kind in _OF_TYPE and what in _WRONG_TYPE:
        return _OF_TYPE[kind]
    match fault["type"]:
        case "string_type":
            return "must be a string"
        case "string_pattern_mismatch":
            return patterns[context["pattern"]]
        case "union_tag_invalid":
            return f"must have as its type one of {context['expected_tags']}"
        case "union_tag_not_found":
            return "must have a type"
    said = fault["msg"].removeprefix(_OWN)
    for theirs, ours in (("Input should be ", "must be "), ("String should have ", "must have ")):
        said = said.replace(theirs, ours)
    return said[:1].lower() + said[1:]
