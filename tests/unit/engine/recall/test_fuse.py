import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dormouse.ids import PassageId
from dormouse.model.passage import Candidate, PassageKind
from dormouse.ports.embedder import EmbeddedQuery
from dormouse.recall.fuse import DEFAULT, Evidence, fuse, is_speech, without
from dormouse.recall.max_sim import token_maxima
from dormouse.recall.understand import understand
from tests.builders import A_DATASET, A_DOCUMENT, NOW_MS

DIMENSION = 384


def direction(seed: int) -> np.ndarray:
    values = np.random.default_rng(seed).standard_normal(DIMENSION).astype(np.float32)
    return values / np.linalg.norm(values)


def signs(*seeds: int) -> bytes:
    return b"".join(np.packbits(direction(seed) > 0).tobytes() for seed in seeds)


def a_query(*seeds: int) -> EmbeddedQuery:
    tokens = np.stack([direction(seed) for seed in seeds])
    return EmbeddedQuery(tokens[0], tokens, np.ones(len(seeds), dtype=np.float32))


def a_candidate(
    name: str,
    tokens: bytes = b"",
    *,
    kind: PassageKind = PassageKind.TURN,
    speaker: str = "",
    role: str = "",
    occurred_ms: int | None = None,
    previous: tuple[str, ...] = (),
) -> Candidate:
    return Candidate(
        passage=PassageId(name),
        dataset=A_DATASET,
        document=A_DOCUMENT,
        kind=kind,
        session="s",
        order=0,
        speaker=speaker,
        role=role,
        occurred_ms=occurred_ms,
        previous=tuple(PassageId(each) for each in previous),
        tokens=tokens,
    )


def order(question: str, evidence: Evidence, query: EmbeddedQuery | None = None) -> list[str]:
    return [each.passage for each in fuse(understand(question, NOW_MS), query, evidence)]


def test_nothing_nominated_gives_nothing() -> None:
    assert order("anything", Evidence((), {}, {})) == []


def test_the_passage_whose_tokens_are_nearest_comes_first() -> None:
    candidates = [a_candidate("far", signs(7, 8)), a_candidate("near", signs(1, 2)), a_candidate("none")]

    assert order("q", Evidence(candidates, {}, {}), a_query(1, 2))[0] == "near"


def test_a_turn_answers_with_what_was_said_before_it() -> None:
    candidates = [
        a_candidate("answer", signs(2), previous=("question",)),
        a_candidate("other", signs(2), previous=("small talk",)),
    ]
    before = {PassageId("question"): signs(1), PassageId("small talk"): signs(9)}

    assert order("q", Evidence(candidates, {}, before), a_query(1, 2)) == ["answer", "other"]


def test_a_long_message_and_what_follows_it_are_read_without_what_came_before() -> None:
    essay = a_candidate("essay", signs(*range(10, 40)), previous=("question",))
    thanks = a_candidate("thanks", signs(5), previous=("essay", "question"))
    later = a_candidate("later", signs(5), previous=("other essay",))
    reply = a_candidate("reply", signs(5), previous=("question",))
    before = {PassageId("question"): signs(6), PassageId("other essay"): signs(*range(10, 40))}

    spoken = is_speech(Evidence([essay, thanks, later, reply], {}, before))

    assert spoken.tolist() == [False, False, False, True]


def test_a_talk_about_the_matter_lifts_its_turns() -> None:
    candidates = [a_candidate("a", previous=("off topic",)), a_candidate("b", previous=("on topic",))]
    dense = {"a": 0.5, "b": 0.5, "off topic": 0.0, "on topic": 0.8}
    arms = {"dense": {PassageId(name): score for name, score in dense.items()}}

    assert order("q", Evidence(candidates, arms, {}), a_query(1)) == ["b", "a"]


def test_who_is_named_in_the_question_is_preferred() -> None:
    candidates = [a_candidate("a", speaker="Melanie"), a_candidate("b", speaker="Caroline")]

    assert order("What did Caroline paint?", Evidence(candidates, {}, {})) == ["b", "a"]


def test_a_question_in_the_first_person_prefers_what_the_user_said() -> None:
    candidates = [a_candidate("a", role="assistant"), a_candidate("b", role="user")]

    assert order("What did I paint?", Evidence(candidates, {}, {})) == ["b", "a"]


def test_a_date_in_the_question_prefers_that_day() -> None:
    day_ms = 24 * 3600 * 1000
    candidates = [a_candidate("a", occurred_ms=NOW_MS), a_candidate("b", occurred_ms=NOW_MS - day_ms)]

    assert order("What happened yesterday?", Evidence(candidates, {}, {})) == ["b", "a"]


def test_ties_break_by_id() -> None:
    candidates = [a_candidate(name) for name in ("c", "a", "b")]

    assert order("q", Evidence(candidates, {}, {})) == ["a", "b", "c"]


def test_without_vectors_the_terms_decide() -> None:
    candidates = [a_candidate(name) for name in ("a", "b", "c")]
    arms = {"terms": {PassageId("b"): 3.0, PassageId("c"): 1.0}}

    assert order("q", Evidence(candidates, arms, {})) == ["b", "c", "a"]


@given(st.lists(st.floats(-1, 1, width=32), min_size=1, max_size=12), st.randoms(use_true_random=False))
def test_the_order_in_which_candidates_come_changes_nothing(found: list[float], random: object) -> None:
    names = [f"p{i:02}" for i in range(len(found))]
    arms = {"dense": dict(zip(map(PassageId, names), found, strict=True))}
    candidates = [a_candidate(name) for name in names]
    shuffled = candidates[::-1]

    assert order("q", Evidence(candidates, arms, {})) == order("q", Evidence(shuffled, arms, {}))


@given(st.lists(st.floats(-1e6, 1e6, width=32), min_size=1, max_size=12))
def test_scores_are_always_finite(found: list[float]) -> None:
    names = [PassageId(f"p{i}") for i in range(len(found))]
    arms = {"dense": dict(zip(names, found, strict=True))}
    evidence = Evidence([a_candidate(name) for name in names], arms, {})

    assert all(np.isfinite(each.score) for each in fuse(understand("q", NOW_MS), a_query(1), evidence))


def test_max_sim_over_signs_is_the_cosine_with_the_signs() -> None:
    query = a_query(1, 2)
    expected = [
        np.max([np.sign(direction(s)) @ token for s in (3, 1)]) / np.sqrt(DIMENSION) for token in query.tokens
    ]

    (row,) = token_maxima(query, [signs(3, 1)])

    assert row == pytest.approx(np.array(expected) / 2, abs=1e-5)


def test_a_passage_without_vectors_scores_nothing() -> None:
    rows = token_maxima(a_query(1), [b"", signs(1), b""])

    assert rows[0] == rows[2] == 0.0
    assert rows[1] > 0.5


def test_an_ablation_turns_off_one_signal_for_turns_and_chunks() -> None:
    table = without("dense")

    assert (table.dense, table.dense_chunk, table.max_sim) == (0.0, 0.0, DEFAULT.max_sim)
