"""How long to wait before a call is made again. Pure."""

ATTEMPTS = 4
FIRST_PAUSE_S = 1.0
LONGEST_PAUSE_S = 30.0


def pause_s(attempt: int, retry_after_s: float | None, jitter: float) -> float | None:
    """After the failed `attempt` (from 1); None when it was the last, or the endpoint wants more patience than
    a call has. `jitter` from 0 to 1 spreads callers that failed together."""
    if attempt >= ATTEMPTS:
        return None
    own_s = min(FIRST_PAUSE_S * 2 ** (attempt - 1), LONGEST_PAUSE_S)
    wanted_s = max(own_s, retry_after_s or 0.0)
    return None if wanted_s > LONGEST_PAUSE_S else wanted_s * (1 + 0.25 * jitter)
