"""What parsing makes of bytes: turns of a conversation, or sections of a document; never both empty."""

from dataclasses import dataclass

from dormouse.model.passage import Precision


@dataclass(frozen=True, slots=True)
class Turn:
    """One message. `speaker` and `time` are as written (`time` is an ISO form if only a number was given).

    `occurred_ms` is None when the time is unknown or could be read in two ways; `role` is user, assistant,
    system, tool or empty. `session` is the caller's name for the conversation, empty if it has none; `subject`
    what the message says it is about.
    """

    speaker: str
    role: str
    text: str
    time: str = ""
    occurred_ms: int | None = None
    offset_minutes: int | None = None
    precision: Precision | None = None
    external_id: str | None = None
    session: str = ""
    subject: str = ""


@dataclass(frozen=True, slots=True)
class Section:
    """`heading` is the path from the document's first level down; `keeps_lines` forbids cutting inside one
    (code, tables, records)."""

    heading: tuple[str, ...]
    text: str
    keeps_lines: bool = False


@dataclass(frozen=True, slots=True)
class ParsedDocument:
    """`occurred_ms` is when the document itself says it was written; `language` is its own word for it."""

    title: str = ""
    turns: tuple[Turn, ...] = ()
    sections: tuple[Section, ...] = ()
    language: str = ""
    occurred_ms: int | None = None
