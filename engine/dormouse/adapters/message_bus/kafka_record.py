"""What lies in a record: ids, never content. Pure.

A bell is `{"v": 1, "workspace": ..., "job": ...}`, without a job where a workspace is to be applied. Whatever
else is found in a topic is refused with a reason, and noted as a dead letter: where it lies, how long it is,
and why it could not be understood. Source: writes §1 and §3.
"""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import Any

from dormouse.ids import JobId, WorkspaceId

VERSION = 1
MOST_BYTES = 4096  # a bell has two hundred
MOST_ID_CHARACTERS = 128


class Refusal(StrEnum):
    TOO_LONG = "too_long"
    NOT_JSON = "not_json"
    UNKNOWN_VERSION = "unknown_version"
    WRONG_SCHEMA = "wrong_schema"
    UNKNOWN_JOB = "unknown_job"
    UNKNOWN_WORKSPACE = "unknown_workspace"


@dataclass(frozen=True, slots=True)
class Bell:
    """For a job to extract, or without one for a workspace to apply."""

    workspace: WorkspaceId
    job: JobId | None = None

    @property
    def key(self) -> bytes:
        return (self.job or self.workspace).encode()


@dataclass(frozen=True, slots=True)
class DeadLetter:
    topic: str
    partition: int
    offset: int
    length: int
    reason: str

    @property
    def key(self) -> None:
        return None


def written(message: Bell | DeadLetter) -> bytes:
    fields = {name: value for name, value in asdict(message).items() if value is not None}
    return json.dumps({"v": VERSION, **fields}, separators=(",", ":")).encode()


def read_bell(value: bytes | None, *, has_job: bool) -> Bell | Refusal:
    fields = _fields(value)
    if isinstance(fields, Refusal):
        return fields
    wanted = {"v", "workspace", "job"} if has_job else {"v", "workspace"}
    if set(fields) != wanted or not all(_is_id(fields[name]) for name in wanted - {"v"}):
        return Refusal.WRONG_SCHEMA
    return Bell(WorkspaceId(fields["workspace"]), JobId(fields["job"]) if has_job else None)


def read_dead_letter(value: bytes | None) -> DeadLetter | None:
    """None for what is none: the topic is an operator's to write to."""
    fields = _fields(value)
    if isinstance(fields, Refusal):
        return None
    names = ("topic", "partition", "offset", "length", "reason")
    kinds = (str, int, int, int, str)
    if not all(type(fields.get(name)) is kind for name, kind in zip(names, kinds, strict=True)):
        return None
    return DeadLetter(*(fields[name] for name in names))


def _fields(value: bytes | None) -> Mapping[str, Any] | Refusal:
    if value is not None and len(value) > MOST_BYTES:
        return Refusal.TOO_LONG
    try:
        found = json.loads(value or b"")
    except (ValueError, RecursionError):
        return Refusal.NOT_JSON
    if not isinstance(found, dict):
        return Refusal.WRONG_SCHEMA
    version = found.get("v")
    if type(version) is not int:
        return Refusal.WRONG_SCHEMA
    return found if version == VERSION else Refusal.UNKNOWN_VERSION


def _is_id(value: object) -> bool:
    """Plain signs only: every store and log takes them."""
    is_short = isinstance(value, str) and 0 < len(value) <= MOST_ID_CHARACTERS
    return is_short and isinstance(value, str) and value.isascii() and value.isprintable()
