"""Fields are named in a refusal as the caller wrote them, whichever name the engine has for them."""

import re
from collections.abc import Collection, Iterable

from pydantic.alias_generators import to_camel
from starlette.requests import Request

from dormouse.errors import InvalidInputError

_SENT_AS = {
    "content": ("data", "raw_data", "content_base64")
}  # an item's text is called so where it is checked


def note_fields(request: Request, names: Iterable[str]) -> None:
    """Remember what the body of this request calls its fields."""
    request.state.fields = frozenset(names)


def noted_fields(request: Request) -> frozenset[str]:
    """Empty until the body was read."""
    fields: frozenset[str] = getattr(request.state, "fields", frozenset())
    return fields


def in_the_callers_words(error: InvalidInputError, given: Collection[str]) -> InvalidInputError:
    """The same refusal, by that of the `given` names under which the field came, if it is beyond doubt."""
    field = error.field
    if field is None or field in given:
        return error
    names = [name for name in _SENT_AS.get(field, (to_camel(field),)) if name in given]
    if len(names) == 1:
        error.args = (re.sub(rf"\b{re.escape(field)}\b", names[0], str(error), count=1),)
        error.field = names[0]
    return error
