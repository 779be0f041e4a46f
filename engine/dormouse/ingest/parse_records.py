"""Code, tables and records: lines stay whole, and what names them goes into the heading."""

import csv
import json
import re
from collections.abc import Iterator

from dormouse.errors import UnreadableDocumentError
from dormouse.ingest.parsed import ParsedDocument, Section

MAX_DEPTH = 200  # of JSON; data that people wrote nests less than ten levels

_DEFINITION = re.compile(
    r"(?:export |default |public |private |protected |internal |static |final |abstract |async |"
    r"pub(?:\([a-z]+\))? |unsafe |sealed |data )*"
    r"(?:class|def|func|fn|function|interface|struct|enum|trait|impl|module|namespace|type|"
    r"object|record|CREATE TABLE)\b[^\n]{0,120}"
)
_HEADER_CELL = re.compile(r"[^\W\d][^\n]{0,60}$")


def parse_code(text: str, filename: str) -> ParsedDocument:
    """A section for each definition at the left margin, headed by file and definition; its line stays in it."""
    sections: list[tuple[tuple[str, ...], list[str]]] = [((filename,), [])]
    for line in text.split("\n"):
        match = _DEFINITION.match(line)
        if match:
            leading = _trailing_attachments(sections[-1][1])
            sections.append(((filename, match[0].rstrip(" {:(")), leading))
        sections[-1][1].append(line)
    joined = ((heading, "\n".join(body).strip("\n")) for heading, body in sections)
    return ParsedDocument(
        title=filename,
        sections=tuple(Section(heading, body, keeps_lines=True) for heading, body in joined if body.strip()),
    )


def _trailing_attachments(lines: list[str]) -> list[str]:
    """Takes comments and decorators that stand right above a definition: they belong to it."""
    start = len(lines)
    while start and lines[start - 1].startswith(("@", "#", "//", "/*", " *", "*", "--", "#[")):
        start -= 1
    taken = lines[start:]
    del lines[start:]
    return taken


def parse_table(text: str, filename: str, delimiter: str) -> ParsedDocument:
    """Rows stay as written; the header row, if there is one, heads every passage."""
    first, _, rest = text.lstrip("\n").partition("\n")
    cells = [cell.strip() for cell in next(csv.reader([first], delimiter=delimiter), [])]
    is_header = len(cells) > 1 and all(_HEADER_CELL.match(cell) for cell in cells) and rest.strip()
    heading, body = ((filename, ", ".join(cells)), rest) if is_header else ((filename,), text)
    return ParsedDocument(title=filename, sections=(Section(heading, body.strip("\n"), keeps_lines=True),))


def load_json(text: str) -> object:
    """Raises ValueError if it is no JSON, `UnreadableDocumentError` if it nests too deeply."""
    try:
        value: object = json.loads(text)
    except RecursionError:
        raise _too_deep() from None
    _check_depth(value)
    return value


def load_json_lines(text: str) -> list[object]:
    """One value a line; blank lines are skipped. Raises like `load_json`."""
    return [load_json(line) for line in text.split("\n") if line.strip()]


def parse_json(value: object, filename: str) -> ParsedDocument:
    """A line `path.to.key: value` for each scalar, a blank line between the items of a top-level list."""
    items = value if isinstance(value, list) else [value]
    text = "\n\n".join("\n".join(_lines_of(item)) for item in items)
    return ParsedDocument(title=filename, sections=(Section((), text, keeps_lines=True),))


def _lines_of(item: object) -> Iterator[str]:
    stack: list[tuple[str, object]] = [("", item)]
    while stack:
        path, value = stack.pop()
        if isinstance(value, dict) and value:
            prefix = f"{path}." if path else ""
            stack.extend((f"{prefix}{key}", inner) for key, inner in reversed(value.items()))
        elif isinstance(value, list) and value:
            stack.extend((path, inner) for inner in reversed(value))
        else:
            shown = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
            yield f"{path}: {shown}" if path else shown


def _check_depth(value: object) -> None:
    level: list[object] = [value]
    for _ in range(MAX_DEPTH):
        level = [inner for outer in level for inner in _inner(outer)]
        if not level:
            return
    raise _too_deep()


def _inner(value: object) -> list[object]:
    if isinstance(value, dict):
        return [inner for inner in value.values() if isinstance(inner, dict | list)]
    return [inner for inner in value if isinstance(inner, dict | list)] if isinstance(value, list) else []


def _too_deep() -> UnreadableDocumentError:
    return UnreadableDocumentError(f"content must not nest deeper than {MAX_DEPTH} levels", field="content")
