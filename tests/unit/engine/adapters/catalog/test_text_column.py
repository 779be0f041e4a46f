from hypothesis import example, given
from hypothesis import strategies as st
from sqlalchemy.dialects.postgresql.base import PGDialect
from sqlalchemy.dialects.sqlite.base import SQLiteDialect

from dormouse.adapters.catalog.text_column import AnyText, escaped, unescaped

texts = st.text(alphabet=st.sampled_from("\x00\x01\x02\x03aé🐭"))


@given(texts)
@example("\x01\x01\x02\x00")
def test_every_text_comes_back_and_holds_no_nul_meanwhile(text: str) -> None:
    assert unescaped(escaped(text)) == text
    assert "\x00" not in escaped(text)


@given(texts, texts)
def test_the_order_is_that_of_the_texts_themselves(one: str, other: str) -> None:
    assert (escaped(one).encode() < escaped(other).encode()) == (one < other)


def test_only_postgresql_needs_it() -> None:
    assert AnyText().bind_processor(SQLiteDialect()) is None
    bound = AnyText().bind_processor(PGDialect())  # type: ignore[no-untyped-call]  # so it is written
    assert bound is not None
    assert (bound(None), bound("a\x00b")) == (None, "a\x01\x01b")
