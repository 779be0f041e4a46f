"""What later claims make of earlier ones: a subject has one employer at a time. Pure.

Worked out when claims are read, over those the caller may see and that are believed at the asked-for moment. So
nothing of a claim is left in another one's row: forgetting, hiding or correcting it brings the other back as it
was, and the order in which claims arrived cannot matter. The order is event time, then acceptance, then id.
Source: writes §6; contract-recall, "Time".
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from dormouse.ids import VersionId
from dormouse.model.interval import Interval
from dormouse.model.memory import MemoryVersion, SourceKind

Subject = tuple[str, str, str]


def subjects_of(versions: Iterable[MemoryVersion]) -> frozenset[tuple[str, str]]:
    """Subject and predicate of the claims whose interval another claim may end."""
    return frozenset(
        (each.claim.subject, each.claim.predicate)
        for each in versions
        if each.claim and each.claim.is_functional
    )


def in_time(versions: Sequence[MemoryVersion], claims: Sequence[MemoryVersion]) -> list[MemoryVersion]:
    """`versions` with the intervals that all `claims` about their subjects leave them; those left without an
    instant were taken back, and are gone. A version that claims nothing of one object stays as it is."""
    left = intervals([*versions, *claims])
    found = []
    for version in versions:
        valid = left.get(version.id, version.valid)
        if valid is not None:
            found.append(version if valid == version.valid else replace(version, valid=valid))
    return found


def intervals(claims: Iterable[MemoryVersion]) -> Mapping[VersionId, Interval | None]:
    """Of functional claims only; None where a later claim begins no later than this one does."""
    by_subject: dict[Subject, dict[VersionId, MemoryVersion]] = defaultdict(dict)
    for each in claims:
        if each.claim and each.claim.is_functional:
            by_subject[each.dataset, each.claim.subject, each.claim.predicate][each.id] = each
    left: dict[VersionId, Interval | None] = {}
    for same in by_subject.values():
        ordered = sorted(same.values(), key=_order)
        for at, version in enumerate(ordered):
            left[version.id] = _until_next(version, ordered[at + 1 :])
    return left


def _until_next(version: MemoryVersion, later: Sequence[MemoryVersion]) -> Interval | None:
    for each in later:
        if _ends(each, version):
            end_ms = min(version.valid.end_ms, event_ms(each))
            return Interval(version.valid.start_ms, end_ms) if end_ms > version.valid.start_ms else None
    return version.valid


def _ends(later: MemoryVersion, version: MemoryVersion) -> bool:
    """Another object ends it; but what was only inferred never ends what was stated."""
    assert later.claim is not None
    assert version.claim is not None
    is_guess = later.source is SourceKind.INFERRED and version.source is not SourceKind.INFERRED
    return later.claim.object != version.claim.object and not is_guess


def event_ms(version: MemoryVersion) -> int:
    """When what is claimed began; of a claim without any time, when it was taken up."""
    return version.valid.start_ms if version.valid.has_start else version.transaction.start_ms


def _order(version: MemoryVersion) -> tuple[int, int, str]:
    return event_ms(version), version.transaction.start_ms, version.id
