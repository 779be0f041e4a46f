"""Between points and what the shard takes and gives; no I/O.

Passages are named by UUIDs, or the shard cannot hold them. Filters on UUIDs are the fast ones, so a dataset
or document with any other id is stored under a UUID made from it, with the original beside it. Payloads hold
ids, names and numbers; never text of a passage.

A hidden point lies under another dataset, made from its own: the filter that keeps unreadable datasets out of
every arm keeps it out too, at no cost and with no second rule to forget.
"""

import base64
from collections.abc import Mapping, Sequence
from typing import Any
from uuid import UUID, uuid5

import numpy as np
from numpy.typing import NDArray

from dormouse.adapters.vector_store.rows import (
    BEFORE,
    DENSE,
    DERIVED,
    TERMS,
    TURN,
    WINDOW,
    Arm,
    Condition,
    Named,
    Row,
)
from dormouse.errors import InvalidInputError, MisconfiguredError
from dormouse.ids import NAMESPACE, DatasetId, DocumentId, PassageId, TermId
from dormouse.model.change import Erasure
from dormouse.model.passage import PassageKind, PassageVectors, Point
from dormouse.model.scope import Scope
from dormouse.ports.vector_store import DenseArm, Nomination, PointFilter, TermArm
from dormouse.ports.vector_upkeep import PointMark

_KINDS = tuple(PassageKind)  # stored by position
_MAX_TERM = 2**32 - 1


def key_of(id_: str) -> str:
    """The id itself if it is a UUID as we write them, else one made from it."""
    return id_ if is_key(id_) else str(uuid5(NAMESPACE, f"key\0{id_}"))


def hidden_key_of(dataset: DatasetId) -> str:
    """Where the dataset's hidden points lie."""
    return str(uuid5(NAMESPACE, f"hidden\0{dataset}"))


def is_key(id_: str) -> bool:
    try:
        return str(UUID(id_)) == id_
    except ValueError:
        return False


def row_of(point: Point, seq: int, dimension: int) -> Row:
    """Raises `InvalidInputError` for a number that is not finite: a NaN would rank first in every query."""
    if not all(map(is_key, (point.passage, *point.previous))):
        raise InvalidInputError("a passage's id must be a UUID, in lower case with hyphens")
    dense = np.ascontiguousarray(point.vectors.dense, dtype=np.float32)
    _check_dense(dense, dimension)
    payload = {
        "dataset": hidden_key_of(point.dataset) if point.is_hidden else key_of(point.dataset),
        "document": key_of(point.document),
        "generation": point.dataset_generation,
        "first": point.first_revision,
        "last": point.last_revision,
        "kind": _KINDS.index(point.kind),
        "session": point.session,
        "order": point.order,
        "speaker": point.speaker,
        "role": point.role,
        "language": point.language,
        "previous": list(point.previous),
        "tokens": base64.b64encode(point.vectors.tokens).decode("ascii"),
        "seq": seq,
    }
    if point.occurred_ms is not None:
        payload["occurred"] = point.occurred_ms
    ids = {"dataset": point.dataset, "document": point.document}
    payload |= {f"{name}_id": id_ for name, id_ in ids.items() if key_of(id_) != id_}
    terms, window = _sparse(point.vectors.terms), _sparse(point.vectors.window_terms)
    return Row(point.passage, payload, dense.tobytes(), terms, window)


def nomination_of(named: Named) -> Nomination:
    kinds = np.frombuffer(named.kinds, dtype=np.uint8)
    is_derived = kinds == DERIVED
    voices = zip(named.speakers, named.roles, strict=True)
    is_said = np.array([bool(speaker or role) for speaker, role in voices], dtype=bool)
    return Nomination(
        passages=[PassageId(id_) for id_ in named.ids],
        scores=[np.frombuffer(column, dtype=np.float32) for column in named.scores],
        sizes=np.frombuffer(named.sizes, dtype=np.int32),
        tokens=named.tokens,
        is_turn=(kinds == TURN) | (is_derived & is_said),  # what was derived is read like what it is from
        is_derived=is_derived,
        previous=np.frombuffer(named.previous, dtype=np.int32).reshape(-1, BEFORE),
        speakers=named.speakers,
        roles=named.roles,
        occurred_ms=named.occurred,
    )


def arm_of(arm: DenseArm | TermArm, dimension: int) -> Arm:
    if isinstance(arm, DenseArm):
        vector = np.ascontiguousarray(arm.vector, dtype=np.float32)
        _check_dense(vector, dimension)
        return Arm(DENSE, vector.tobytes(), arm.limit)
    return Arm(WINDOW if arm.of_window else TERMS, _sparse(arm.weights), arm.limit)


def readable_by(scope: Scope) -> list[str]:
    return sorted(key_of(dataset) for dataset in scope.readable)


def where_readable(scope: Scope, where: PointFilter | None = None) -> list[Condition]:
    conditions: list[Condition] = [("any", "dataset", readable_by(scope))]
    if where is not None and where.occurred is not None:
        conditions.append(("range", "occurred", where.occurred))
    if where is not None and where.sessions:
        conditions.append(("any", "session", sorted(where.sessions)))
    return conditions


def where_said(scope: Scope) -> list[Condition]:
    """What is readable, and in somebody's own words."""
    own = [number for number, kind in enumerate(_KINDS) if kind is not PassageKind.DERIVED]
    return [*where_readable(scope), ("any", "kind", own)]


def where_kept(scope: Scope, document: DocumentId | None = None) -> list[Condition]:
    """What is readable, hidden or not."""
    kept: list[Condition] = [("any", "dataset", sorted(datasets_by_key(scope)))]
    return kept if document is None else [*kept, ("equals", "document", key_of(document))]


def where_erased(what: Erasure, seq: int | None = None) -> list[Condition]:
    """Hidden or not: what is suppressed can be forgotten."""
    keys = [key_of(what.dataset), hidden_key_of(what.dataset)]
    return [("any", "dataset", keys), *_where_in_dataset(what, seq)]


def where_to_hide(what: Erasure, *, is_hidden: bool) -> tuple[list[Condition], str]:
    """The points that are not as wanted yet, and the dataset to lay them under."""
    visible, hidden = key_of(what.dataset), hidden_key_of(what.dataset)
    now, then = (visible, hidden) if is_hidden else (hidden, visible)
    return [("equals", "dataset", now), *_where_in_dataset(what, None)], then


def _where_in_dataset(what: Erasure, seq: int | None) -> list[Condition]:
    conditions: list[Condition] = []
    if what.document is None:
        if what.below_generation is None:
            raise InvalidInputError("an erasure names a document or a generation")
        return [*conditions, ("range", "generation", (None, what.below_generation))]
    conditions.append(("equals", "document", key_of(what.document)))
    if what.last_revision_below is not None:
        conditions.append(("range", "last", (None, what.last_revision_below)))
    elif what.first_revision is not None:
        conditions.append(("equals", "first", what.first_revision))
        if seq is not None:
            # A repeated erasure must spare what a retry of the failed job wrote under the same revision.
            conditions.append(("range", "seq", (None, seq + 1)))
    return conditions


def point_of(row: Row, datasets: Mapping[str, DatasetId]) -> Point:
    """Whole, as the shard holds it."""
    payload, mark = row.payload, mark_of(row.id, row.payload, datasets)
    return Point(
        passage=mark.passage,
        dataset=mark.dataset,
        document=mark.document,
        dataset_generation=mark.dataset_generation,
        first_revision=mark.first_revision,
        last_revision=mark.last_revision,
        kind=_KINDS[payload["kind"]],
        session=payload["session"],
        order=payload["order"],
        speaker=payload["speaker"],
        role=payload["role"],
        language=payload["language"],
        occurred_ms=payload.get("occurred"),
        previous=tuple(map(PassageId, payload["previous"])),
        vectors=PassageVectors(
            terms=_weights(row.terms),
            window_terms=_weights(row.window),
            dense=np.frombuffer(row.dense, dtype=np.float32).astype(np.float16),
            tokens=base64.b64decode(payload["tokens"]),
        ),
        is_hidden=mark.is_hidden,
    )


def mark_of(id_: str, payload: Mapping[str, Any], datasets: Mapping[str, DatasetId]) -> PointMark:
    """`datasets` by what their points lie under, as `datasets_by_key` has them."""
    dataset = datasets[payload["dataset"]]
    return PointMark(
        passage=PassageId(id_),
        dataset=dataset,
        document=DocumentId(payload.get("document_id", payload["document"])),
        dataset_generation=payload["generation"],
        first_revision=payload["first"],
        last_revision=payload["last"],
        is_hidden=payload["dataset"] != key_of(dataset),
    )


def datasets_by_key(scope: Scope) -> dict[str, DatasetId]:
    visible = {key_of(each): each for each in scope.readable}
    return visible | {hidden_key_of(each): each for each in scope.readable}


def _weights(sparse: tuple[Sequence[int], Sequence[float]]) -> dict[TermId, float]:
    return {TermId(index): value for index, value in zip(*sparse, strict=True)}


def _check_dense(vector: NDArray[np.float32], dimension: int) -> None:
    if vector.shape != (dimension,):
        raise MisconfiguredError(
            "the embedder gives vectors of another dimension than this collection was made for: "
            "choose the former model again, or embed into a new collection",
            setting="EMBEDDING__MODEL",
        )
    _check_finite(vector, np.float16)


def _sparse(weights: Mapping[TermId, float]) -> tuple[list[int], list[float]]:
    indices = sorted(weights)
    if indices and not 0 <= indices[0] <= indices[-1] <= _MAX_TERM:
        raise InvalidInputError("a term's id must fit in 32 bits")
    values = [float(weights[index]) for index in indices]
    _check_finite(np.asarray(values), np.float32)
    return list(map(int, indices)), values


def _check_finite(vector: NDArray[np.floating[Any]], stored_as: type[np.floating[Any]]) -> None:
    """Also after rounding to what the shard keeps, where a large number becomes infinite."""
    with np.errstate(over="ignore"):
        stored = vector.astype(stored_as)
    if not np.isfinite(stored).all():
        raise InvalidInputError("a vector holds a number that is not finite")
