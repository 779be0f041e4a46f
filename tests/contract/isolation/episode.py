"""One run: deeds in a seeded order, and after each of them everything that everybody sees.

A deed that is none of a user's business must leave what they see as it was, to the last bit of every score. At
the end a mirror is made: another engine, in which only what one user may read ever happened. It must answer
that user the same.
"""

import asyncio
from collections.abc import AsyncIterator, Collection
from contextlib import asynccontextmanager
from pathlib import Path
from random import Random

from dormouse import compose
from dormouse.audit.export import What
from dormouse.ids import DatasetId, PrincipalId
from dormouse.model.export import ExportRow
from dormouse.model.recall import RecallMode, RecallRequest
from dormouse.ports.embedder import Embedder
from tests.builders import NOW_MS
from tests.contract.isolation.choose import next_deed
from tests.contract.isolation.deeds import Deed, Note, Stage
from tests.contract.isolation.expected import USERS, Expected
from tests.contract.isolation.strangers import ask_about_strangers
from tests.contract.isolation.texts import QUERIES
from tests.contract.isolation.view import Found, Questions, View, check_view, found_by, view_of
from tests.contract.write_path.world import opened
from tests.hand_clock import HandClock

TICK_MS = 1000
ASK_EVERY = 5  # deeds between two rounds of asking for what is somebody else's


class Episode:
    """`seed` decides everything; a failure names it and the deed's number."""

    def __init__(self, stage: Stage, seed: int) -> None:
        self._stage = stage
        self._random = Random(seed)
        self._questions = Questions.drawn(self._random)
        self._expected = Expected()
        self._views: dict[PrincipalId, View] = {}
        self._done: list[tuple[int, Deed]] = []

    async def run(self, operations: int) -> None:
        """Ends after so many operations: deeds, looks at everything, and rounds of asking for what is not one's
        own count one each."""
        for user in USERS:
            self._views[user] = await self._look(user)
        count = 0
        while count < operations:
            deed = next_deed(self._random, self._expected)
            try:
                count += await self._perform(deed)
            except Exception as exc:
                exc.add_note(f"at deed {len(self._done)}: {deed}")
                raise

    async def reflect(self, folder: Path, embedder: Embedder) -> None:
        """Compares with the mirror of one user."""
        user = self._random.choice(USERS)
        seen = await _answers(self._stage, user)
        async with staged(folder, embedder) as mirror:
            await self._replay(mirror, user)
            mirrored = await _answers(mirror, user)
        assert mirrored == seen

    async def _perform(self, deed: Deed) -> int:
        self._stage.world.clock.advance(TICK_MS)
        now_ms = self._stage.world.clock.now_ms()
        datasets = list(deed.datasets(self._expected))
        concerned = self._concerned(deed, datasets)
        receipt = await deed.do(self._stage)
        self._done.append((now_ms, deed))
        deed.tell(self._expected, receipt)
        concerned |= self._concerned(deed, datasets)
        for user in USERS:
            view = await self._look(user)
            assert user in concerned or view == self._views[user], f"{user} noticed {deed}"
            self._views[user] = view
        if len(self._done) % ASK_EVERY:
            return 1 + len(USERS)
        user = self._random.choice(USERS)
        return (
            1 + len(USERS) + await ask_about_strangers(self._stage.engine, self._expected, user, self._random)
        )

    def _concerned(self, deed: Deed, datasets: Collection[DatasetId]) -> set[PrincipalId]:
        found = {deed.user} if deed.user else set()
        return found.union(
            *(self._expected.concerned(each) for each in self._expected.datasets if each in datasets)
        )

    async def _look(self, user: PrincipalId) -> View:
        view = await view_of(self._stage.engine, self._expected, user, self._questions)
        check_view(view, self._expected, user, self._questions)
        return view

    async def _replay(self, mirror: Stage, user: PrincipalId) -> None:
        readable = {each.id for each in self._expected.readable(user)}
        replayed = Expected()
        for at_ms, deed in self._done:
            mirror.world.clock.advance(max(0, at_ms - mirror.world.clock.now_ms()))
            if isinstance(deed, Note):
                is_seen = deed.user == user and (deed.dataset is None or deed.dataset in readable)
            else:
                touched = set(deed.datasets(replayed))
                is_seen = not touched or bool(touched & readable) or deed.user is None
            if is_seen:
                await deed.do(mirror)


async def _answers(stage: Stage, user: PrincipalId) -> tuple[list[Found], list[ExportRow]]:
    """To every query in both modes, and the export, once nothing waits. Notes are left to the views."""
    await stage.world.work()
    requests = [
        RecallRequest(query, mode=mode, top_k=100)
        for query in QUERIES
        for mode in (RecallMode.AUTO, RecallMode.LEXICAL)
    ]
    found = [await found_by(stage.engine, user, request) for request in requests]
    scope = await stage.engine.scope_of(user)
    return found, [row async for row in stage.engine.export(scope, What(has_vectors=True))]


@asynccontextmanager
async def staged(folder: Path, embedder: Embedder) -> AsyncIterator[Stage]:
    await asyncio.to_thread(folder.mkdir)
    async with opened(folder, HandClock(NOW_MS), embedder) as world:
        yield Stage(compose.assemble(world.ports), world)
