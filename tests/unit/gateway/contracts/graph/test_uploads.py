"""Files that come as base64 with a name."""

import base64

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dormouse.model.document import CONTENT_LIMIT_BYTES
from dormouse_gateway.contracts.graph.uploads import MAX_NAME_CHARACTERS, decode_upload, upload_name
from dormouse_gateway.mcp.tool import ToolRefusal


@pytest.mark.parametrize(
    ("given_name", "name"),
    [
        (None, "upload.txt"),
        ("", "upload.txt"),
        ("../x/notes", "notes.txt"),
        ("C:\\Users\\me\\plan.docx", "plan.docx"),
        ("/etc/passwd", "passwd.txt"),
        ("..", "upload.txt"),
        ("a/", "upload.txt"),
        (".bashrc", ".bashrc.txt"),
        ("notes.", "notes.txt"),
        ("报告.pdf", "报告.pdf"),
        ("a\x00b.md", "ab.md"),
    ],
)
def test_only_the_last_part_of_a_name_counts(given_name: str | None, name: str) -> None:
    assert upload_name(given_name) == name


@given(st.text(max_size=400))
def test_a_name_is_never_a_path_and_always_has_a_suffix(given_name: str) -> None:
    name = upload_name(given_name)

    assert not set(name) & set("/\\\x00\n")
    assert "." in name.strip(".")
    assert len(name) <= MAX_NAME_CHARACTERS


@pytest.mark.parametrize("text", ["@@@", "eA", "eA==\n", "e A==", "ZQ==ZQ==", "ü"])
def test_anything_but_strict_base64_is_refused(text: str) -> None:
    with pytest.raises(ToolRefusal, match="Only base64 data is allowed"):
        decode_upload(text)


@given(st.binary(max_size=100))
def test_base64_gives_back_the_bytes(content: bytes) -> None:
    assert decode_upload(base64.b64encode(content).decode()) == content


def test_the_limit_is_on_decoded_bytes() -> None:
    at_limit = base64.b64encode(b"x" * CONTENT_LIMIT_BYTES).decode()
    above = base64.b64encode(b"x" * (CONTENT_LIMIT_BYTES + 1)).decode()

    assert len(decode_upload(at_limit)) == CONTENT_LIMIT_BYTES
    with pytest.raises(ToolRefusal, match=r"10,485,761 bytes"):
        decode_upload(above)
