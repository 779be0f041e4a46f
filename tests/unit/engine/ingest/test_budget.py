from hypothesis import given
from hypothesis import strategies as st

from dormouse.ingest.budget import TokenBudget


def test_calls_under_way_count_as_spent() -> None:
    budget = TokenBudget(100, spent=20)

    assert budget.hold(50)
    assert not budget.hold(50)
    assert budget.refused


def test_what_a_call_really_took_replaces_the_guess() -> None:
    budget = TokenBudget(100)
    budget.hold(90)
    budget.settle(90, 10)

    assert budget.hold(90)
    assert not budget.refused


def test_what_costs_nothing_is_always_allowed() -> None:
    assert TokenBudget(100, spent=500).hold(0)


@given(st.lists(st.integers(0, 1_000)))
def test_without_a_limit_nothing_is_refused(estimates: list[int]) -> None:
    budget = TokenBudget(0)

    assert all(budget.hold(each) for each in estimates)


@given(st.integers(1, 1_000), st.lists(st.integers(0, 300)))
def test_honest_guesses_never_overspend(limit: int, estimates: list[int]) -> None:
    budget = TokenBudget(limit)
    for each in estimates:
        if budget.hold(each):
            budget.settle(each, each)

    assert budget.spent <= limit
