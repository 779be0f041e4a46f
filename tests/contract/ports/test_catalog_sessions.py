from dataclasses import replace

import pytest

from dormouse.ids import DocumentId
from dormouse.model.session import TTL_MS, EntryKind, SessionSummary
from dormouse.ports.catalog.transaction import Catalog
from tests.builders import A_DATASET, A_DOCUMENT, A_PRINCIPAL, ANOTHER_PRINCIPAL, NOW_MS, a_session_entry
from tests.hand_clock import HandClock


async def test_entries_are_their_owners_alone_newest_first(catalog: Catalog) -> None:
    quotes = tuple(sorted([A_DOCUMENT, DocumentId("other")]))
    old = a_session_entry("old", quotes=quotes)
    new = a_session_entry("new", created_ms=NOW_MS + 1)
    async with catalog.transaction() as tx:
        for entry in (old, new, a_session_entry("elsewhere", session="s2")):
            await tx.sessions.add(entry)
        await tx.sessions.add(a_session_entry("foreign", owner=ANOTHER_PRINCIPAL))

        assert await tx.sessions.entries(A_PRINCIPAL, "s1", 10) == [new, old]
        assert await tx.sessions.entries(A_PRINCIPAL, "s1", 1) == [new]
        assert [each.name for each in (await tx.sessions.sessions(A_PRINCIPAL)).sessions] == ["s1", "s2"]


async def test_an_expired_entry_is_not_shown_and_then_goes(catalog: Catalog, clock: HandClock) -> None:
    async with catalog.transaction() as tx:
        await tx.sessions.add(a_session_entry("old"))
        await tx.sessions.add(a_session_entry("new", created_ms=NOW_MS + 1, session="s2"))
        await tx.commit()
    clock.advance(TTL_MS)

    async with catalog.transaction() as tx:
        assert await tx.sessions.entries(A_PRINCIPAL, "s1", 10) == []
        assert [each.name for each in (await tx.sessions.sessions(A_PRINCIPAL)).sessions] == ["s2"]
        assert await tx.sessions.expire() == 1
        assert await tx.sessions.expire() == 0


async def test_using_a_session_slides_the_expiry_of_all_its_entries(catalog: Catalog, clock: HandClock) -> None:
    entry = a_session_entry("old")
    async with catalog.transaction() as tx:
        await tx.sessions.add(entry)
        await tx.sessions.touch(A_PRINCIPAL, "s1", NOW_MS + 2 * TTL_MS)
        await tx.sessions.touch(ANOTHER_PRINCIPAL, "s1", NOW_MS)
        await tx.commit()
    clock.advance(TTL_MS)

    async with catalog.reading() as tx:
        assert await tx.sessions.entries(A_PRINCIPAL, "s1", 10) == [
            replace(entry, expires_ms=NOW_MS + 2 * TTL_MS)
        ]


async def test_erasing_takes_the_entries_of_one_owner_dataset_or_quoted_document(catalog: Catalog) -> None:
    quoting = a_session_entry("quoting", quotes=(A_DOCUMENT, DocumentId("other")))
    bound = replace(a_session_entry("bound", created_ms=NOW_MS + 1), dataset=A_DATASET)
    plain = a_session_entry("plain", created_ms=NOW_MS + 2)
    async with catalog.transaction() as tx:
        foreign = a_session_entry("foreign", owner=ANOTHER_PRINCIPAL)
        foreign_bound = replace(a_session_entry("bound too", owner=ANOTHER_PRINCIPAL), dataset=A_DATASET)
        for entry in (quoting, bound, plain, foreign, foreign_bound):
            await tx.sessions.add(entry)

        assert await tx.sessions.erase(document=A_DOCUMENT) == {A_PRINCIPAL: 1}
        assert await tx.sessions.entries(A_PRINCIPAL, "s1", 10) == [plain, bound]
        assert await tx.sessions.erase(dataset=A_DATASET) == {A_PRINCIPAL: 1, ANOTHER_PRINCIPAL: 1}
        assert await tx.sessions.entries(A_PRINCIPAL, "s1", 10) == [plain]
        assert await tx.sessions.erase(owner=A_PRINCIPAL) == {A_PRINCIPAL: 1}
        assert len(await tx.sessions.entries(ANOTHER_PRINCIPAL, "s1", 10)) == 1


async def test_erasing_needs_exactly_one_filter(catalog: Catalog) -> None:
    async with catalog.transaction() as tx:
        with pytest.raises(ValueError, match="exactly one"):
            await tx.sessions.erase()
        with pytest.raises(ValueError, match="exactly one"):
            await tx.sessions.erase(owner=A_PRINCIPAL, dataset=A_DATASET)


async def test_sessions_are_paged_last_used_first(catalog: Catalog) -> None:
    async with catalog.transaction() as tx:
        for number, name in enumerate(["oldest", "b", "a"]):
            at_ms = NOW_MS + (number > 0)
            await tx.sessions.add(a_session_entry("note", session=name, created_ms=at_ms))
        await tx.sessions.add(replace(a_session_entry("", session="a"), kind=EntryKind.TRACE))
        await tx.sessions.add(a_session_entry("foreign", session="z", owner=ANOTHER_PRINCIPAL))

        first = await tx.sessions.sessions(A_PRINCIPAL, limit=2)
        last = first.sessions[-1]
        rest = await tx.sessions.sessions(A_PRINCIPAL, after=(last.used_ms, last.name), limit=2)

        assert [each.name for each in (*first.sessions, *rest.sessions)] == ["a", "b", "oldest"]
        assert first.total == rest.total == 3
        assert await tx.sessions.session(A_PRINCIPAL, "a") == SessionSummary(
            "a", None, NOW_MS, NOW_MS + 1, exchanges=1, traces=1
        )
        assert await tx.sessions.session(A_PRINCIPAL, "z") is None


async def test_entries_go_on_before_the_last_one_seen(catalog: Catalog) -> None:
    entries = [a_session_entry(str(number), created_ms=NOW_MS + number // 2) for number in range(5)]
    async with catalog.transaction() as tx:
        for entry in entries:
            await tx.sessions.add(entry)

        seen = list(await tx.sessions.entries(A_PRINCIPAL, "s1", 2))
        while page := await tx.sessions.entries(
            A_PRINCIPAL, "s1", 2, before=(seen[-1].created_ms, seen[-1].id)
        ):
            seen += page

    assert len(seen) == 5
    assert {entry.id for entry in seen} == {entry.id for entry in entries}


async def test_one_session_is_erased_with_the_keys_that_answered_for_it(catalog: Catalog) -> None:
    mine, other = a_session_entry("mine"), a_session_entry("other", session="s2")
    async with catalog.transaction() as tx:
        await tx.sessions.add(mine)
        await tx.sessions.add(other)
        await tx.jobs.remember_key(A_PRINCIPAL, "route", "k", "hash", mine.id)
        await tx.sessions.describe(other.id, {"feedback_score": 5})

        assert await tx.sessions.erase(owner=A_PRINCIPAL, session="s1") == {A_PRINCIPAL: 1}

        assert await tx.jobs.idempotent(A_PRINCIPAL, "route", "k") == (mine.id, "")
        kept = await tx.sessions.entry(A_PRINCIPAL, "s2", other.id)
        assert kept == replace(other, details={"feedback_score": 5})
        assert await tx.sessions.entry(ANOTHER_PRINCIPAL, "s2", other.id) is None
