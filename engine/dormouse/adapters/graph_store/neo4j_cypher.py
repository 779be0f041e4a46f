"""The graph's Cypher; every value is a parameter, and what is put together here are names of our own.

Nodes of every workspace may lie in one database, so each key begins with the workspace. `seq` is the change
that wrote a node: a write of a lower one passes it by. Of passages and entities that something names before
they are written, or after they are lost, there is a node with its key alone: without a dataset, no read finds
it.

    (Version)-[:SAID_IN]->(Passage)-[:MENTIONS]->(Entity)-[:RELATED {name, passage}]->(Entity)
    (Workspace {id, epoch, reached})    whose lease counts, and the last change that is in here
    (Graph {id, schema, is_partial})    one: the migrations that were run, and whether it is being made anew
"""

from dataclasses import dataclass

from dormouse.adapters.graph_store.rows import ENTITY_COLUMNS, PASSAGE_COLUMNS, VERSION_COLUMNS
from dormouse.model.change import Erasure

_GRAPH = "Graph {id: 'graph'}"


def _list(node: str, columns: tuple[str, ...]) -> str:
    return "[" + ", ".join(f"{node}.{name}" for name in columns) + "]"


def _answer(body: str) -> str:
    """One record: the rows, and whether the graph was being made anew before or after they were read."""
    return f"""OPTIONAL MATCH (before:{_GRAPH})
WITH coalesce(before.is_partial, false) AS was_partial
CALL () {{ {body} }}
OPTIONAL MATCH (after:{_GRAPH})
RETURN was_partial OR coalesce(after.is_partial, false) AS is_partial, rows"""


_PASSAGE, _ENTITY, _VERSION = (
    _list("p", PASSAGE_COLUMNS),
    _list("e", ENTITY_COLUMNS),
    _list("v", VERSION_COLUMNS),
)

# The schema, and what stands in it about itself.
MIGRATIONS: tuple[tuple[str, ...], ...] = (
    (
        "CREATE CONSTRAINT passage_key IF NOT EXISTS FOR (p:Passage) REQUIRE (p.workspace, p.id) IS UNIQUE",
        "CREATE CONSTRAINT entity_key IF NOT EXISTS FOR (e:Entity) REQUIRE (e.workspace, e.id) IS UNIQUE",
        "CREATE CONSTRAINT version_key IF NOT EXISTS FOR (v:Version) REQUIRE (v.workspace, v.id) IS UNIQUE",
        "CREATE CONSTRAINT workspace_key IF NOT EXISTS FOR (w:Workspace) REQUIRE w.id IS UNIQUE",
        """CREATE INDEX passages_of_document IF NOT EXISTS
           FOR (p:Passage) ON (p.workspace, p.document, p.position)""",
        "CREATE INDEX passages_of_dataset IF NOT EXISTS FOR (p:Passage) ON (p.workspace, p.dataset)",
        "CREATE INDEX entities_of_dataset IF NOT EXISTS FOR (e:Entity) ON (e.workspace, e.dataset)",
        "CREATE INDEX versions_of_document IF NOT EXISTS FOR (v:Version) ON (v.workspace, v.document)",
        "CREATE INDEX versions_of_dataset IF NOT EXISTS FOR (v:Version) ON (v.workspace, v.dataset)",
        "CREATE INDEX versions_of_claim IF NOT EXISTS FOR (v:Version) ON (v.workspace, v.claim)",
        "CREATE INDEX relations_of_passage IF NOT EXISTS FOR ()-[r:RELATED]-() ON (r.workspace, r.passage)",
    ),
)
GRAPH_KEY = "CREATE CONSTRAINT graph_key IF NOT EXISTS FOR (g:Graph) REQUIRE g.id IS UNIQUE"
AWAIT_INDEXES = "CALL db.awaitIndexes(60)"
FIND_GRAPH = f"OPTIONAL MATCH (g:{_GRAPH}) RETURN g.schema"
NOTE_SCHEMA = f"MERGE (g:{_GRAPH}) SET g.schema = $schema"

MARK_PARTIAL = f"MERGE (g:{_GRAPH}) SET g.is_partial = true"
MARK_WHOLE = f"MERGE (g:{_GRAPH}) SET g.is_partial = false"
FORGET_REACHED = "MATCH (w:Workspace) SET w.reached = 0"
# The epochs stay: whoever lost a lease before must not write afterwards.
EMPTY = tuple(
    f"MATCH (n:{label}) WITH n LIMIT $batch DETACH DELETE n RETURN count(*)"
    for label in ("Version", "Passage", "Entity")
)

# Setting anything takes the lock that makes writers of a workspace come after each other; only then is the
# epoch read. It is answered instead of tested, so that the caller can tell a lost lease.
FENCE = """MERGE (w:Workspace {id: $workspace})
SET w.asked_by = $epoch
WITH w, coalesce(w.epoch, $epoch) AS epoch
SET w.reached = CASE WHEN $seq IS NULL OR w.reached >= $seq THEN w.reached ELSE $seq END
RETURN epoch"""
STORE_EPOCH = "MATCH (w:Workspace {id: $workspace}) SET w.epoch = $epoch"
LAST_APPLIED = _answer("OPTIONAL MATCH (w:Workspace {id: $workspace}) RETURN [w.reached] AS rows")

UPSERT_PASSAGES = """UNWIND $rows AS row
MERGE (p:Passage {workspace: $workspace, id: row.id})
WITH p, row WHERE coalesce(p.seq, $seq) <= $seq
SET p = row"""
UPSERT_ENTITIES = """UNWIND $rows AS row
MERGE (e:Entity {workspace: $workspace, id: row.id})
WITH e, row WHERE coalesce(e.seq, $seq) <= $seq
SET e = row"""
UPSERT_VERSIONS = """UNWIND $rows AS row
MERGE (v:Version {workspace: $workspace, id: row.id})
WITH v, row WHERE coalesce(v.seq, $seq) <= $seq
SET v = row
MERGE (p:Passage {workspace: $workspace, id: row.passage})
MERGE (v)-[:SAID_IN]->(p)"""
INSERT_MENTIONS = """UNWIND $rows AS row
MERGE (e:Entity {workspace: $workspace, id: row[0]})
MERGE (p:Passage {workspace: $workspace, id: row[1]})
MERGE (p)-[:MENTIONS]->(e)"""
# After the mentions, which every relation brings for both of its ends.
INSERT_RELATIONS = """UNWIND $rows AS row
MATCH (source:Entity {workspace: $workspace, id: row[0]})
MATCH (target:Entity {workspace: $workspace, id: row[2]})
MERGE (source)-[:RELATED {workspace: $workspace, name: row[1], passage: row[3]}]->(target)"""
# An interval is never empty, also when it is closed in the millisecond that opened it.
CLOSE_VERSIONS = """UNWIND $rows AS row
MATCH (v:Version {workspace: $workspace, id: row[0]})
WHERE v.seq <= $seq
SET v.seq = $seq, v.transaction_end_ms =
    CASE WHEN row[1] > v.transaction_start_ms THEN row[1] ELSE v.transaction_start_ms + 1 END"""

PASSAGES_BY_ID = _answer(
    f"""MATCH (p:Passage) WHERE p.workspace = $workspace AND p.id IN $ids AND p.dataset IN $readable
    RETURN collect({_PASSAGE}) AS rows"""
)
PASSAGES_OF_DOCUMENT = _answer(
    f"""MATCH (p:Passage)
    WHERE p.workspace = $workspace AND p.document = $document AND p.position > $after
    AND p.dataset IN $readable AND p.kind <> 'derived'
    WITH p ORDER BY p.position, p.id LIMIT $limit RETURN collect({_PASSAGE}) AS rows"""
)
VERSIONS_OF_PASSAGES = _answer(
    f"""MATCH (p:Passage) WHERE p.workspace = $workspace AND p.id IN $ids
    MATCH (v:Version)-[:SAID_IN]->(p)
    WHERE v.dataset IN $readable
    AND v.transaction_start_ms <= $known_at AND $known_at < v.transaction_end_ms
    AND ($valid_at IS NULL OR (v.valid_start_ms <= $valid_at AND $valid_at < v.valid_end_ms))
    WITH v ORDER BY v.id RETURN collect({_VERSION}) AS rows"""
)
VERSIONS_OF_CLAIMS = _answer(
    f"""MATCH (v:Version) WHERE v.workspace = $workspace AND v.claim IN $claims AND v.dataset IN $readable
    AND v.transaction_start_ms <= $known_at AND $known_at < v.transaction_end_ms
    WITH v ORDER BY v.transaction_start_ms DESC, v.id LIMIT $limit RETURN collect({_VERSION}) AS rows"""
)
ENTITIES_OF_PASSAGES = _answer(
    f"""MATCH (p:Passage) WHERE p.workspace = $workspace AND p.id IN $ids
    MATCH (p)-[:MENTIONS]->(e:Entity) WHERE e.dataset IN $readable
    WITH e, p ORDER BY e.id, p.id RETURN collect({_ENTITY} + p.id) AS rows"""
)
COUNT_ALL = _answer(
    """CALL () { MATCH (p:Passage) WHERE p.workspace = $workspace AND p.dataset IN $readable
        RETURN count(p) AS passages, count(CASE p.kind WHEN 'derived' THEN 1 END) AS derived }
    CALL () { MATCH (e:Entity) WHERE e.workspace = $workspace AND e.dataset IN $readable
        RETURN count(e) AS entities }
    CALL () { MATCH (v:Version) WHERE v.workspace = $workspace AND v.dataset IN $readable
        RETURN count(v) AS versions }
    RETURN [passages, entities, versions, derived] AS rows"""
)

# For those who look after the graph: pages in the order of the keys.
PASSAGES_AFTER = _answer(
    f"""MATCH (p:Passage) WHERE p.workspace = $workspace AND p.id > $after AND p.dataset IN $readable
    WITH p ORDER BY p.workspace, p.id LIMIT $limit RETURN collect({_PASSAGE}) AS rows"""
)
ENTITIES_AFTER = _answer(
    f"""MATCH (e:Entity) WHERE e.workspace = $workspace AND e.id > $after AND e.dataset IN $readable
    WITH e ORDER BY e.workspace, e.id LIMIT $limit RETURN collect({_ENTITY}) AS rows"""
)
VERSIONS_OF_DOCUMENT = _answer(
    f"""MATCH (v:Version) WHERE v.workspace = $workspace AND v.document = $document
    AND v.dataset IN $readable AND (v.memory > $memory OR (v.memory = $memory AND v.id > $version))
    WITH v ORDER BY v.memory, v.id LIMIT $limit RETURN collect({_VERSION}) AS rows"""
)
MENTIONS_AFTER = _answer(
    """MATCH (e:Entity) WHERE e.workspace = $workspace AND e.id >= $entity AND e.dataset IN $readable
    MATCH (p:Passage)-[:MENTIONS]->(e)
    WHERE p.dataset IN $readable AND (e.id > $entity OR p.id > $passage)
    WITH e, p ORDER BY e.workspace, e.id, p.id LIMIT $limit RETURN collect([e.id, p.id]) AS rows"""
)
RELATIONS_AFTER = _answer(
    """MATCH (e:Entity) WHERE e.workspace = $workspace AND e.id >= $source
    MATCH (e)-[r:RELATED]->(target:Entity)
    WHERE e.id > $source OR r.name > $name OR (r.name = $name AND (
        target.id > $target OR (target.id = $target AND r.passage > $passage)))
    MATCH (p:Passage {workspace: $workspace, id: r.passage}) WHERE p.dataset IN $readable
    WITH e, r, target ORDER BY e.workspace, e.id, r.name, target.id, r.passage LIMIT $limit
    RETURN collect([e.id, r.name, target.id, r.passage]) AS rows"""
)
RELATIONS_IN = _answer(
    """MATCH (p:Passage) WHERE p.workspace = $workspace AND p.id IN $ids AND p.dataset IN $readable
    MATCH (source:Entity)-[r:RELATED]->(target:Entity) WHERE r.workspace = $workspace AND r.passage = p.id
    WITH source.id AS source, r.name AS name, target.id AS target, min(p.id) AS passage
    ORDER BY source, name, target RETURN collect([source, name, target, passage]) AS rows"""
)

_UNHELD_VERSION = """v.workspace = $workspace AND v.dataset IN $readable
    AND NOT EXISTS { MATCH (v)-[:SAID_IN]->(p:Passage) WHERE p.dataset IS NOT NULL }"""
_UNHELD_RELATION = """MATCH (e:Entity) WHERE e.workspace = $workspace AND e.dataset IN $readable
    WITH e MATCH (e)-[r:RELATED]->(:Entity) WHERE NOT EXISTS {
        MATCH (p:Passage {workspace: $workspace, id: r.passage}) WHERE p.dataset IS NOT NULL }"""
# Mentions have no dataset: they are strays of whoever owns what is left of them.
_UNHELD_BY_PASSAGE = """MATCH (e:Entity) WHERE e.workspace = $workspace AND e.dataset IN $readable
    WITH e MATCH (p:Passage)-[m:MENTIONS]->(e) WHERE p.dataset IS NULL"""
_UNHELD_BY_ENTITY = """MATCH (p:Passage) WHERE p.workspace = $workspace AND p.dataset IN $readable
    WITH p MATCH (p)-[m:MENTIONS]->(e:Entity) WHERE e.dataset IS NULL"""
_UNMENTIONED = (
    "e.workspace = $workspace AND e.dataset IN $readable AND NOT EXISTS { (e)<-[:MENTIONS]-(:Passage) }"
)
COUNT_STRAYS = _answer(
    f"""CALL () {{ MATCH (v:Version) WHERE {_UNHELD_VERSION} RETURN count(v) AS versions }}
    CALL () {{ {_UNHELD_RELATION} RETURN count(r) AS relations }}
    CALL () {{ {_UNHELD_BY_PASSAGE} RETURN count(m) AS ones }}
    CALL () {{ {_UNHELD_BY_ENTITY} RETURN count(m) AS others }}
    CALL () {{ MATCH (e:Entity) WHERE {_UNMENTIONED} RETURN count(e) AS entities }}
    RETURN [versions + relations + ones + others + entities] AS rows"""
)
DROP_STRAYS = (
    f"MATCH (v:Version) WHERE {_UNHELD_VERSION} WITH v LIMIT $batch DETACH DELETE v RETURN count(*)",
    f"{_UNHELD_RELATION} WITH r LIMIT $batch DELETE r RETURN count(*)",
    f"{_UNHELD_BY_PASSAGE} WITH m LIMIT $batch DELETE m RETURN count(*)",
    f"{_UNHELD_BY_ENTITY} WITH m LIMIT $batch DELETE m RETURN count(*)",
    f"MATCH (e:Entity) WHERE {_UNMENTIONED} WITH e LIMIT $batch DETACH DELETE e RETURN count(*)",
    # What was named, never written, and is named no more: a key, and nobody's.
    *(
        f"""MATCH (n:{label}) WHERE n.workspace = $workspace AND n.id IS NOT NULL AND n.dataset IS NULL
        AND NOT EXISTS {{ (n)--() }} WITH n LIMIT $batch DELETE n RETURN count(*)"""
        for label in ("Passage", "Entity")
    ),
)

_WITH_ALL_OF_THEM = """CALL (p) { MATCH (v:Version)-[:SAID_IN]->(p) DETACH DELETE v }
CALL (p) { MATCH (:Entity)-[r:RELATED]->(:Entity) WHERE r.workspace = $workspace AND r.passage = p.id DELETE r }
DETACH DELETE p
RETURN count(*)"""
DROP_PASSAGES = f"""MATCH (p:Passage) WHERE p.workspace = $workspace AND p.id IN $ids AND p.dataset IN $readable
WITH p LIMIT $batch
{_WITH_ALL_OF_THEM}"""
ERASE_ENTITIES = """MATCH (e:Entity) WHERE e.workspace = $workspace AND e.dataset = $dataset
AND NOT EXISTS { (e)<-[:MENTIONS]-(:Passage) }
WITH e LIMIT $batch DETACH DELETE e RETURN count(*)"""
MARK_APPLIED = """MATCH (w:Workspace {id: $workspace})
SET w.reached = CASE WHEN w.reached >= $seq THEN w.reached ELSE $seq END"""


@dataclass(frozen=True, slots=True)
class ErasureStatements:
    """`erase` takes `$batch` at a time, in an order in which each still finds what it needs."""

    erase: tuple[str, ...]
    matching: str
    count: str


def erasure_statements(what: Erasure) -> ErasureStatements:
    if what.document is None:
        return _OF_DATASET
    by_revision = what.last_revision_below is not None or what.first_revision is not None
    return _OF_REVISIONS if by_revision else _OF_DOCUMENT


def _erasure(passage: str, version: str, *, is_wide: bool) -> ErasureStatements:
    """`is_wide`: versions are meant whether or not their passage is there."""
    said = "" if is_wide else f" AND EXISTS {{ MATCH (v)-[:SAID_IN]->(p:Passage) WHERE {passage} }}"
    erase_passages = f"MATCH (p:Passage) WHERE {passage} WITH p LIMIT $batch\n{_WITH_ALL_OF_THEM}"
    erase_versions = f"MATCH (v:Version) WHERE {version} WITH v LIMIT $batch DETACH DELETE v RETURN count(*)"
    seen = f"{passage} AND p.dataset IN $readable"
    return ErasureStatements(
        erase=(erase_passages, *((erase_versions,) if is_wide else ()), ERASE_ENTITIES),
        matching=_answer(
            f"""MATCH (p:Passage) WHERE {seen}
            WITH p ORDER BY p.id LIMIT $limit RETURN collect({_PASSAGE}) AS rows"""
        ),
        # Of entities, those that would have no mention left.
        count=_answer(
            f"""CALL () {{ MATCH (p:Passage) WHERE {seen}
                RETURN count(p) AS passages, count(CASE p.kind WHEN 'derived' THEN 1 END) AS derived }}
            CALL () {{ MATCH (e:Entity) WHERE e.workspace = $workspace AND e.dataset = $dataset
                AND e.dataset IN $readable AND NOT EXISTS {{
                    MATCH (p:Passage)-[:MENTIONS]->(e) WHERE NOT coalesce({passage}, false) }}
                RETURN count(e) AS entities }}
            CALL () {{ MATCH (v:Version) WHERE {version} AND v.dataset IN $readable{said}
                RETURN count(v) AS versions }}
            RETURN [passages, entities, versions, derived] AS rows"""
        ),
    )


_IN_DOCUMENT = "{0}.workspace = $workspace AND {0}.document = $document AND {0}.dataset = $dataset"
_IN_DATASET = (
    "{0}.workspace = $workspace AND {0}.dataset = $dataset AND {0}.dataset_generation < $below_generation"
)
_PASSAGE_IN_DOCUMENT = _IN_DOCUMENT.format("p") + " AND p.position IS NOT NULL"  # or its index is not used
_OF_DATASET = _erasure(_IN_DATASET.format("p"), _IN_DATASET.format("v"), is_wide=True)
_OF_DOCUMENT = _erasure(_PASSAGE_IN_DOCUMENT, _IN_DOCUMENT.format("v"), is_wide=True)
_OF_REVISIONS = _erasure(
    # A repeated erasure must spare what a retry of the failed job wrote under the same revision.
    f"""{_PASSAGE_IN_DOCUMENT} AND (p.last_revision < $last_revision_below OR (
        p.first_revision = $first_revision AND ($seq IS NULL OR p.seq <= $seq)))""",
    _IN_DOCUMENT.format("v"),
    is_wide=False,
)
