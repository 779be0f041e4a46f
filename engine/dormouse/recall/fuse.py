"""Candidates to a ranking: every signal as z-scores over the candidates, one table of weights, no I/O.

Z-scores beat reciprocal ranks (k = 60) by four to six points of R@10 on conversations, because how much
better the best one is carries meaning. Source: retrieval, "Query"; figures in docs/quality.md.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from dormouse.ids import PassageId
from dormouse.model.passage import TOKEN_VECTOR_BYTES, Candidate, PassageKind
from dormouse.ports.embedder import EmbeddedQuery
from dormouse.recall.max_sim import token_maxima
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
    session: float = 0.0  # no gain once windows are scored
    speaker: float = 0.8
    own_words: float = 2.0  # "my", "I": on assistant logs worth more than any model
    user_words: float = 0.0
    date: float = 0.5


DEFAULT = Weights()


@dataclass(frozen=True, slots=True)
class Evidence:
    """What is known of the candidates: `arms` by name ("dense", "terms", "terms_window") and passage, 0 where
    an arm found nothing; `neighbours` are token vectors of passages before them that are no candidates, which
    the dense arm may have scored too."""

    candidates: Sequence[Candidate]
    arms: Mapping[str, Mapping[PassageId, float]]
    neighbours: Mapping[PassageId, bytes]


@dataclass(frozen=True, slots=True)
class Ranked:
    passage: PassageId
    score: float


def fuse(
    understanding: Understanding,
    query: EmbeddedQuery | None,
    evidence: Evidence,
    weights: Weights = DEFAULT,
) -> list[Ranked]:
    """Best first, ties by id. Without an embedded query the terms and priors decide alone."""
    if not evidence.candidates:
        return []
    scores = _signals(query, evidence, weights)
    scores = scores + _spread(scores, evidence.candidates, weights)
    scores = scores + _priors(understanding, evidence.candidates, weights)
    ranked = [
        Ranked(candidate.passage, float(score))
        for candidate, score in zip(evidence.candidates, scores, strict=True)
    ]
    return sorted(ranked, key=lambda each: (-each.score, each.passage))


def is_speech(evidence: Evidence) -> NDArray[np.bool_]:
    """Whether each candidate is a turn as short as speech, in a talk of such turns, and read with its window.

    A message of many chunks is read like a document, and so is a short one that follows an essay: on
    assistant logs windows around essays cost more than six points of R@10.
    """
    sizes = {each.passage: len(each.tokens) for each in evidence.candidates}
    sizes |= {passage: len(tokens) for passage, tokens in evidence.neighbours.items()}
    longest = BRIEF_VECTORS * TOKEN_VECTOR_BYTES
    return np.array(
        [
            each.kind is PassageKind.TURN
            and all(sizes.get(passage, 0) <= longest for passage in (each.passage, *each.previous))
            for each in evidence.candidates
        ]
    )


def without(signal: str, weights: Weights = DEFAULT) -> Weights:
    """The same table with one signal off, for ablation."""
    off = {name: 0.0 for name in Weights.__slots__ if name in (signal, f"{signal}_chunk")}
    return replace(weights, **off)


def _signals(query: EmbeddedQuery | None, evidence: Evidence, weights: Weights) -> Column:
    is_spoken = is_speech(evidence)
    every = np.ones_like(is_spoken)
    total = np.zeros(len(evidence.candidates), dtype=np.float32)
    if query is not None and len(query.tokens):
        own, window = _max_sims(query, evidence)
        total += weights.max_sim * _z(own, every) + weights.max_sim_window * _z(window, is_spoken)
    dense = _column(evidence, "dense")
    total += np.where(is_spoken, weights.dense, weights.dense_chunk).astype(np.float32) * _z(dense, every)
    total += weights.dense_window * _z(_window_means(evidence, dense), is_spoken)
    total += weights.terms * _z(_column(evidence, "terms"), every)
    total += weights.terms_window * _z(_column(evidence, "terms_window"), is_spoken)
    return total


def _column(evidence: Evidence, arm: str) -> Column:
    found = evidence.arms.get(arm, {})
    return np.array([found.get(each.passage, 0.0) for each in evidence.candidates], dtype=np.float32)


def _window_means(evidence: Evidence, own: Column) -> Column:
    """Of the dense scores of each passage and those before it: what the talk is about."""
    found = evidence.arms.get("dense", {})
    windows = [
        [found[passage] for passage in each.previous if passage in found] for each in evidence.candidates
    ]
    means = [(mine + sum(window)) / (1 + len(window)) for mine, window in zip(own, windows, strict=True)]
    return np.array(means, dtype=np.float32)


def _max_sims(query: EmbeddedQuery, evidence: Evidence) -> tuple[Column, Column]:
    """Of each passage alone, and of it with those before it: the best of each query token over all three."""
    blobs = [each.tokens for each in evidence.candidates] + list(evidence.neighbours.values())
    maxima = token_maxima(query, blobs)
    ids = [each.passage for each in evidence.candidates] + list(evidence.neighbours)
    row = {passage: i for i, passage in enumerate(ids)}
    own = maxima[: len(evidence.candidates)]
    window = own.copy()
    for steps in range(max((len(each.previous) for each in evidence.candidates), default=0)):
        here, before = [], []
        for i, each in enumerate(evidence.candidates):
            if len(each.previous) > steps and each.previous[steps] in row:
                here.append(i)
                before.append(row[each.previous[steps]])
        window[here] = np.maximum(window[here], maxima[before])
    return own.sum(axis=1), window.sum(axis=1)


def _spread(scores: Column, candidates: Sequence[Candidate], weights: Weights) -> Column:
    """A share of the direct neighbours' scores, and of the session's best."""
    extra = np.zeros_like(scores)
    if weights.neighbours:
        row = {each.passage: i for i, each in enumerate(candidates)}
        for i, each in enumerate(candidates):
            j = row.get(each.previous[0]) if each.previous else None
            if j is not None:
                extra[i] += weights.neighbours * scores[j]
                extra[j] += weights.neighbours * scores[i]
    if weights.session:
        best: dict[tuple[str, str], float] = {}
        for score, each in zip(scores, candidates, strict=True):
            key = (each.document, each.session)
            best[key] = max(best.get(key, -np.inf), float(score))
        session = np.array([best[each.document, each.session] for each in candidates], dtype=np.float32)
        extra += weights.session * _z(session, np.ones(len(session), dtype=bool))
    return extra


def _priors(understanding: Understanding, candidates: Sequence[Candidate], weights: Weights) -> Column:
    speakers = {each.speaker for each in candidates}
    named = {speaker: bool(names(speaker) & understanding.words) for speaker in speakers}
    prior = np.zeros(len(candidates), dtype=np.float32)
    for i, each in enumerate(candidates):
        if named[each.speaker]:
            prior[i] += weights.speaker
        if each.role == "user":
            prior[i] += weights.own_words if understanding.is_first_person else weights.user_words
        if each.occurred_ms is not None and any(
            span.interval.covers(each.occurred_ms) for span in understanding.dates
        ):
            prior[i] += weights.date
    return prior


def _z(column: Column, among: NDArray[np.bool_]) -> Column:
    """Standard scores over `among`; 0, which is the mean, for the others and where all are equal."""
    scores = np.zeros_like(column)
    if among.any():
        chosen = column[among]
        spread = float(chosen.std())
        if spread > 1e-9:
            scores[among] = (chosen - chosen.mean()) / spread
    return scores
