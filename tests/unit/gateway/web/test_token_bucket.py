from hypothesis import given
from hypothesis import strategies as st

from dormouse_gateway.web.token_bucket import Rate, TokenBuckets


class _HandClock:
    """Seconds, moved by hand."""

    def __init__(self) -> None:
        self.now_s = 0.0

    def __call__(self) -> float:
        return self.now_s


def test_a_burst_is_served_and_then_the_wait_is_told() -> None:
    buckets = TokenBuckets(Rate(per_s=2, burst=3), _HandClock(), most=10)

    assert [buckets.take("ada") for _ in range(4)] == [0, 0, 0, 0.5]


def test_after_the_wait_that_was_told_there_is_one_again() -> None:
    clock = _HandClock()
    buckets = TokenBuckets(Rate(per_s=2, burst=1), clock, most=10)
    buckets.take("ada")
    clock.now_s += buckets.take("ada")

    assert buckets.take("ada") == 0
    assert buckets.take("ada") > 0


def test_one_caller_takes_nothing_from_another() -> None:
    buckets = TokenBuckets(Rate(per_s=1, burst=1), _HandClock(), most=10)
    buckets.take("ada")

    assert buckets.take("bob") == 0


def test_a_pause_never_saves_more_than_the_burst() -> None:
    clock = _HandClock()
    buckets = TokenBuckets(Rate(per_s=1, burst=2), clock, most=10)
    buckets.take("ada")
    clock.now_s += 1_000_000

    assert [buckets.take("ada") == 0 for _ in range(3)] == [True, True, False]


def test_of_too_many_keys_the_quietest_is_forgotten() -> None:
    buckets = TokenBuckets(Rate(per_s=1, burst=1), _HandClock(), most=2)
    for key in ("ada", "bob", "ada", "eve"):
        buckets.take(key)

    assert len(buckets) == 2
    assert buckets.take("ada") > 0


@given(st.lists(st.floats(min_value=0, max_value=3), max_size=50))
def test_never_more_than_burst_and_rate_allow(pauses: list[float]) -> None:
    clock = _HandClock()
    buckets = TokenBuckets(Rate(per_s=1, burst=5), clock, most=10)
    served = 0
    for pause in pauses:
        clock.now_s += pause
        served += buckets.take("ada") == 0

    assert served <= 5 + clock.now_s + 1e-6
