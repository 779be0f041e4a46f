"""Messages as JSON to turns: the shapes that chat programs and memory benchmarks export.

Lists of messages, objects that hold them under a usual name, and sessions of them, each with its own time.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from zoneinfo import ZoneInfo

from dormouse.ingest.parsed import Turn
from dormouse.ingest.timestamps import MAX_WRITTEN_CHARACTERS, Timestamp, read_timestamp

ROLES = {
    "user": "user", "human": "user", "customer": "user", "me": "user",
    "assistant": "assistant", "ai": "assistant", "bot": "assistant", "model": "assistant", "agent": "assistant",
    "system": "system", "developer": "system",
    "tool": "tool", "function": "tool",
}  # fmt: skip

_TEXT = ("content", "text", "message", "body", "parts", "value")
_SPEAKER = ("name", "speaker", "author", "sender", "from", "role")
_ROLE = ("role", "speaker", "author", "sender", "from", "name", "type")
_TIME = ("time", "timestamp", "created_at", "createdAt", "create_time", "date", "datetime", "sent_at", "ts")
_ID = ("external_id", "id", "message_id", "dia_id", "uuid")
_SESSION = ("session", "session_id", "conversation", "conversation_id", "thread", "thread_id", "chat_id")
_HOLDERS = ("messages", "turns", "conversation", "dialogue", "dialog", "chat", "transcript", "history")
_SESSIONS = ("sessions", "conversations", "threads")
_NUMBERED = re.compile(r"session_\d+$")
_MAX_NESTING = 4


@dataclass(frozen=True, slots=True)
class _Setting:
    """What a container says for all its messages."""

    zone: ZoneInfo
    session: str = ""
    time: object = None


def turns_of_json(value: object, zone: ZoneInfo, *, is_forced: bool) -> tuple[Turn, ...]:
    """The turns, or none if these are no messages. Unforced, every item must look like a message."""
    if not is_forced and not _looks_like_chat(value, _MAX_NESTING):
        return ()
    return tuple(_turns(value, _Setting(zone), _MAX_NESTING))


def title_of_json(value: object) -> str:
    title = value.get("title") if isinstance(value, dict) else None
    return title.strip() if isinstance(title, str) else ""


def _looks_like_chat(value: object, depth: int) -> bool:
    if isinstance(value, dict) and depth:
        held = list(_held(value))
        return bool(held) and all(_looks_like_chat(inner, depth - 1) for _, inner, _ in held)
    if not isinstance(value, list) or not value:
        return False
    if all(isinstance(item, list) for item in value):
        return depth > 0 and all(_looks_like_chat(item, depth - 1) for item in value)
    return all(_is_message(item) or (depth > 0 and _is_session(item, depth)) for item in value)


def _is_session(item: object, depth: int) -> bool:
    return isinstance(item, dict) and _looks_like_chat(item, depth - 1)


def _is_message(item: object) -> bool:
    if not isinstance(item, dict):
        return False
    return _first(item, _TEXT) is not None and isinstance(_first(item, _SPEAKER), str | dict)


def _held(value: Mapping[str, object]) -> Iterator[tuple[str, object, object]]:
    """(session name, messages, time) of everything in a container that may hold messages."""
    for key in (*_HOLDERS, *_SESSIONS):
        if isinstance(value.get(key), list | dict):
            yield "", value[key], _first(value, _TIME)
    for key, inner in value.items():
        if _NUMBERED.match(key) and isinstance(inner, list):
            yield key, inner, value.get(f"{key}_date_time", value.get(f"{key}_date"))


def _turns(value: object, setting: _Setting, depth: int) -> Iterator[Turn]:
    if isinstance(value, dict):
        yield from _turns_of_container(value, setting, depth)
    elif isinstance(value, list):
        several = sum(not _is_message(item) for item in value) > 1
        for index, item in enumerate(value, 1):
            if _is_message(item):
                turn = _turn(item, setting)
                if turn:
                    yield turn
            elif depth:
                session = f"{setting.session or 'session'}_{index}" if several else setting.session
                yield from _turns(item, _Setting(setting.zone, session, setting.time), depth - 1)


def _turns_of_container(value: dict[str, object], setting: _Setting, depth: int) -> Iterator[Turn]:
    own = _word(_first(value, (*_SESSION, "id"))) or setting.session
    for name, inner, time in _held(value) if depth else ():
        yield from _turns(inner, _Setting(setting.zone, name or own, time or setting.time), depth - 1)


def _turn(item: dict[str, object], setting: _Setting) -> Turn | None:
    text = _text_of(_first(item, _TEXT)).strip()
    if not text:
        return None
    given = _first(item, _TIME)
    given = setting.time if given is None else given
    stamp = read_timestamp(given, setting.zone)
    return Turn(
        speaker=_speaker_of(item),
        role=role_of(_word(_named(_first(item, _ROLE), "role"))),
        text=text,
        time=_written(given, stamp),
        occurred_ms=stamp.instant_ms if stamp else None,
        offset_minutes=stamp.offset_minutes if stamp else None,
        precision=stamp.precision if stamp else None,
        external_id=_word(_first(item, _ID)) or None,
        session=_word(_first(item, _SESSION)) or setting.session,
    )


def role_of(name: str) -> str:
    return ROLES.get(name.strip().lower(), "")


def _speaker_of(item: dict[str, object]) -> str:
    return next((word for key in _SPEAKER if (word := _word(_named(item.get(key), "name")))), "")


def _named(value: object, key: str) -> object:
    if isinstance(value, dict):
        return value.get(key) or value.get("name") or value.get("role")
    return value


def _word(value: object) -> str:
    """A short string or a number as a word; anything else is none."""
    if isinstance(value, bool) or not isinstance(value, str | int):
        return ""
    return " ".join(str(value).split())[:200]


def _written(given: object, stamp: Timestamp | None) -> str:
    if stamp:
        return stamp.written
    return given.strip() if isinstance(given, str) and len(given) <= MAX_WRITTEN_CHARACTERS else ""


def _text_of(value: object, depth: int = _MAX_NESTING) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, list) and depth:
        return "\n".join(part for item in value if (part := _text_of(item, depth - 1)))
    if isinstance(value, dict) and depth:
        return _text_of(_first(value, ("text", "parts", "content")), depth - 1)
    return ""


def _first(item: Mapping[str, object], keys: tuple[str, ...]) -> object:
    return next((item[key] for key in keys if item.get(key) is not None), None)
