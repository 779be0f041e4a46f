from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from dormouse.ids import PassageId
from dormouse.ingest.windows import MAX_CHARACTERS, MAX_PASSAGES, digest_of, windows_of
from dormouse.model.passage import Passage
from tests.builders import a_passage


def passages(lengths: list[int], sessions: str = "") -> list[Passage]:
    return [
        replace(a_passage(f"{at} ".ljust(length, "x"), order=at), session=sessions[at : at + 1] or "s")
        for at, length in enumerate(lengths)
    ]


@given(st.lists(st.integers(5, 9_000), max_size=60), st.text("ab", max_size=60))
def test_every_passage_is_in_one_window_and_windows_are_bounded(lengths: list[int], sessions: str) -> None:
    given_ = passages(lengths, sessions)

    windows = windows_of(given_, "UTC", "")

    assert [each for window in windows for each in window.passages] == given_
    for window in windows:
        assert len({each.session for each in window.passages}) == 1
        assert len(window.passages) <= MAX_PASSAGES
        assert len(window.passages) == 1 or sum(len(each.text) for each in window.passages) <= MAX_CHARACTERS


def test_the_passages_before_come_along_within_their_session() -> None:
    given_ = passages([4_000] * 4, "aaab")

    windows = windows_of(given_, "UTC", "")

    assert [len(window.passages) for window in windows] == [1, 1, 1, 1]
    assert [len(window.before) for window in windows] == [0, 1, 2, 0]


def test_a_new_paragraph_moves_only_the_windows_beside_it() -> None:
    given_ = passages([700 + at for at in range(60)])
    before = {digest_of(window, "m/1") for window in windows_of(given_, "UTC", "")}

    inserted = [*given_[:3], a_passage("A new paragraph.", order=99, session="s"), *given_[3:]]
    after = {digest_of(window, "m/1") for window in windows_of(inserted, "UTC", "")}

    assert len(after - before) <= 4 < len(before & after)


def test_whatever_the_model_is_given_is_in_the_digest() -> None:
    one = a_passage("Ada lives in London.", occurred_ms=5)
    (window,) = windows_of([one], "UTC", "")
    others = [
        windows_of([one], "Europe/Berlin", "")[0],
        windows_of([one], "UTC", "only prices")[0],
        replace(window, before=(one,)),
        replace(window, passages=(replace(one, occurred_ms=6),)),
        replace(window, passages=(replace(one, speaker="Grace"),)),
        replace(window, passages=(replace(one, id=PassageId("another")),)),
    ]

    digests = {digest_of(window, "m/1"), digest_of(window, "m/2"), *(digest_of(each, "m/1") for each in others)}

    assert len(digests) == len(others) + 2
