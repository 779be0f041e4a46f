"""What an endpoint that calls itself compatible understands of a request, found out by its refusals. Pure.

Constrained JSON comes first; whoever refuses it is asked for JSON of any shape, then in plain words. Newer
models want another name for the limit of an answer, and some allow no temperature.
"""

from dataclasses import dataclass, replace
from typing import Any, Literal

JsonForm = Literal["schema", "object", "plain"]
LimitName = Literal["max_tokens", "max_completion_tokens", ""]

_WEAKER: dict[JsonForm, JsonForm] = {"schema": "object", "object": "plain"}


@dataclass(frozen=True, slots=True)
class Dialect:
    json_form: JsonForm = "schema"
    limit_name: LimitName = "max_tokens"
    has_temperature: bool = True

    def options(self, schema: dict[str, Any] | None, limit: int) -> dict[str, Any]:
        """What is added to model and messages; `schema` None asks for words, not JSON."""
        options: dict[str, Any] = {}
        if self.limit_name:
            options[self.limit_name] = limit
        if self.has_temperature:
            options["temperature"] = 0
        if schema is not None and self.json_form == "schema":
            options["response_format"] = {
                "type": "json_schema",
                "json_schema": {"name": "reply", "strict": True, "schema": schema},
            }
        elif schema is not None and self.json_form == "object":
            options["response_format"] = {"type": "json_object"}
        return options

    def after_refusal(self, complaint: str, *, wants_json: bool) -> "Dialect | None":
        """The next simpler way to ask, led by what the endpoint names; None when there is none."""
        named = complaint.lower()
        if self.limit_name and self.limit_name in named:
            other: LimitName = "max_completion_tokens" if self.limit_name == "max_tokens" else ""
            return replace(self, limit_name=other)
        if self.has_temperature and "temperature" in named:
            return replace(self, has_temperature=False)
        if wants_json and self.json_form in _WEAKER:
            return replace(self, json_form=_WEAKER[self.json_form])
        return None
