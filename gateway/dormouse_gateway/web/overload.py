"""Nobody may ask so much that others wait: a rate for each caller, and bounds on what runs at once.

Behind authentication, so that a stranger cannot use up somebody's share.
Source: RFC 6585 §4; architecture §8.
"""

import math
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from starlette.types import ASGIApp, Receive, Scope, Send

from dormouse.ids import PrincipalId
from dormouse_gateway.settings import RateLimitSettings
from dormouse_gateway.web.problems import Problem, problem_response
from dormouse_gateway.web.token_bucket import Rate, TokenBuckets

MAX_CALLERS = 10_000


def too_many(detail: str, wait_s: float = 1.0) -> Problem:
    """429, with whole seconds after which another try may do."""
    return Problem("overloaded", detail, headers={"Retry-After": str(max(1, math.ceil(wait_s)))})


class OverloadGuard:
    """`exempt` tells paths that are never refused; a request without a principal is not counted."""

    def __init__(
        self,
        app: ASGIApp,
        limits: RateLimitSettings,
        *,
        exempt: Callable[[str], bool],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._app = app
        self._limits = limits
        self._exempt = exempt
        self._buckets = TokenBuckets(Rate(limits.requests_per_s, limits.burst), clock, most=MAX_CALLERS)
        self._open: Counter[PrincipalId] = Counter()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        principal = scope.get("state", {}).get("principal")
        if scope["type"] != "http" or principal is None or self._exempt(scope["path"]):
            await self._app(scope, receive, send)
            return
        if (refusal := self._refusal(principal)) is not None:
            await problem_response(refusal, scope)(scope, receive, send)
            return
        with self._counted(principal):
            await self._app(scope, receive, send)

    def _refusal(self, principal: PrincipalId) -> Problem | None:
        if self._open.total() >= self._limits.concurrent:
            return too_many("the server answers as many requests as it can")
        if self._open[principal] >= self._limits.concurrent_per_caller:
            return too_many("too many requests of yours are under way")
        wait_s = self._buckets.take(principal)
        return too_many("too many requests in a short time", wait_s) if wait_s else None

    @contextmanager
    def _counted(self, principal: PrincipalId) -> Iterator[None]:
        self._open[principal] += 1
        try:
            yield
        finally:
            self._open[principal] -= 1
            if not self._open[principal]:
                del self._open[principal]
