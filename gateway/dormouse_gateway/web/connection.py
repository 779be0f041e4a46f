"""A connection that nobody can hold for nothing: a head and each piece of a body must come in time.

uvicorn bounds only how long a connection stays open after an answer. Without these bounds, connections that
send nothing use up the process's files until nobody else can come in, and bodies that never end use up the
requests that their caller may have under way. When connections get scarce, one that asks for nothing has to go.
"""

import asyncio
import contextlib
import sys
from functools import cache
from itertools import count
from typing import Any

import h11
from uvicorn.config import Config
from uvicorn.protocols.http.h11_impl import H11Protocol
from uvicorn.server import ServerState

HEAD_S = 15.0  # from the opening, or from the answer before, until a head that was begun is whole
BODY_S = 30.0  # between two pieces of a body
RESERVED_FILES = 256  # of the stores, the vectors' process and answers under way
FEWEST, MOST, WANTED_FILES = 64, 16_384, 65_536
_TURNS = count()


class BoundedConnection(H11Protocol):
    """What uvicorn makes of each connection."""

    def __init__(
        self,
        config: Config,
        server_state: ServerState,
        app_state: dict[str, Any],
        _loop: asyncio.AbstractEventLoop | None = None,
    ) -> None:
        super().__init__(config, server_state, app_state, _loop)
        self._deadline: asyncio.TimerHandle | None = None
        self._is_begun = False  # a head is awaited, and its deadline runs
        self.turn = next(_TURNS)  # of two quiet ones, the lower has been quiet for longer

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        if len(self.connections) > connections_allowed():
            self._make_room()
        self._watch()

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        self._watch()

    def on_response_complete(self) -> None:
        super().on_response_complete()
        self._watch()

    def connection_lost(self, exc: Exception | None) -> None:
        self._unwatch()
        super().connection_lost(exc)

    @property
    def is_quiet(self) -> bool:
        """Whether no request is under way."""
        return self.conn.our_state is h11.IDLE

    def _watch(self) -> None:
        waits_for_head = self.is_quiet and self.conn.their_state is h11.IDLE
        if waits_for_head and self._is_begun:
            return  # one byte now and then is no head
        self._unwatch()
        self.turn = next(_TURNS)
        if self.conn.their_state is h11.SEND_BODY:
            self._deadline = self.loop.call_later(BODY_S, self._expire)
        elif waits_for_head and self.timeout_keep_alive_task is None:
            self._is_begun = True
            self._deadline = self.loop.call_later(HEAD_S, self._expire)

    def _unwatch(self) -> None:
        self._is_begun = False
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None

    def _expire(self) -> None:
        self._unwatch()
        if self.flow.read_paused:  # it is the application that has not read on yet
            self._watch()
        else:
            self.transport.close()

    def _make_room(self) -> None:
        """The one that has asked for nothing for the longest time goes; if all ask, the newcomer."""
        others = [each for each in self.connections if isinstance(each, BoundedConnection) and each is not self]
        quiet = [each for each in others if each.is_quiet]
        leaving = min(quiet, key=lambda each: each.turn, default=self)
        leaving.transport.abort()


@cache
def connections_allowed() -> int:
    """As many as there are files for, after the process has asked for as many as it may have."""
    if sys.platform == "win32":
        return MOST
    import resource  # noqa: PLC0415 - Unix only

    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = WANTED_FILES if hard == resource.RLIM_INFINITY else min(hard, WANTED_FILES)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        with contextlib.suppress(OSError, ValueError):  # a system may allow less than it says
            resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
            soft = wanted
    files = WANTED_FILES if soft == resource.RLIM_INFINITY else soft
    return max(FEWEST, min(MOST, files - RESERVED_FILES))
