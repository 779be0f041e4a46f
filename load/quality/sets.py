"""Question sets: `{name}.corpus.jsonl.gz` and `{name}.queries.jsonl.gz` in one folder.

A corpus row is `{id, group, session, order, time, speaker, text}`, a query `{id, group, category, text, gold}`
with the ids of the rows that hold the evidence. A query is asked inside its group only.
"""

import gzip
import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from dormouse.model.document import Content, ContentKind


@dataclass(frozen=True, slots=True)
class Row:
    id: str
    group: str
    session: str
    time: str
    speaker: str
    text: str


@dataclass(frozen=True, slots=True)
class Question:
    group: str
    category: str
    text: str
    gold: frozenset[str]


@dataclass(frozen=True, slots=True)
class QuestionSet:
    name: str
    rows: tuple[Row, ...]
    questions: tuple[Question, ...]


def read_sets(folder: Path, wanted: str = "") -> Iterator[QuestionSet]:
    """Every set of the folder whose name contains `wanted`, by name."""
    for path in sorted(folder.glob("*.corpus.jsonl.gz")):
        name = path.name.removesuffix(".corpus.jsonl.gz")
        if wanted in name:
            yield QuestionSet(
                name,
                tuple(_row(each) for each in _lines(path)),
                tuple(_question(each) for each in _lines(folder / f"{name}.queries.jsonl.gz")),
            )


def contents_of(rows: tuple[Row, ...]) -> Iterator[Content]:
    """As a user would have them: a chat per session where somebody speaks, else a text per row."""
    chats: dict[str, list[Row]] = {}
    for row in rows:
        if row.speaker:
            chats.setdefault(row.session, []).append(row)
        else:
            yield Content(body=row.text.encode(), external_id=row.id)
    for session, turns in chats.items():
        messages = [
            {"id": turn.id, "session": session, "time": turn.time, "speaker": turn.speaker, "text": turn.text}
            for turn in turns
        ]
        yield Content(body=json.dumps(messages).encode(), kind=ContentKind.CHAT)


def _lines(path: Path) -> Iterator[dict[str, object]]:
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        for line in lines:
            yield json.loads(line)


def _row(value: dict[str, object]) -> Row:
    return Row(*(str(value[key]) for key in ("id", "group", "session", "time", "speaker", "text")))


def _question(value: dict[str, object]) -> Question:
    gold = value["gold"]
    assert isinstance(gold, list)
    return Question(str(value["group"]), str(value["category"]), str(value["text"]), frozenset(map(str, gold)))
