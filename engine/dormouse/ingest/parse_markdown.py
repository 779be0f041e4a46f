"""Markdown to sections under their heading path; text outside headings keeps its place and its words.

Headings are those of CommonMark (`#` and underlined), never inside a fence. A heading whose section is empty
and that no deeper section names becomes the text of its own section, so that nothing is lost.
"""

import re

from dormouse.ingest.parsed import ParsedDocument, Section
from dormouse.ingest.timestamps import read_timestamp, zone_named

_ATX = re.compile(r" {0,3}(#{1,6})[ \t]+(\S.*)$")
_CLOSING = re.compile(r"(?:^|[ \t])#+[ \t]*$")
_UNDERLINE = re.compile(r" {0,3}(=+|-{2,})[ \t]*$")
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")
_NOT_HEADED = re.compile(r"\s|[-*+>|#]|\d+[.)]\s")  # what an underline cannot turn into a heading
_FRONT_MATTER = re.compile(r"---[ \t]*\n(?P<fields>(?:[^\n]*\n){1,200}?)(?:---|\.\.\.)[ \t]*(?:\n|$)")
_FIELD = re.compile(r"(?P<key>title|date|created)[ \t]*:[ \t]*[\"']?(?P<value>[^\"'\n]+)", re.IGNORECASE)
MAX_HEADING_CHARACTERS = 200


def looks_like_markdown(text: str) -> bool:
    """True if a heading stands outside fences in the first part of the text."""
    return any(level for level, _, _ in _headings(text[:20_000].split("\n")))


def parse_markdown(text: str, zone: str) -> ParsedDocument:
    fields, text = _front_matter(text)
    sections = _sections(text)
    stamp = read_timestamp(fields.get("date") or fields.get("created"), zone_named(zone))
    title = fields.get("title") or _first_level_title(sections)
    if fields:
        lines = "\n".join(f"{key}: {value}" for key, value in fields.items())
        sections = (Section((), lines, keeps_lines=True), *sections)
    return ParsedDocument(title=title, sections=sections, occurred_ms=stamp.instant_ms if stamp else None)


def _front_matter(text: str) -> tuple[dict[str, str], str]:
    """The fields we know of, and the text without the block if those are all it has."""
    match = _FRONT_MATTER.match(text)
    if not match:
        return {}, text
    lines = [line for line in match["fields"].split("\n") if line.strip()]
    found = [_FIELD.match(line) for line in lines]
    fields = {field["key"].lower(): field["value"].strip() for field in found if field}
    kept = "".join(f"{line}\n" for line, field in zip(lines, found, strict=True) if not field)
    return fields, f"{kept}\n{text[match.end() :]}"


def _headings(lines: list[str]) -> list[tuple[int, str, int]]:
    """(level, heading, lines taken) for each line; level 0 means that it is text."""
    out: list[tuple[int, str, int]] = []
    fence = ""
    for index, line in enumerate(lines):
        mark = _FENCE.match(line)
        if mark and (not fence or (mark[1].startswith(fence) and not line.strip(" `~"))):
            fence = "" if fence else mark[1]
            out.append((0, "", 1))
        elif fence:
            out.append((0, "", 1))
        else:
            following = lines[index + 1] if index + 1 < len(lines) else ""
            out.append(_heading(line, following, after_text=index > 0 and bool(lines[index - 1].strip())))
    return out


def _heading(line: str, following: str, *, after_text: bool) -> tuple[int, str, int]:
    atx = _ATX.match(line)
    if atx:
        words = _CLOSING.sub("", atx[2]).strip()
        return (len(atx[1]), words, 1) if words and len(words) <= MAX_HEADING_CHARACTERS else (0, "", 1)
    cannot = after_text or not line.strip() or _NOT_HEADED.match(line)
    underline = None if cannot else _UNDERLINE.match(following)
    if underline and len(line) <= MAX_HEADING_CHARACTERS:
        return (1 if underline[1][0] == "=" else 2), line.strip(), 2
    return 0, "", 1


def _sections(text: str) -> tuple[Section, ...]:
    lines = text.split("\n")
    path: list[tuple[int, str]] = []
    found: list[tuple[tuple[str, ...], list[str]]] = [((), [])]
    skip = False
    for line, (level, heading, taken) in zip(lines, _headings(lines), strict=True):
        if skip:
            skip = False
        elif level:
            path = [*(above for above in path if above[0] < level), (level, heading)]
            found.append((tuple(words for _, words in path), []))
            skip = taken == 2
        else:
            found[-1][1].append(line)
    return _without_empty([Section(heading, "\n".join(body).strip("\n")) for heading, body in found])


def _without_empty(sections: list[Section]) -> tuple[Section, ...]:
    kept: list[tuple[tuple[str, ...], list[str], bool]] = []
    for index, section in enumerate(sections):
        if section.text.strip():
            kept.append((section.heading, [section.text], False))
        elif section.heading and not _is_named_by(sections[index + 1 : index + 2], section.heading):
            above, words = section.heading[:-1], section.heading[-1]
            if kept and kept[-1][2] and kept[-1][0] == above:  # a list in the shape of headings
                kept[-1][1].append(words)
            else:
                kept.append((above, [words], True))
    return tuple(Section(heading, "\n".join(body)) for heading, body, _ in kept)


def _is_named_by(following: list[Section], heading: tuple[str, ...]) -> bool:
    return any(len(s.heading) > len(heading) and s.heading[: len(heading)] == heading for s in following)


def _first_level_title(sections: tuple[Section, ...]) -> str:
    """The first heading, if everything stands under it."""
    tops = {section.heading[:1] for section in sections}
    return next(iter(tops))[0] if len(tops) == 1 and () not in tops else ""
