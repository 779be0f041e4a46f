"""Lines of the form "Name: text" to turns, with the times that stand in front of or between them.

Told apart from prose with colons, YAML, mail headers and logs: names are names, and somebody speaks again.
"""

import re
from collections import Counter
from dataclasses import dataclass, field
from zoneinfo import ZoneInfo

from dormouse.ingest.parse_chat import role_of
from dormouse.ingest.parsed import Turn
from dormouse.ingest.timestamps import DayOrder, Timestamp, order_of, read_timestamp

_SPOKEN = re.compile(
    r"\s{0,3}(?:[-*>] )?"
    r"(?:[\[(](?P<bracketed>[^\])]{4,40})[\])]\s*[-–—:]?\s*|(?P<bare>\d[\d/.\-]{5,9}[T, ]+\d[\d:.]{3,7}"
    r"(?:\s?[AaPp]\.?[Mm]\.?)?(?:Z|[+-]\d\d:?\d\d)?)\s*[-–—|:]?\s+)?"
    r"(?:\*\*|__)?(?P<name>[^\W\d_][^\n:：<>{}\[\]()|=;\"*_/\\]{0,39})"
    r"(?:\*\*|__)?(?:\s?[\[(](?P<after>[^\])]{4,40})[\])])?\s?(?:\*\*|__)?(?::(?:\*\*|__)?(?=\s|$)|：)(?:\*\*|__)?"
)
_LINE_DATE = re.compile(r"^[ \t]{0,8}[\[(]?(\d{1,2}[/.]\d{1,2}[/.]\d{2,4})[,\s]", re.MULTILINE)
_LINE_MARK = re.compile("^[\u200e\u200f\u202a]+", re.MULTILINE)  # phones write one before a line
_LINE_CHARACTERS = 200  # a speaker stands at the start of a line; keeps the search bounded
_SAMPLE_CHARACTERS = 50_000  # a conversation shows early
_SESSION_LINE = re.compile(
    r"\s{0,3}(?:#{1,6}\s+|[-=*]{2,}\s*|\[)?(?P<name>(?:session|conversation|chat|day)\s+[\w-]{1,20})?"
    r"[\s:,\-–—(\[]*(?:(?:date|time|on)\b[\s:]*)*(?P<time>[^\n]{0,60}?)[\s)\]=*\-]*$",
    re.IGNORECASE,
)
_MAY_DATE = re.compile(r"\d|session|conversation|chat|day", re.IGNORECASE)
_PARTICLES = frozenset("de da di del van von der den la le bin al el of the and".split())
_NOT_SPEAKERS = frozenset(
    """info error warning warn debug trace fatal critical notice note notes todo fixme tip hint important
    caution summary description title subject from to cc bcc date time reply-to sent host accept server
    connection content-type user-agent cookie location name email phone address url link id status type
    version author tags category price total amount quantity pros cons step steps example examples
    answer question input output result results source sources reference references update edit ps p.s.
    usage returns args raises see ingredients instructions goal goals agenda attendees participants
    place where when who what why how""".split()
)


@dataclass(slots=True)
class _Draft:
    speaker: str
    stamp: Timestamp | None
    session: str
    lines: list[str] = field(default_factory=list)
    is_stamped: bool = False


def turns_of_transcript(text: str, zone: ZoneInfo, *, is_forced: bool) -> tuple[Turn, ...]:
    """The turns, or none if this is no transcript. Forced, one line with a name is enough."""
    text = _LINE_MARK.sub("", text)
    order = order_of(found[1] for found in _LINE_DATE.finditer(text))
    if not is_forced and not _is_conversation(*_drafts(text[:_SAMPLE_CHARACTERS], zone, order)):
        return ()
    preamble, drafts, _ = _drafts(text, zone, order)
    if not drafts:
        return ()
    first = [Turn("", "", preamble)] if preamble else []
    return tuple(first + [_turn(draft) for draft in drafts if "".join(draft.lines).strip()])


def _drafts(text: str, zone: ZoneInfo, order: DayOrder | None) -> tuple[str, list[_Draft], float]:
    preamble: list[str] = []
    drafts: list[_Draft] = []
    stamp, session, filled = None, "", 0
    for line in text.split("\n"):
        filled += bool(line.strip())
        header = _session_line(line, zone)
        if header:
            session, stamp = header[0] or (session if header[1] is None else ""), header[1]
            filled -= 1
            continue
        spoken = _SPOKEN.match(line[:_LINE_CHARACTERS]) if ":" in line or "：" in line else None
        if spoken and _is_name(spoken["name"].strip()):
            own = _own_stamp(spoken, zone, order)
            drafts.append(_Draft(_tidy(spoken["name"]), own or stamp, session, is_stamped=own is not None))
            drafts[-1].lines.append(line[spoken.end() :].strip())
        else:
            (drafts[-1].lines if drafts else preamble).append(line.rstrip())
    return "\n".join(preamble).strip(), drafts, len(drafts) / max(filled, 1)


def _session_line(line: str, zone: ZoneInfo) -> tuple[str, Timestamp | None] | None:
    """(name, time) if the line only says that a session begins or when it is."""
    if len(line) > 100 or not line.strip() or not _MAY_DATE.search(line):
        return None
    match = _SESSION_LINE.match(line)
    if not match:
        return None
    stamp = read_timestamp(match["time"], zone) if match["time"] else None
    if stamp or (match["name"] and not match["time"]):
        return (match["name"] or "").strip(), stamp
    return None


def _own_stamp(spoken: re.Match[str], zone: ZoneInfo, order: DayOrder | None) -> Timestamp | None:
    written = spoken["bracketed"] or spoken["bare"] or spoken["after"]
    return read_timestamp(written, zone, order) if written else None


def _is_name(name: str) -> bool:
    words = name.split()
    if not words or len(words) > 4 or name.lower() in _NOT_SPEAKERS or name[-1] in ".,!?":
        return False
    if role_of(name):
        return True
    return not words[0][0].islower() and all(not word[0].islower() or word in _PARTICLES for word in words[1:])


def _tidy(name: str) -> str:
    return " ".join(name.split())


def _is_conversation(preamble: str, drafts: list[_Draft], spoken_share: float) -> bool:
    if not drafts or preamble.count("\n") > 3:
        return False
    counts = Counter(draft.speaker for draft in drafts)
    roles = {role_of(name) for name in counts}
    if "" not in roles:
        return len(roles) > 1 or (len(drafts) > 2 and spoken_share > 0.5)
    if len(drafts) < 3 or max(counts.values()) < 2 or len(counts) > len(drafts) * 0.7:
        return False
    if all(draft.is_stamped for draft in drafts):
        return True
    return spoken_share >= (0.5 if len(counts) > 1 else 0.99)


def _turn(draft: _Draft) -> Turn:
    stamp = draft.stamp
    return Turn(
        speaker=draft.speaker,
        role=role_of(draft.speaker),
        text="\n".join(draft.lines).strip(),
        time=stamp.written if stamp else "",
        occurred_ms=stamp.instant_ms if stamp else None,
        offset_minutes=stamp.offset_minutes if stamp else None,
        precision=stamp.precision if stamp else None,
        session=draft.session,
    )
