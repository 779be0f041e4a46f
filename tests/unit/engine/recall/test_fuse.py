from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dormouse.ids import PassageId
from dormouse.model.passage import PassageKind
from dormouse.ports.embedder import EmbeddedQuery
from dormouse.ports.vector_store import Nomination
from dormouse.recall.fuse import DEFAULT, Evidence, fuse, is_speech, without
from dormouse.recall.max_sim import asked_tokens, token_maxima
from dormouse.recall.understand import understand
from tests.builders import NOW_MS

DIMENSION = 384


def direction(seed: int) -> np.ndarray:
    values = np.random.default_rng(seed).standard_normal(DIMENSION).astype(np.float32)
    return values / np.linalg.norm(values)


def signs(*seeds: int) -> bytes:
    return b"".join(np.packbits(direction(seed) > 0).tobytes() for seed in seeds)


def a_query(*seeds: int) -> EmbeddedQuery:
    tokens = np.stack([direction(seed) for seed in seeds])
    return EmbeddedQuery(tokens[0], tokens, np.ones(len(seeds), dtype=np.float32))


@dataclass(frozen=True, slots=True)
class Candidate:
    name: str
    tokens: bytes = b""
    kind: PassageKind = PassageKind.TURN
    speaker: str = ""
    role: str = ""
    occurred_ms: int | None = None
    previous: tuple[str, ...] = ()


def evidence(
    candidates: Sequence[Candidate],
    arms: Mapping[str, Mapping[str, float]] | None = None,
    before: Mapping[str, bytes] | None = None,
) -> Evidence:
    """In the columns in which a store nominates: candidates by id, then those before them."""
    chosen = sorted(candidates, key=lambda each: each.name)
    tokens = {each.name: each.tokens for each in chosen} | dict(before or {})
    row = {name: place for place, name in enumerate(tokens)}
    previous = [[row.get(name, -1) for name in (*each.previous, "", "")[:2]] for each in chosen]
    columns = {
        arm: np.array([found.get(name, 0.0) for name in row], dtype=np.float32)
        for arm, found in (arms or {}).items()
    }
    named = Nomination(
        passages=list(map(PassageId, row)),
        scores=list(columns.values()),
        sizes=np.array(list(map(len, tokens.values())), dtype=np.int32),
        tokens=b"".join(tokens.values()),
        is_turn=np.array([each.kind is PassageKind.TURN for each in chosen]),
        previous=np.array(previous, dtype=np.int32).reshape(-1, 2),
        speakers=[each.speaker for each in chosen],
        roles=[each.role for each in chosen],
        occurred_ms=[each.occurred_ms for each in chosen],
        is_derived=np.array([each.kind is PassageKind.DERIVED for each in chosen], dtype=bool),
    )
    return Evidence(named, columns)


def maxima(query: EmbeddedQuery, *tokens: bytes) -> np.ndarray:
    return token_maxima(asked_tokens(query), np.array(list(map(len, tokens)), dtype=np.int32), b"".join(tokens))


def order(question: str, found: Evidence, query: EmbeddedQuery | None = None) -> list[str]:
    asked = None if query is None else asked_tokens(query)
    return [each.passage for each in fuse(understand(question, NOW_MS), asked, found)]


def test_nothing_nominated_gives_nothing() -> None:
    assert order("anything", Evidence(Nomination.nothing())) == []


def test_the_passage_whose_tokens_are_nearest_comes_first() -> None:
    candidates = [Candidate("far", signs(7, 8)), Candidate("near", signs(1, 2)), Candidate("none")]

    assert order("q", evidence(candidates), a_query(1, 2))[0] == "near"


def test_a_turn_answers_with_what_was_said_before_it() -> None:
    candidates = [
        Candidate("answer", signs(2), previous=("question",)),
        Candidate("other", signs(2), previous=("small talk",)),
    ]
    before = {"question": signs(1), "small talk": signs(9)}

    assert order("q", evidence(candidates, before=before), a_query(1, 2)) == ["answer", "other"]


def test_a_long_message_and_what_follows_it_are_read_without_what_came_before() -> None:
    essay = Candidate("essay", signs(*range(10, 40)), previous=("question",))
    thanks = Candidate("thanks", signs(5), previous=("essay", "question"))
    later = Candidate("later", signs(5), previous=("other essay",))
    reply = Candidate("reply", signs(5), previous=("question",))
    before = {"question": signs(6), "other essay": signs(*range(10, 40))}

    spoken = is_speech(evidence([essay, later, reply, thanks], before=before).named)

    assert spoken.tolist() == [False, False, True, False]


def test_a_talk_about_the_matter_lifts_its_turns() -> None:
    candidates = [Candidate("a", previous=("off topic",)), Candidate("b", previous=("on topic",))]
    dense = {"a": 0.5, "b": 0.5, "off topic": 0.0, "on topic": 0.8}
    before = {"off topic": b"", "on topic": b""}

    assert order("q", evidence(candidates, {"dense": dense}, before), a_query(1)) == ["b", "a"]


def test_neighbours_that_are_both_nominated_lift_each_other() -> None:
    candidates = [Candidate("alone"), Candidate("x", previous=("y",)), Candidate("y"), Candidate("z")]
    arms = {"terms": {"alone": 2.0, "x": 2.0, "y": 2.0}}

    assert order("q", evidence(candidates, arms)) == ["x", "y", "alone", "z"]


def test_who_is_named_in_the_question_is_preferred() -> None:
    candidates = [Candidate("a", speaker="Melanie"), Candidate("b", speaker="Caroline")]

    assert order("What did Caroline paint?", evidence(candidates)) == ["b", "a"]


def test_a_question_in_the_first_person_prefers_what_the_user_said() -> None:
    candidates = [Candidate("a", role="assistant"), Candidate("b", role="user")]

    assert order("What did I paint?", evidence(candidates)) == ["b", "a"]


def test_a_date_in_the_question_prefers_that_day() -> None:
    day_ms = 24 * 3600 * 1000
    candidates = [Candidate("a", occurred_ms=NOW_MS), Candidate("b", occurred_ms=NOW_MS - day_ms)]

    assert order("What happened yesterday?", evidence(candidates)) == ["b", "a"]


def test_ties_break_by_id() -> None:
    candidates = [Candidate(name) for name in ("c", "a", "b")]

    assert order("q", evidence(candidates)) == ["a", "b", "c"]


def test_without_vectors_the_terms_decide() -> None:
    candidates = [Candidate(name) for name in ("a", "b", "c")]
    arms = {"terms": {"b": 3.0, "c": 1.0}}

    assert order("q", evidence(candidates, arms)) == ["b", "c", "a"]


@given(st.lists(st.floats(-1, 1, width=32), min_size=1, max_size=12), st.randoms(use_true_random=False))
def test_the_order_in_which_candidates_come_changes_nothing(found: list[float], random: object) -> None:
    names = [f"p{i:02}" for i in range(len(found))]
    arms = {"dense": dict(zip(names, found, strict=True))}
    candidates = [Candidate(name) for name in names]
    shuffled = candidates[::-1]

    assert order("q", evidence(candidates, arms)) == order("q", evidence(shuffled, arms))


@given(st.lists(st.floats(-1e6, 1e6, width=32), min_size=1, max_size=12))
def test_scores_are_always_finite(found: list[float]) -> None:
    names = [f"p{i}" for i in range(len(found))]
    arms = {"dense": dict(zip(names, found, strict=True))}
    candidates = [Candidate(name) for name in names]

    ranked = fuse(understand("q", NOW_MS), asked_tokens(a_query(1)), evidence(candidates, arms))

    assert all(np.isfinite(each.score) for each in ranked)


def test_max_sim_over_signs_is_the_cosine_with_the_signs() -> None:
    query = a_query(1, 2)
    expected = [
        np.max([np.sign(direction(s)) @ token for s in (3, 1)]) / np.sqrt(DIMENSION) for token in query.tokens
    ]

    (row,) = maxima(query, signs(3, 1))

    assert row == pytest.approx(np.array(expected) / 2, abs=5e-4)  # in parts of 32,000, a byte at a time


def test_a_passage_without_vectors_scores_nothing() -> None:
    rows = maxima(a_query(1), b"", signs(1), b"")

    assert rows[0] == rows[2] == 0.0
    assert rows[1] > 0.5


def test_an_ablation_turns_off_one_signal_for_turns_and_chunks() -> None:
    table = without("dense")

    assert (table.dense, table.dense_chunk, table.max_sim) == (0.0, 0.0, DEFAULT.max_sim)
