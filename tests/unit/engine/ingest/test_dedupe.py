"""Which document a content belongs to. Source: architecture §5; writes §2."""

from hypothesis import given
from hypothesis import strategies as st

from dormouse.ids import sha256_hex
from dormouse.ingest.dedupe import Decision, Known, decide, identity_of
from dormouse.model.document import Content, ContentKind
from tests.builders import a_content, a_document, a_revision

HELLO = sha256_hex(b"hello")


def _known(text: str | None) -> Known:
    document = a_document()
    return Known(document, None if text is None else a_revision(document.id, text=text))


def test_a_name_with_the_same_content_is_a_duplicate() -> None:
    known = _known("hello")

    assert decide(HELLO, known, None) == Decision("duplicate", known)


def test_a_name_with_other_content_gets_a_new_revision() -> None:
    known = _known("good bye")

    assert decide(HELLO, known, None) == Decision("new_revision", known)


def test_a_name_whose_revisions_all_failed_is_tried_again() -> None:
    known = _known(None)

    assert decide(HELLO, known, None) == Decision("new_revision", known)


def test_a_name_outranks_a_twin() -> None:
    known = _known("good bye")

    assert decide(HELLO, known, _known("hello")) == Decision("new_revision", known)


def test_a_twin_without_a_name_is_a_duplicate() -> None:
    twin = _known("hello")

    assert decide(HELLO, None, twin) == Decision("duplicate", twin)


def test_nothing_alike_is_a_new_document() -> None:
    assert decide(HELLO, None, None) == Decision("new_document")


def test_the_callers_own_name_outranks_the_files() -> None:
    content = Content(body=b"hello", kind=ContentKind.FILE, filename="a.txt", external_id="7")

    assert identity_of(content) == "external:7"


def test_a_file_is_known_by_its_name_and_text_by_itself() -> None:
    assert identity_of(a_content("hello", filename="a.txt")) == "file:a.txt"
    assert identity_of(a_content("hello")) == f"content:{HELLO}"


@given(st.text(min_size=1), st.text(min_size=1))
def test_names_of_different_kinds_never_meet(label: str, body: str) -> None:
    raw = body.encode(errors="replace")
    contents = [
        Content(body=raw, external_id=label),
        Content(body=raw, kind=ContentKind.FILE, filename=label),
        Content(body=raw),
    ]

    assert len({identity_of(content) for content in contents}) == 3
