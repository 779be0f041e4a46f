"""Schemas that every client understands."""

import pytest
from pydantic import BaseModel

from dormouse_gateway.contracts.graph import arguments
from dormouse_gateway.mcp.arguments import Arguments
from dormouse_gateway.mcp.flat_schema import flat_schema

MODELS = [
    model
    for model in vars(arguments).values()
    if isinstance(model, type) and issubclass(model, Arguments) and model is not Arguments
]


def _everything_in(schema: object) -> list[object]:
    inner = list(schema.values()) if isinstance(schema, dict) else schema if isinstance(schema, list) else []
    return [schema, *(found for value in inner for found in _everything_in(value))]


@pytest.mark.parametrize("model", MODELS)
def test_a_tools_schema_is_flat(model: type[Arguments]) -> None:
    schema = flat_schema(model)

    keys = {key for found in _everything_in(schema) if isinstance(found, dict) for key in found}
    assert not keys & {"$ref", "$defs", "anyOf", "oneOf", "allOf", "title", "const"}
    assert None not in _everything_in(schema)
    assert "null" not in _everything_in(schema)
    assert schema["type"] == "object"
    assert schema["additionalProperties"] is False


@pytest.mark.parametrize("model", MODELS)
def test_every_parameter_is_described(model: type[Arguments]) -> None:
    for parameter in flat_schema(model)["properties"].values():
        assert parameter["description"].endswith(".")


def test_a_model_that_cannot_be_flat_is_refused() -> None:
    class Inner(BaseModel):
        x: int

    class Outer(BaseModel):
        inner: Inner

    with pytest.raises(ValueError, match=r"Outer needs \$defs, \$ref"):
        flat_schema(Outer)
