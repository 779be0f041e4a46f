"""What the graph's SQL asks for, as conditions and parameters; no I/O."""

import json
from collections.abc import Collection
from typing import Any

from dormouse.model.change import Erasure
from dormouse.model.scope import Scope


def condition_of(what: Erasure) -> str:
    """The passages an erasure means, over the parameters of `parameters_of`."""
    if what.document is None:
        return "dataset = :dataset AND dataset_generation < :below_generation"
    one = "dataset = :dataset AND document = :document"
    if what.last_revision_below is not None:
        return f"{one} AND last_revision < :last_revision_below"
    if what.first_revision is not None:
        # A repeated erasure must spare what a retry of the failed job wrote under the same revision.
        return f"{one} AND first_revision = :first_revision AND (:seq IS NULL OR seq <= :seq)"
    return one


def wide_condition_of(what: Erasure) -> str:
    """The versions an erasure means whether or not their passage is there; none if it goes by revisions."""
    by_revision = what.last_revision_below is not None or what.first_revision is not None
    return "0" if by_revision else condition_of(what)


def parameters_of(what: Erasure, seq: int | None = None) -> dict[str, Any]:
    return {
        "seq": seq,
        "dataset": what.dataset,
        "document": what.document,
        "below_generation": what.below_generation,
        "last_revision_below": what.last_revision_below,
        "first_revision": what.first_revision,
    }


def seen_by(scope: Scope) -> dict[str, Any]:
    """The parameters that every read has."""
    return {"workspace": scope.workspace, "readable": array(scope.readable)}


def pairs(of: Collection[tuple[str, str]]) -> str:
    return json.dumps(sorted(of))


def array(ids: Collection[str]) -> str:
    return json.dumps(list(ids))
