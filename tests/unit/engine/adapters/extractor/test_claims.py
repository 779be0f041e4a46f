import pytest

from dormouse.adapters.extractor.claims import Claim, claim_of, is_code


@pytest.mark.parametrize(
    "sentence",
    [
        "Do you know the opening hours?",
        "Maybe we will go to the museum.",
        "Thanks, that is very kind of you!",
        "Wow, great!",
        "Please send me the slides.",
        "Your backing means a lot to me.",
        "| --- | --- | --- | --- |",
        "ok then",
    ],
)
def test_questions_guesses_and_courtesies_claim_nothing(sentence: str) -> None:
    assert claim_of(sentence, has_past_date=False, has_future_date=False) is Claim.NOTHING


@pytest.mark.parametrize(
    "sentence",
    ["I'm planning to visit her with Bob.", "We have a flight to Lyon booked and I'm going to pack.",
     "The deadline is on the fifth of January.", "我计划下周去北京出差。", "We'll migrate the database next."],
)  # fmt: skip
def test_stated_intent_is_a_plan(sentence: str) -> None:
    assert claim_of(sentence, has_past_date=False, has_future_date=False) is Claim.PLAN


def test_a_wish_becomes_a_plan_by_its_date() -> None:
    wish = "Priya wants to run the marathon tomorrow."

    assert claim_of(wish, has_past_date=False, has_future_date=True) is Claim.PLAN
    assert claim_of(wish, has_past_date=False, has_future_date=False) is Claim.FACT


def test_what_is_not_going_to_be_is_no_plan() -> None:
    assert (
        claim_of("We are not going to use Jenkins.", has_past_date=False, has_future_date=False) is Claim.FACT
    )


def test_a_dated_deed_happened_and_a_dated_state_is_a_fact() -> None:
    assert claim_of("We migrated the database.", has_past_date=True, has_future_date=False) is Claim.HAPPENED
    assert claim_of("The company was founded then.", has_past_date=True, has_future_date=False) is Claim.FACT


def test_code_is_told_from_prose() -> None:
    assert is_code("db = Database(app)\n\nclass User(db.Model):\n    id = db.Column(db.Integer)\n")
    assert not is_code("# Notes\n\nAda (36) lives in London. She writes a=b on paper.\n- one\n- two")
