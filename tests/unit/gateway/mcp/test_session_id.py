"""A client's name in a session id."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dormouse_gateway.mcp.session_id import MAX_NAME_CHARACTERS, ClientName, SessionIds

OURS = SessionIds([b"current", b"previous"])
FOREIGN = SessionIds([b"another"])


@given(st.text(max_size=MAX_NAME_CHARACTERS), st.text(max_size=32))
def test_what_is_minted_is_read_back_and_fits_a_header(name: str, version: str) -> None:
    session_id = OURS.mint(ClientName(name, version))

    assert OURS.read(session_id) == ClientName(name, version)
    assert session_id.isascii()
    assert session_id.isprintable()
    assert " " not in session_id


def test_a_replaced_key_still_reads() -> None:
    before = SessionIds([b"previous"]).mint(ClientName("cursor", "1"))

    assert OURS.read(before) == ClientName("cursor", "1")


@pytest.mark.parametrize(
    "session_id", [None, "", ".", "a.b", "fa8e29fb8def41f797f0859f01cb67c2", "é.é", "x" * 5000, "WyJ4Il0."]
)
def test_what_is_not_ours_names_nobody(session_id: str | None) -> None:
    assert OURS.read(session_id) is None


def test_an_id_of_another_key_names_nobody() -> None:
    assert OURS.read(FOREIGN.mint(ClientName("cursor", "1"))) is None


@given(st.integers(min_value=0), st.characters(max_codepoint=0x7F))
def test_an_altered_id_names_nobody(position: int, character: str) -> None:
    session_id = OURS.mint(ClientName("cursor-vscode", "1.0"))
    at = position % (len(session_id) - 1)  # the very last sign holds bits that base64 leaves unused
    altered = session_id[:at] + character + session_id[at + 1 :]

    assert altered == session_id or OURS.read(altered) is None


@given(st.text(max_size=300))
def test_reading_never_fails(session_id: str) -> None:
    assert OURS.read(session_id) is None


def test_an_id_names_the_same_client_again_and_a_foreign_one_nobody_again() -> None:
    ours, foreign = OURS.mint(ClientName("cursor", "1")), FOREIGN.mint(ClientName("cursor", "1"))

    assert [OURS.read(ours), OURS.read(ours)] == [ClientName("cursor", "1")] * 2
    assert [OURS.read(foreign), OURS.read(foreign)] == [None] * 2


def test_long_names_are_cut() -> None:
    read = OURS.read(OURS.mint(ClientName("n" * 1000, "v" * 1000)))

    assert read == ClientName("n" * MAX_NAME_CHARACTERS, "v" * 32)
