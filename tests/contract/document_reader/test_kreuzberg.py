"""The reader of documents on real bytes, made here; each read is a process of its own."""

import asyncio
import io
import zipfile
from collections.abc import Mapping

import pytest

from dormouse.adapters.document_reader.kreuzberg import KreuzbergDocumentReader
from dormouse.errors import UnreadableDocumentError
from dormouse.ingest.parse import parse
from dormouse.model.document import ContentKind

WORD = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
SHEET = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
PACKAGE = "http://schemas.openxmlformats.org/package/2006"
OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
HEAD = '<?xml version="1.0" encoding="UTF-8"?>'


def zipped(parts: Mapping[str, str]) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as package:
        for name, text in parts.items():
            package.writestr(name, text)
    return buffer.getvalue()


def office(main: str, kind: str, parts: Mapping[str, str]) -> bytes:
    types = f"application/vnd.openxmlformats-officedocument.{kind}.main+xml"
    return zipped(
        {
            "[Content_Types].xml": f'{HEAD}<Types xmlns="{PACKAGE}/content-types">'
            '<Default Extension="rels"'
            ' ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
            f'<Default Extension="xml" ContentType="application/xml"/>'
            f'<Override PartName="/{main}" ContentType="{types}"/></Types>',
            "_rels/.rels": f'{HEAD}<Relationships xmlns="{PACKAGE}/relationships">'
            f'<Relationship Id="rId1" Type="{OFFICE}/officeDocument" Target="{main}"/></Relationships>',
            **parts,
        }
    )


def docx(body: str, prologue: str = "") -> bytes:
    document = f'{HEAD}{prologue}<w:document xmlns:w="{WORD}"><w:body>{body}</w:body></w:document>'
    return office("word/document.xml", "wordprocessingml.document", {"word/document.xml": document})


def paragraph(text: str, style: str = "") -> str:
    properties = f'<w:pPr><w:pStyle w:val="{style}"/></w:pPr>' if style else ""
    return f"<w:p>{properties}<w:r><w:t>{text}</w:t></w:r></w:p>"


def xlsx() -> bytes:
    row = '<row r="{0}"><c r="A{0}" t="inlineStr"><is><t>{1}</t></is></c><c r="B{0}"><v>{2}</v></c></row>'
    return office(
        "xl/workbook.xml",
        "spreadsheetml.sheet",
        {
            "xl/workbook.xml": f'{HEAD}<workbook xmlns="{SHEET}" xmlns:r="{OFFICE}"><sheets>'
            '<sheet name="Budget" sheetId="1" r:id="rId1"/></sheets></workbook>',
            "xl/_rels/workbook.xml.rels": f'{HEAD}<Relationships xmlns="{PACKAGE}/relationships">'
            f'<Relationship Id="rId1" Type="{OFFICE}/worksheet" Target="worksheets/sheet1.xml"/>'
            "</Relationships>",
            "xl/worksheets/sheet1.xml": f'{HEAD}<worksheet xmlns="{SHEET}"><sheetData>'
            f"{row.format(1, 'Coffee', 42)}{row.format(2, 'Tea', 7)}</sheetData></worksheet>",
        },
    )


def pdf(text: str, trailer: str = "") -> bytes:
    stream = f"BT /F1 24 Tf 72 700 Td ({text}) Tj ET"
    objects = (
        "<< /Type /Catalog /Pages 2 0 R >>",
        "<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
        (
            "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents 4 0 R"
            " /Resources << /Font << /F1 5 0 R >> >> >>"
        ),
        f"<< /Length {len(stream)} >>\nstream\n{stream}\nendstream",
        "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
    )
    body, offsets = "%PDF-1.4\n", []
    for number, content in enumerate(objects, 1):
        offsets.append(len(body))
        body += f"{number} 0 obj\n{content}\nendobj\n"
    table = "".join(f"{offset:010d} 00000 n \n" for offset in offsets)
    return (
        f"{body}xref\n0 6\n0000000000 65535 f \n{table}trailer\n<< /Size 6 /Root 1 0 R {trailer}>>\n"
        f"startxref\n{len(body)}\n%%EOF"
    ).encode()


ENCRYPTION = (
    f"/Encrypt << /Filter /Standard /V 1 /R 2 /P -44 /O <{'11' * 32}> /U <{'22' * 32}> >> "
    f"/ID [<{'00' * 16}><{'00' * 16}>] "
)
LAUGHS = (
    '<!DOCTYPE l [<!ENTITY a "ha">'
    + "".join(f'<!ENTITY {chr(98 + n)} "{f"&{chr(97 + n)};" * 10}">' for n in range(9))
    + "]>"
)


async def markdown(content: bytes, filename: str) -> str:
    return (await KreuzbergDocumentReader().read(content, filename)).markdown


@pytest.mark.parametrize(
    ("content", "filename", "words"),
    [
        (pdf("Ada wrote the program"), "a.pdf", ["Ada wrote the program"]),
        (docx(paragraph("Plan", "Heading1") + paragraph("Begin here.")), "a.docx", ["# Plan", "Begin here."]),
        (xlsx(), "a.xlsx", ["Budget", "Coffee", "42", "Tea"]),
        (b"<html><body><h1>A</h1><script>no()</script><p>b</p></body></html>", "a.html", ["# A", "b"]),
    ],
    ids=["pdf", "docx", "xlsx", "html"],
)
async def test_documents_become_markdown(content: bytes, filename: str, words: list[str]) -> None:
    found = await markdown(content, filename)

    assert [word for word in words if word not in found] == []
    assert "no()" not in found


@pytest.mark.parametrize(
    ("content", "filename", "reason"),
    [
        (pdf("secret", ENCRYPTION), "a.pdf", "encrypted"),
        (pdf("cut")[:150], "a.pdf", "damaged"),
        (docx(paragraph("cut"))[:300], "a.docx", "damaged"),
        (docx("<w:p/>" + " " * (150 * 1024 * 1024)), "a.docx", "refused"),
        (docx(paragraph("&j;"), LAUGHS), "a.docx", "no text"),
        (docx(""), "a.docx", "no text"),
        (b"PK\x03\x04", "a.zip", "format that is not read"),
    ],
    ids=["encrypted", "cut pdf", "cut docx", "zip bomb", "billion laughs", "empty", "archive"],
)
async def test_what_cannot_be_read_says_why(content: bytes, filename: str, reason: str) -> None:
    with pytest.raises(UnreadableDocumentError, match=reason) as caught:
        await markdown(content, filename)

    assert caught.value.field == "content"


async def test_an_entity_never_reads_a_file_of_ours() -> None:
    external = '<!DOCTYPE x [<!ENTITY e SYSTEM "file:///etc/passwd">]>'

    assert "root:" not in await markdown(docx(paragraph("before&e;after"), external), "a.docx")


async def test_the_clock_ends_a_reading() -> None:
    with pytest.raises(UnreadableDocumentError, match="more memory or time"):
        await KreuzbergDocumentReader(wall_limit_s=0.001).read(pdf("slow"), "a.pdf")


async def test_a_caller_that_gives_up_frees_its_place() -> None:
    reader = KreuzbergDocumentReader()
    for _ in range(3):
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.01):
                await reader.read(pdf("given up"), "a.pdf")

    assert "read" in (await reader.read(pdf("read"), "a.pdf")).markdown


async def test_a_document_is_parsed_to_sections_under_its_headings() -> None:
    content = docx(paragraph("Plan", "Heading1") + paragraph("Begin here."))

    parsed = await parse(content, ContentKind.FILE, "plan.docx", "UTC", KreuzbergDocumentReader())

    assert [(section.heading, section.text) for section in parsed.sections] == [(("Plan",), "Begin here.")]
