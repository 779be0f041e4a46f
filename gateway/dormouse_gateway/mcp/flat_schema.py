"""A pydantic model as the flat JSON schema that every client understands.

Some clients drop a whole tool list for a `$ref`, a union with null or a combinator at the top, so a schema
here has none: an optional parameter is one that `required` does not name.
"""

from typing import Any

from pydantic import BaseModel
from pydantic.json_schema import GenerateJsonSchema, JsonSchemaValue
from pydantic_core import core_schema

_UNFLAT = frozenset({"$ref", "$defs", "anyOf", "oneOf", "allOf"})


class _Flat(GenerateJsonSchema):
    def nullable_schema(self, schema: core_schema.NullableSchema) -> JsonSchemaValue:
        return self.generate_inner(schema["schema"])

    def default_schema(self, schema: core_schema.WithDefaultSchema) -> JsonSchemaValue:
        flat = super().default_schema(schema)
        if flat.get("default", ...) is None:
            del flat["default"]
        return flat

    def field_title_should_be_set(self, schema: object) -> bool:  # noqa: ARG002 - pydantic's signature
        return False


def flat_schema(model: type[BaseModel]) -> dict[str, Any]:
    """The input schema of a tool whose arguments are `model`. Raises ValueError if it cannot be flat."""
    schema = model.model_json_schema(schema_generator=_Flat)
    schema.pop("title", None)
    schema.pop("description", None)
    if found := _keys(schema) & _UNFLAT:
        raise ValueError(f"{model.__name__} needs {', '.join(sorted(found))}")
    return schema


def _keys(schema: object) -> set[str]:
    if isinstance(schema, dict):
        return set(schema).union(*(_keys(value) for value in schema.values()))
    if isinstance(schema, list):
        return set().union(*(_keys(item) for item in schema))
    return set()
