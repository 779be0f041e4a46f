"""Candidates to a ranking: every signal as z-scores over the candidates, one table of weights, no I/O.

Z-scores beat reciprocal ranks (k = 60) by four to six points of R@10 on conversations, because how much
better the best one is carries meaning. Source: retrieval, "Query"; figures in docs/quality.md.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from dormouse.ids import PassageId
from dormouse.model.interval import Interval
from dormouse.model.passage import TOKEN_VECTOR_BYTES
from dormouse.ports.vector_store import Nomination
from dormouse.recall.max_sim import AskedTokens, token_maxima
from dormouse.recall.understand import Understanding, names

BRIEF_VECTORS = 28  # a spoken turn has 13 on average, a chunk of 110 words 37

Column = NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Weights:
    """How much each signal counts, in standard deviations of the candidates.

    What each choice rests on, and which sets it was not yet measured on, is told in docs/quality.md.
    """

    max_sim: float = 0.5  # 1.0 costs a point of R@10 on chats: the window holds the passage already
    max_sim_window: float = 1.0  # the strongest single signal on chats; speech only
    dense: float = 0.25
    dense_chunk: float = 0.75  # a chunk's mean says what it is about, a spoken turn's hardly does
    dense_window: float = 0.25  # the mean of the passage's and of those before it
    terms: float = 0.25
    terms_window: float = 0.5
    neighbours: float = 0.1  # one share for the passage before and one for the passage after
    speaker: float = 0.8
    own_words: float = 2.0  # "my", "I": on assistant logs worth more than any model
    user_words: float = 0.0
    date: float = 6.0  # more than words can gain: whoever names a time means it


DEFAULT = Weights()


@dataclass(frozen=True, slots=True, eq=False)
class Evidence:
    """What was nominated; `arms` are the columns of its scores by name: "dense", "terms", "terms_window"."""

    named: Nomination
    arms: Mapping[str, Column] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Ranked:
    """`through` are derived passages by which it was found, best first."""

    passage: PassageId
    score: float
    through: tuple[PassageId, ...] = ()


def fuse(
    understanding: Understanding,
    asked: AskedTokens | None,
    evidence: Evidence,
    weights: Weights = DEFAULT,
) -> list[Ranked]:
    """Best first, ties by id. Without an embedded query (`asked`) the terms and priors decide alone."""
    named = evidence.named
    if not named.candidates:
        return []
    scores = _signals(asked, evidence, weights)
    scores = scores + _spread(scores, named, weights)
    scores = scores + _priors(understanding, named, weights)
    # Candidates come by id, and what is equal keeps its order.
    best_first = np.argsort(-scores, kind="stable").tolist()
    return [Ranked(named.passages[row], float(scores[row])) for row in best_first]


def is_speech(named: Nomination) -> NDArray[np.bool_]:
    """Whether each candidate is a turn as short as speech, in a talk of such turns, and read with its window.

    A message of many chunks is read like a document, and so is a short one that follows an essay: on
    assistant logs windows around essays cost more than six points of R@10.
    """
    is_brief = named.sizes <= BRIEF_VECTORS * TOKEN_VECTOR_BYTES
    is_brief_before = (named.previous < 0) | is_brief[named.previous]
    return np.asarray(named.is_turn & is_brief[: len(named.is_turn)] & is_brief_before.all(axis=1))


def without(signal: str, weights: Weights = DEFAULT) -> Weights:
    """The same table with one signal off, for ablation."""
    off = {name: 0.0 for name in Weights.__slots__ if name in (signal, f"{signal}_chunk")}
    return replace(weights, **off)


def _signals(asked: AskedTokens | None, evidence: Evidence, weights: Weights) -> Column:
    named = evidence.named
    is_spoken = is_speech(named)
    every = np.ones_like(is_spoken)
    total = np.zeros(len(is_spoken), dtype=np.float32)
    if asked is not None and len(asked.weights):
        own, window = _max_sims(asked, named)
        total += weights.max_sim * _z(own, every) + weights.max_sim_window * _z(window, is_spoken)
    dense = _column(evidence, "dense")
    own_dense = dense[: len(total)]
    total += np.where(is_spoken, weights.dense, weights.dense_chunk).astype(np.float32) * _z(own_dense, every)
    total += weights.dense_window * _z(_window_means(dense, named), is_spoken)
    total += weights.terms * _z(_column(evidence, "terms")[: len(total)], every)
    total += weights.terms_window * _z(_column(evidence, "terms_window")[: len(total)], is_spoken)
    return total


def _column(evidence: Evidence, arm: str) -> Column:
    found = evidence.arms.get(arm)
    return np.zeros(len(evidence.named.passages), dtype=np.float32) if found is None else found


def _window_means(dense: Column, named: Nomination) -> Column:
    """Of the dense scores of each passage and those before it: what the talk is about."""
    is_there = named.previous >= 0
    before = np.where(is_there, dense[named.previous], np.float32(0.0))
    sums = dense[: len(is_there)] + before.sum(axis=1)
    return np.asarray(sums / (1 + is_there.sum(axis=1)), dtype=np.float32)


def _max_sims(asked: AskedTokens, named: Nomination) -> tuple[Column, Column]:
    """Of each passage alone, and of it with those before it: the best of each query token over all three."""
    maxima = token_maxima(asked, named.sizes, named.tokens)
    own = maxima[: len(named.candidates)]
    window = own.copy()
    for before in named.previous.T:
        here = np.flatnonzero(before >= 0)
        window[here] = np.maximum(window[here], maxima[before[here]])
    return own.sum(axis=1), window.sum(axis=1)


def _spread(scores: Column, named: Nomination, weights: Weights) -> Column:
    """A share of the direct neighbours' scores, where those are candidates too."""
    extra = np.zeros_like(scores)
    before = named.previous[:, 0]
    here = np.flatnonzero((before >= 0) & (before < len(scores)))
    extra[here] += weights.neighbours * scores[before[here]]
    np.add.at(extra, before[here], weights.neighbours * scores[here])
    return extra


def _priors(understanding: Understanding, named: Nomination, weights: Weights) -> Column:
    is_asked_of = {each: bool(names(each) & understanding.words) for each in set(named.speakers)}
    own_words = weights.own_words if understanding.is_first_person else weights.user_words
    prior = np.zeros(len(named.candidates), dtype=np.float32)
    prior += weights.speaker * np.array([is_asked_of[each] for each in named.speakers])
    prior += own_words * np.array([role == "user" for role in named.roles])
    spans = [span.interval for span in understanding.dates]
    if spans:
        prior += weights.date * np.array([_is_within(each, spans) for each in named.occurred_ms])
    return prior


def _is_within(occurred_ms: int | None, spans: Sequence[Interval]) -> bool:
    return occurred_ms is not None and any(span.covers(occurred_ms) for span in spans)


def _z(column: Column, among: NDArray[np.bool_]) -> Column:
    """Standard scores over `among`; 0, which is the mean, for the others and where all are equal."""
    scores = np.zeros_like(column)
    if among.any():
        chosen = column[among]
        spread = float(chosen.std())
        if spread > 1e-9:
            scores[among] = (chosen - chosen.mean()) / spread
    return scores
