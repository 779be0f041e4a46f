import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dormouse_gateway.mcp.sole_keys import RepeatedKeyError, loads

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=6,
)


@given(VALUES)
def test_whatever_has_each_key_once_is_read_as_it_is(value: object) -> None:
    assert loads(json.dumps(value)) == value


@pytest.mark.parametrize("text", ['{"a": 1, "b": 2, "a": 1}', b'[{"b": {"a": 1, "\\u0061": 2}}]'])
def test_a_key_that_is_there_twice_is_named_however_it_is_written(text: str | bytes) -> None:
    with pytest.raises(RepeatedKeyError, match="the key 'a' is there twice"):
        loads(text)


def test_what_is_shown_of_a_key_is_short_and_can_be_sent() -> None:
    with pytest.raises(RepeatedKeyError) as refused:
        loads('{"' + "\\ud800" * 1000 + '": 1, "' + "\\ud800" * 1000 + '": 2}')

    assert refused.value.key == "?" * 64
