"""The parameters of the graph's Cypher; no I/O."""

import hashlib
from collections.abc import Iterator
from typing import Any

from dormouse.adapters.graph_store import neo4j_cypher as cypher
from dormouse.adapters.graph_store import rows as rows_of
from dormouse.model.change import Erasure
from dormouse.model.memory import MemoryVersion
from dormouse.model.scope import Fence, Scope
from dormouse.ports.graph_store import GraphRows


def upserts(fence: Fence, rows: GraphRows) -> Iterator[tuple[str, list[Any]]]:
    """Every statement of a write with its rows, in the order in which they find what they name."""
    workspace, seq = fence.workspace, fence.seq
    passages = (*rows_of.PASSAGE_COLUMNS, "seq")
    entities = (*rows_of.ENTITY_COLUMNS, "workspace", "seq")
    versions = (*rows_of.VERSION_COLUMNS, "workspace", "seq")
    yield (
        cypher.UPSERT_PASSAGES,
        [dict(zip(passages, rows_of.row_of_passage(one, seq), strict=True)) for one in rows.passages],
    )
    yield (
        cypher.UPSERT_ENTITIES,
        [dict(zip(entities, rows_of.row_of_entity(one, workspace, seq), strict=True)) for one in rows.entities],
    )
    yield (
        cypher.UPSERT_VERSIONS,
        [
            dict(zip(versions, rows_of.row_of_version(one, workspace, seq), strict=True)) | _claim_of(one)
            for one in rows.versions
        ],
    )
    yield cypher.INSERT_MENTIONS, [list(one) for one in rows_of.mentions_of(rows)]
    yield (
        cypher.INSERT_RELATIONS,
        [[one.source, one.name, one.target, one.passage] for one in rows.relations],
    )
    yield cypher.CLOSE_VERSIONS, [[version, at_ms] for version, at_ms in rows.closed.items()]


def claim_key(subject: str, predicate: str) -> str:
    """Of one length: an index refuses a text of eight thousand bytes, and with it the whole change."""
    return hashlib.sha256(f"{subject}\0{predicate}".encode()).hexdigest()


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
    return {"workspace": scope.workspace, "readable": list(scope.readable)}


def _claim_of(version: MemoryVersion) -> dict[str, str]:
    claim = version.claim
    return {"claim": claim_key(claim.subject, claim.predicate)} if claim else {}
