import json
from dataclasses import dataclass

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dormouse.errors import InvalidInputError, TooLargeError, UnreadableDocumentError
from dormouse.ingest.parse import parse
from dormouse.ingest.parsed import ParsedDocument, Section
from dormouse.model.document import CONTENT_LIMIT_BYTES, ContentKind
from dormouse.ports.document_reader import ReadDocument


@dataclass
class OnePage:
    """Answers every document with one page and remembers what it was asked."""

    markdown: str = "# Plan\n\nHello."
    asked: str = ""

    async def read(self, content: bytes, filename: str) -> ReadDocument:
        self.asked = filename
        return ReadDocument(markdown=self.markdown, title="The plan", created_ms=7)


async def parsed(
    body: bytes | str, kind: ContentKind = ContentKind.TEXT, filename: str = "", reader: OnePage | None = None
) -> ParsedDocument:
    body = body.encode() if isinstance(body, str) else body
    return await parse(body, kind, filename, "UTC", reader or OnePage())


async def test_plain_text_is_one_section() -> None:
    assert (await parsed("Ada lives in London.\n")).sections == (Section((), "Ada lives in London."),)


async def test_a_short_first_line_names_the_text_and_stays_in_it() -> None:
    result = await parsed("Journal of Physics\nThe journal is published monthly.")

    assert result.title == "Journal of Physics"
    assert result.sections[0].text.startswith("Journal of Physics\n")


@pytest.mark.parametrize("filename", ["plan.pdf", "plan.DOCX", "mail.msg", "page.html"])
async def test_other_formats_go_to_the_reader(filename: str) -> None:
    reader = OnePage()

    result = await parsed(b"\x00\x01binary", ContentKind.FILE, filename, reader)

    assert reader.asked == filename
    assert result == ParsedDocument(title="The plan", sections=(Section(("Plan",), "Hello."),), occurred_ms=7)


async def test_a_document_under_a_text_name_is_known_by_its_bytes() -> None:
    reader = OnePage()

    await parsed(b"%PDF-1.7 ...", ContentKind.FILE, "upload.txt", reader)

    assert reader.asked == "upload.txt"


async def test_what_a_reader_finds_is_made_sound() -> None:
    result = await parsed(b"%PDF", ContentKind.FILE, "a.pdf", OnePage(markdown="a\0b \ud800c"))

    assert result.sections[0].text == "ab c"


@pytest.mark.parametrize("kind", list(ContentKind))
@pytest.mark.parametrize("body", [b"", b" \n\t\n", "\u3000".encode()])
async def test_blank_content_is_refused(kind: ContentKind, body: bytes) -> None:
    with pytest.raises(InvalidInputError) as caught:
        await parsed(body, kind, "notes.txt")

    assert caught.value.field == "content"


async def test_content_over_the_limit_is_refused() -> None:
    with pytest.raises(TooLargeError):
        await parsed(b"a" * (CONTENT_LIMIT_BYTES + 1))


@pytest.mark.parametrize(
    "body",
    [
        b"\x00\x01\x02\x03" * 100,
        b"a\0b",
        b"[" * 100_000 + b"]" * 100_000,
        b'{"a":' * 500 + b"1" + b"}" * 500,
        rb'[{"role": "user", "content": "lone \ud800 surrogate"}]',
        rb'{"note": "NUL \u0000 inside"}',
    ],
)
@pytest.mark.parametrize("filename", ["notes.txt", "notes.json"])
async def test_binary_deep_and_unsound_content_is_refused_clearly(body: bytes, filename: str) -> None:
    with pytest.raises(InvalidInputError) as caught:
        await parsed(body, ContentKind.FILE, filename)

    assert caught.value.field == "content"


@pytest.mark.parametrize("body", ["Only prose: no chat.", "{}", "[]", "[1, 2]", '{"messages": []}', "{broken"])
async def test_a_chat_that_is_none_is_refused(body: str) -> None:
    with pytest.raises(UnreadableDocumentError, match="must be a JSON list of messages"):
        await parsed(body, ContentKind.CHAT)


async def test_broken_json_is_read_as_the_text_it_is() -> None:
    result = await parsed('{"a": 1,', ContentKind.FILE, "a.json")

    assert result.sections[0].text == '{"a": 1,'


async def test_json_lines_of_messages_are_a_chat() -> None:
    lines = "\n".join(json.dumps({"role": role, "content": role}) for role in ("user", "assistant"))

    assert [turn.role for turn in (await parsed(lines, ContentKind.FILE, "c.jsonl")).turns] == [
        "user",
        "assistant",
    ]


async def test_front_matter_gives_title_and_time() -> None:
    result = await parsed("---\ntitle: Trip\ndate: 2024-05-01\ntags: [a]\n---\n# Lyon\n\nWe went.")

    assert (result.title, result.occurred_ms) == ("Trip", 1_714_521_600_000)
    assert any("tags: [a]" in section.text for section in result.sections)


@given(
    st.text(
        alphabet=st.characters(exclude_categories=["Cs", "Cc"]) | st.sampled_from('\n#`-=: {}[]"'), min_size=1
    )
)
async def test_no_character_of_a_text_is_lost(text: str) -> None:
    """Marks of headings and fences may go, words never."""
    if not text.strip():
        return
    try:
        result = await parsed(text)
    except UnreadableDocumentError:
        return
    words = [*(t for turn in result.turns for t in (turn.speaker, turn.time, turn.text))]
    words += [*(t for section in result.sections for t in (*section.heading, section.text))]
    kept = {*"".join(words)}

    assert {letter for letter in text if letter.isalnum()} <= kept


async def test_a_million_tiny_messages_are_refused() -> None:
    with pytest.raises(TooLargeError, match="messages or sections"):
        await parsed("Bob: a\n" * 100_001, ContentKind.CHAT)


async def test_what_came_with_a_mail_is_read_like_a_file_of_its_own() -> None:
    mail = (
        'From: Ada <ada@example.org>\nSubject: Tulips\nContent-Type: multipart/mixed; boundary="b"\n\n'
        "--b\nContent-Type: text/plain\n\nSee the plan.\n"
        '--b\nContent-Disposition: attachment; filename="plan.pdf"\n\n%PDF-1.7\n'
        '--b\nContent-Disposition: attachment; filename="costs.csv"\n\nitem,price\nbulbs,40\n'
        "--b--\n"
    )

    result = await parsed(mail, ContentKind.FILE, "mail.eml")

    assert [(turn.subject, turn.text.splitlines()[-1]) for turn in result.turns] == [
        ("Tulips", "See the plan."),
        ("Tulips › plan.pdf", "Hello."),
        ("Tulips › costs.csv", "bulbs,40"),
    ]


async def test_an_attachment_that_cannot_be_read_takes_nothing_with_it() -> None:
    mail = (
        'From: ada@example.org\nContent-Type: multipart/mixed; boundary="b"\n\n--b\n\nThe picture.\n'
        '--b\nContent-Disposition: attachment; filename="a.bin"\n\n\x00\x01\x02\n--b--\n'
    )

    result = await parsed(mail, ContentKind.FILE, "mail.eml")

    assert [turn.text for turn in result.turns] == ["The picture."]
