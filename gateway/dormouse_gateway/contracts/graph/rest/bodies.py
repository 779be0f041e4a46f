"""What the routes accept: camelCase or snake_case, no unknown field, absent and null the same."""

from collections.abc import Mapping
from typing import Annotated, Any, TypeVar

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, RootModel, ValidationError
from pydantic.alias_generators import to_camel

from dormouse.errors import InvalidInputError
from dormouse.model.recall import DEFAULT_TOP_K, MAX_TOP_K
from dormouse_gateway.web.field_rules import rule_of

MAX_QUERY_CHARACTERS = 10_000
MAX_NAME_CHARACTERS = 200
MAX_DATASETS = 100
UUID_PATTERN = "^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$"
_KIND_PATTERN = "^(text|file|chat)$"
_PATTERNS = {UUID_PATTERN: "must be an id (a UUID)", _KIND_PATTERN: "must be text, file or chat"}
MAX_LABELS_CHARACTERS = 100_000  # of all items of one form together

_TAGS = frozenset({"qa", "trace", "feedback"})  # pydantic's own words for which of several shapes it took
MAX_KEYS = 10

B = TypeVar("B", bound="Body")


def _absent(value: object) -> object:
    """Clients send optional ids as "" or "null"."""
    return None if isinstance(value, str) and value.strip() in {"", "null"} else value


def _listed(value: object) -> object:
    """One name where a list is expected."""
    return [value] if isinstance(value, str) else value


Name = Annotated[Annotated[str, Field(max_length=MAX_NAME_CHARACTERS)] | None, BeforeValidator(_absent)]
ItemId = Annotated[Annotated[str, Field(pattern=UUID_PATTERN)] | None, BeforeValidator(_absent)]
Names = Annotated[Annotated[list[str], Field(max_length=MAX_DATASETS)] | None, BeforeValidator(_listed)]


Keys = Annotated[
    list[Annotated[str, Field(max_length=128)]], Field(max_length=MAX_KEYS), BeforeValidator(_listed)
]


def _said(query: str) -> str:
    if not query.strip():
        raise ValueError("must not be blank")
    return query


def _no_bool(value: object) -> object:
    if isinstance(value, bool):
        raise ValueError("must be an integer")  # noqa: TRY004 - pydantic turns only this into a refusal
    return value


TopK = Annotated[Annotated[int, Field(ge=1, le=MAX_TOP_K)], BeforeValidator(_no_bool)]
Query = Annotated[str, Field(min_length=1, max_length=MAX_QUERY_CHARACTERS), AfterValidator(_said)]


class Body(BaseModel):
    model_config = ConfigDict(extra="forbid", alias_generator=to_camel, populate_by_name=True)


class ItemFields(Body):
    """What a form says of its items; files and texts are read beside it."""

    external_id: Name = None
    kind: str | None = Field(default=None, pattern=_KIND_PATTERN)
    occurred_at: str | None = None
    zone: str = Field(default="UTC", max_length=100)
    custom_prompt: str = ""
    labels: str = Field(default="", max_length=MAX_LABELS_CHARACTERS)
    external_metadata: str = Field(default="", max_length=MAX_LABELS_CHARACTERS)
    ontology_key: Keys = []
    run_in_background: bool = False


class RememberBody(ItemFields):
    dataset_name: Name = None
    dataset_id: Name = None
    session_id: Name = None
    self_improvement: bool = True


class AddBody(ItemFields):
    dataset_name: Name = None
    dataset_id: Name = None


class UpdateBody(ItemFields):
    """The item and its dataset are named in the address."""


class CognifyBody(Body):
    datasets: Names = None
    dataset_ids: Names = None
    run_in_background: bool = False
    custom_prompt: str = Field(default="", max_length=MAX_QUERY_CHARACTERS)
    ontology_key: Keys = []


class DatasetIds(RootModel[Annotated[list[str], Field(min_length=1, max_length=MAX_DATASETS)]]):
    """Ids or names."""


class OntologyBody(Body):
    """The form's plain fields; the file is read beside them."""

    ontology_key: str
    description: str | None = None


class RecallBody(Body):
    query: Query
    search_type: str | None = None
    datasets: Names = None
    dataset_ids: Names = None
    session_id: Name = None
    system_prompt: str = Field(default="", max_length=MAX_QUERY_CHARACTERS)
    top_k: TopK = DEFAULT_TOP_K
    scope: Names = None


class SearchBody(Body):
    query: Query
    search_type: str | None = None
    datasets: Names = None
    dataset_ids: Names = None
    session_id: Name = None
    system_prompt: str = Field(default="", max_length=MAX_QUERY_CHARACTERS)
    top_k: TopK = DEFAULT_TOP_K


class ForgetBody(Body):
    data_id: ItemId = None
    dataset: Name = None
    dataset_id: Name = None
    everything: bool = Field(default=False, strict=True)  # "yes" or 1 is not clear enough for this
    memory_only: bool = Field(default=False, strict=True)


class CreateDatasetBody(Body):
    name: str = Field(min_length=1, max_length=MAX_NAME_CHARACTERS)


def parsed(body: type[B], fields: dict[str, Any]) -> B:
    """The body, or `InvalidInputError` that names field and rule but never the value."""
    given = {name: value for name, value in fields.items() if value is not None}
    try:
        return body(**given)
    except ValidationError as exc:
        first = exc.errors(include_url=False, include_input=False)[0]
    name = ".".join(str(part) for part in first["loc"] if part not in _TAGS)[:60] or "body"
    if (twice := _given_twice(body, given)) is not None:
        raise InvalidInputError(f"{twice[0]} must be given once, not as {twice[1]} too", field=twice[0])
    rule = "is not a known field" if first["type"] == "extra_forbidden" else rule_of(first, _PATTERNS)
    raise InvalidInputError(f"{name}: {rule}", field=name)


def _given_twice(body: type[Body], given: Mapping[str, Any]) -> tuple[str, str] | None:
    """A field under both of its names; the validator would call one of them unknown."""
    for name, field in body.model_fields.items():
        alias = field.alias or name
        if alias != name and alias in given and name in given:
            return alias, name
    return None
