"""The graph's tables and statements.

Rows of every workspace lie in one file, so each key begins with the workspace. `seq` is the change that
wrote a row: an upsert of a lower one passes it by. NEXT edges lie with the passage as `previous`, because
hydration wants them with every passage and nothing asks for them alone.
"""

from dormouse.adapters.graph_store.rows import ENTITY_COLUMNS, PASSAGE_COLUMNS, VERSION_COLUMNS

VERSION = 2  # of the tables; recorded in the file, checked at every start

TABLES = (
    """CREATE TABLE IF NOT EXISTS passages (
        id TEXT NOT NULL, workspace TEXT NOT NULL, dataset TEXT NOT NULL, document TEXT NOT NULL,
        dataset_generation INTEGER NOT NULL, first_revision INTEGER NOT NULL, last_revision INTEGER NOT NULL,
        kind TEXT NOT NULL, position INTEGER NOT NULL, session TEXT NOT NULL, text TEXT NOT NULL,
        heading TEXT NOT NULL, previous TEXT NOT NULL, speaker TEXT NOT NULL, role TEXT NOT NULL,
        language TEXT NOT NULL, occurred_ms INTEGER, offset_minutes INTEGER, precision TEXT, external_id TEXT,
        document_name TEXT NOT NULL, seq INTEGER NOT NULL, PRIMARY KEY (workspace, id)
    )""",
    "CREATE INDEX IF NOT EXISTS passages_of_document ON passages (workspace, document, position, id)",
    "CREATE INDEX IF NOT EXISTS passages_of_dataset ON passages (workspace, dataset, dataset_generation)",
    """CREATE TABLE IF NOT EXISTS entities (
        id TEXT NOT NULL, workspace TEXT NOT NULL, dataset TEXT NOT NULL, name TEXT NOT NULL,
        folded TEXT NOT NULL, kind TEXT NOT NULL, seq INTEGER NOT NULL, PRIMARY KEY (workspace, id)
    )""",
    "CREATE INDEX IF NOT EXISTS entities_of_dataset ON entities (workspace, dataset)",
    """CREATE TABLE IF NOT EXISTS mentions (
        workspace TEXT NOT NULL, entity TEXT NOT NULL, passage TEXT NOT NULL,
        PRIMARY KEY (workspace, entity, passage)
    ) WITHOUT ROWID""",
    "CREATE INDEX IF NOT EXISTS mentions_of_passage ON mentions (workspace, passage)",
    """CREATE TABLE IF NOT EXISTS relations (
        workspace TEXT NOT NULL, source TEXT NOT NULL, name TEXT NOT NULL, target TEXT NOT NULL,
        passage TEXT NOT NULL, PRIMARY KEY (workspace, source, name, target, passage)
    ) WITHOUT ROWID""",
    "CREATE INDEX IF NOT EXISTS relations_of_passage ON relations (workspace, passage)",
    """CREATE TABLE IF NOT EXISTS versions (
        id TEXT NOT NULL, workspace TEXT NOT NULL, memory TEXT NOT NULL, kind TEXT NOT NULL,
        dataset TEXT NOT NULL, document TEXT NOT NULL, passage TEXT NOT NULL,
        dataset_generation INTEGER NOT NULL, content TEXT NOT NULL, quote TEXT NOT NULL, source TEXT NOT NULL,
        confidence REAL NOT NULL, valid_start_ms INTEGER NOT NULL, valid_end_ms INTEGER NOT NULL,
        valid_basis TEXT NOT NULL, about_start_ms INTEGER, about_end_ms INTEGER, precision TEXT,
        transaction_start_ms INTEGER NOT NULL, transaction_end_ms INTEGER NOT NULL, entities TEXT NOT NULL,
        seq INTEGER NOT NULL, claim_subject TEXT, claim_predicate TEXT, claim_object TEXT,
        derived_by TEXT NOT NULL DEFAULT '', PRIMARY KEY (workspace, id)
    )""",
    """CREATE INDEX IF NOT EXISTS versions_of_claim
        ON versions (workspace, dataset, claim_subject, claim_predicate) WHERE claim_subject IS NOT NULL""",
    "CREATE INDEX IF NOT EXISTS versions_of_passage ON versions (workspace, passage)",
    "CREATE INDEX IF NOT EXISTS versions_of_document ON versions (workspace, document)",
    "CREATE INDEX IF NOT EXISTS versions_of_dataset ON versions (workspace, dataset, dataset_generation)",
    """CREATE TABLE IF NOT EXISTS applied (
        workspace TEXT NOT NULL, seq INTEGER NOT NULL, PRIMARY KEY (workspace, seq)
    ) WITHOUT ROWID""",
    "CREATE TABLE IF NOT EXISTS epochs (workspace TEXT NOT NULL PRIMARY KEY, epoch INTEGER NOT NULL)",
    # One row while bytes of erased rows may still lie in the file.
    "CREATE TABLE IF NOT EXISTS unclean (id INTEGER NOT NULL PRIMARY KEY CHECK (id = 1))",
    # One row while the graph is being made anew, and so lacks what it should hold.
    "CREATE TABLE IF NOT EXISTS partial (id INTEGER NOT NULL PRIMARY KEY CHECK (id = 1))",
)

# What an older file lacks, by the version that it has; run before TABLES.
UPGRADES = {
    1: (
        "ALTER TABLE versions ADD COLUMN claim_subject TEXT",
        "ALTER TABLE versions ADD COLUMN claim_predicate TEXT",
        "ALTER TABLE versions ADD COLUMN claim_object TEXT",
        "ALTER TABLE versions ADD COLUMN derived_by TEXT NOT NULL DEFAULT ''",
    ),
}


def _upsert(table: str, columns: tuple[str, ...]) -> str:
    """Absolute rows; a row that a higher change wrote stays as it is."""
    names = ", ".join(columns)
    marks = ", ".join("?" for _ in columns)
    changed = ", ".join(f"{name} = excluded.{name}" for name in columns if name not in {"id", "workspace"})
    return (
        f"INSERT INTO {table} ({names}) VALUES ({marks}) ON CONFLICT (workspace, id) "  # noqa: S608 our own names
        f"DO UPDATE SET {changed} WHERE excluded.seq >= {table}.seq"
    )


UPSERT_PASSAGE = _upsert("passages", (*PASSAGE_COLUMNS, "seq"))
UPSERT_ENTITY = _upsert("entities", (*ENTITY_COLUMNS, "workspace", "seq"))
UPSERT_VERSION = _upsert("versions", (*VERSION_COLUMNS, "workspace", "seq"))
INSERT_MENTION = "INSERT OR IGNORE INTO mentions (workspace, entity, passage) VALUES (?, ?, ?)"
INSERT_RELATION = (
    "INSERT OR IGNORE INTO relations (workspace, source, name, target, passage) VALUES (?, ?, ?, ?, ?)"
)
CLOSE_VERSION = (
    # An interval is never empty, also when it is closed in the millisecond that opened it.
    "UPDATE versions SET transaction_end_ms = max(:at, transaction_start_ms + 1), seq = :seq "
    "WHERE workspace = :workspace AND id = :id AND seq <= :seq"
)
MARK_APPLIED = "INSERT OR IGNORE INTO applied (workspace, seq) VALUES (:workspace, :seq)"
LAST_APPLIED = "SELECT max(seq) FROM applied WHERE workspace = :workspace"
MARK_UNCLEAN = "INSERT OR IGNORE INTO unclean (id) VALUES (1)"
MARK_CLEAN = "DELETE FROM unclean"
IS_UNCLEAN = "SELECT count(*) FROM unclean"
MARK_PARTIAL = "INSERT OR IGNORE INTO partial (id) VALUES (1)"
MARK_WHOLE = "DELETE FROM partial"
IS_PARTIAL = "SELECT count(*) FROM partial"
READ_EPOCH = "SELECT epoch FROM epochs WHERE workspace = :workspace"
STORE_EPOCH = (
    "INSERT INTO epochs (workspace, epoch) VALUES (:workspace, :epoch) "
    "ON CONFLICT (workspace) DO UPDATE SET epoch = excluded.epoch WHERE excluded.epoch > epochs.epoch"
)

# The plus keeps the planner from walking the dataset's index, which is forty times slower than going by id.
_READABLE = "workspace = :workspace AND +dataset IN (SELECT value FROM json_each(:readable))"
_PASSAGES = f"SELECT {', '.join(PASSAGE_COLUMNS)} FROM passages WHERE {_READABLE}"  # noqa: S608 our own names
PASSAGES_BY_ID = f"{_PASSAGES} AND id IN (SELECT value FROM json_each(:ids))"  # noqa: S608 our own names
PASSAGES_OF_DOCUMENT = (
    f"{_PASSAGES} AND document = :document AND position > :after AND kind != 'derived' "
    "ORDER BY position, id LIMIT :limit"
)
# The index is named: to have its rows in order, SQLite would rather walk through every version there is.
VERSIONS_OF_PASSAGES = (
    f"SELECT {', '.join(VERSION_COLUMNS)} FROM versions "  # noqa: S608 our own names
    f"INDEXED BY versions_of_passage WHERE {_READABLE} "
    "AND passage IN (SELECT value FROM json_each(:passages)) "
    "AND transaction_start_ms <= :known_at AND :known_at < transaction_end_ms "
    "AND (:valid_at IS NULL OR (valid_start_ms <= :valid_at AND :valid_at < valid_end_ms)) ORDER BY id"
)
VERSIONS_OF_CLAIMS = (
    f"SELECT {', '.join('versions.' + name for name in VERSION_COLUMNS)} "  # noqa: S608 our own names
    "FROM json_each(:claims) AS asked CROSS JOIN versions INDEXED BY versions_of_claim "
    "WHERE versions.workspace = :workspace AND versions.dataset IN (SELECT value FROM json_each(:readable)) "
    "AND versions.claim_subject = json_extract(asked.value, '$[0]') "
    "AND versions.claim_predicate = json_extract(asked.value, '$[1]') "
    "AND versions.transaction_start_ms <= :known_at AND :known_at < versions.transaction_end_ms "
    "ORDER BY versions.transaction_start_ms DESC, versions.id LIMIT :limit"
)
ENTITIES_OF_PASSAGES = (
    f"SELECT {', '.join('e.' + name for name in ENTITY_COLUMNS)}, m.passage FROM mentions m "  # noqa: S608 our own names
    "JOIN entities e ON e.workspace = m.workspace AND e.id = m.entity WHERE m.workspace = :workspace "
    "AND m.passage IN (SELECT value FROM json_each(:passages)) "
    "AND +e.dataset IN (SELECT value FROM json_each(:readable)) ORDER BY e.id, m.passage"
)

# For those who look after the graph: pages in the order of the keys.
PASSAGES_AFTER = f"{_PASSAGES} AND id > :after ORDER BY id LIMIT :limit"
ENTITIES_AFTER = (
    f"SELECT {', '.join(ENTITY_COLUMNS)} FROM entities WHERE {_READABLE} "  # noqa: S608 our own names
    "AND id > :after ORDER BY id LIMIT :limit"
)
VERSIONS_OF_DOCUMENT = (
    f"SELECT {', '.join(VERSION_COLUMNS)} FROM versions WHERE {_READABLE} "  # noqa: S608 our own names
    "AND document = :document AND (memory, id) > (:memory, :version) ORDER BY memory, id LIMIT :limit"
)
MENTIONS_AFTER = """SELECT m.entity, m.passage FROM mentions m
    JOIN entities e ON e.workspace = m.workspace AND e.id = m.entity
    JOIN passages p ON p.workspace = m.workspace AND p.id = m.passage
    WHERE m.workspace = :workspace AND (m.entity, m.passage) > (:entity, :passage)
    AND e.dataset IN (SELECT value FROM json_each(:readable))
    AND p.dataset IN (SELECT value FROM json_each(:readable))
    ORDER BY m.entity, m.passage LIMIT :limit"""
RELATIONS_AFTER = """SELECT r.source, r.name, r.target, r.passage FROM relations r
    JOIN passages p ON p.workspace = r.workspace AND p.id = r.passage
    WHERE r.workspace = :workspace
    AND (r.source, r.name, r.target, r.passage) > (:source, :name, :target, :passage)
    AND p.dataset IN (SELECT value FROM json_each(:readable))
    ORDER BY r.source, r.name, r.target, r.passage LIMIT :limit"""

RELATIONS_IN = """SELECT r.source, r.name, r.target, min(r.passage) FROM relations r
    JOIN passages p ON p.workspace = r.workspace AND p.id = r.passage
    WHERE r.workspace = :workspace AND r.passage IN (SELECT value FROM json_each(:ids))
    AND p.dataset IN (SELECT value FROM json_each(:readable))
    GROUP BY r.source, r.name, r.target ORDER BY r.source, r.name, r.target"""
_STRAY_VERSIONS = f"""versions WHERE {_READABLE} AND NOT EXISTS (
    SELECT 1 FROM passages p WHERE p.workspace = :workspace AND p.id = versions.passage)"""  # noqa: S608 our own names
# Mentions have no dataset: they are strays of whoever owns what is left of them.
_STRAY_MENTIONS = """mentions WHERE workspace = :workspace AND (
    EXISTS (SELECT 1 FROM entities e WHERE e.workspace = :workspace AND e.id = mentions.entity
        AND e.dataset IN (SELECT value FROM json_each(:readable)))
    AND NOT EXISTS (SELECT 1 FROM passages p WHERE p.workspace = :workspace AND p.id = mentions.passage)
    OR EXISTS (SELECT 1 FROM passages p WHERE p.workspace = :workspace AND p.id = mentions.passage
        AND p.dataset IN (SELECT value FROM json_each(:readable)))
    AND NOT EXISTS (SELECT 1 FROM entities e WHERE e.workspace = :workspace AND e.id = mentions.entity))"""
_STRAY_RELATIONS = """relations WHERE workspace = :workspace AND EXISTS (
    SELECT 1 FROM entities e WHERE e.workspace = :workspace AND e.id = relations.source
        AND e.dataset IN (SELECT value FROM json_each(:readable)))
    AND NOT EXISTS (SELECT 1 FROM passages p WHERE p.workspace = :workspace AND p.id = relations.passage)"""
_STRAY_ENTITIES = f"""entities WHERE {_READABLE} AND NOT EXISTS (
    SELECT 1 FROM mentions m WHERE m.workspace = :workspace AND m.entity = entities.id)"""  # noqa: S608 our own names
_STRAYS = (_STRAY_VERSIONS, _STRAY_RELATIONS, _STRAY_MENTIONS, _STRAY_ENTITIES)
COUNT_STRAYS = "SELECT " + " + ".join(f"(SELECT count(*) FROM {each})" for each in _STRAYS)  # noqa: S608
DROP_STRAYS = tuple(f"DELETE FROM {each}" for each in _STRAYS)  # noqa: S608 our own names
_DROPPED = "workspace = :workspace AND passage IN (SELECT value FROM json_each(:ids))"
DROP_PASSAGES = (
    f"DELETE FROM versions WHERE {_DROPPED}",  # noqa: S608 our own names
    f"DELETE FROM mentions WHERE {_DROPPED}",  # noqa: S608 our own names
    f"DELETE FROM relations WHERE {_DROPPED}",  # noqa: S608 our own names
    f"DELETE FROM passages WHERE {_READABLE} AND id IN (SELECT value FROM json_each(:ids))",  # noqa: S608 same
)


def matching_passages(condition: str) -> str:
    return f"{_PASSAGES} AND {condition} ORDER BY id LIMIT :limit"


def count_all() -> str:
    tables = ("passages", "entities", "versions")
    counts = [f"(SELECT count(*) FROM {table} WHERE {_READABLE})" for table in tables]  # noqa: S608 our own names
    derived = f"(SELECT count(*) FROM passages WHERE {_READABLE} AND kind = 'derived')"  # noqa: S608 our own names
    return f"SELECT {', '.join([*counts, derived])}"


def count_matching(condition: str, wide: str) -> str:
    """Passages and versions an erasure would remove, and the entities that would have no mention left."""
    doomed = f"SELECT id FROM passages WHERE {_READABLE} AND {condition}"  # noqa: S608 our own names
    return f"""SELECT (SELECT count(*) FROM ({doomed})),
        (SELECT count(*) FROM entities WHERE {_READABLE} AND dataset = :dataset AND NOT EXISTS (
            SELECT 1 FROM mentions m WHERE m.workspace = :workspace AND m.entity = entities.id
            AND m.passage NOT IN ({doomed}))),
        (SELECT count(*) FROM versions WHERE {_READABLE} AND (passage IN ({doomed}) OR {wide})),
        (SELECT count(*) FROM ({doomed} AND kind = 'derived'))"""  # noqa: S608


def erase_statements(condition: str, wide: str) -> tuple[str, ...]:
    """In an order in which each still finds what it needs: passages go after what hangs on them."""
    doomed = f"SELECT id FROM passages WHERE workspace = :workspace AND {condition}"  # noqa: S608 our own names
    return (
        f"DELETE FROM versions WHERE workspace = :workspace AND (passage IN ({doomed}) OR {wide})",  # noqa: S608
        f"DELETE FROM mentions WHERE workspace = :workspace AND passage IN ({doomed})",  # noqa: S608
        f"DELETE FROM relations WHERE workspace = :workspace AND passage IN ({doomed})",  # noqa: S608
        f"DELETE FROM passages WHERE workspace = :workspace AND {condition}",  # noqa: S608
        """DELETE FROM entities WHERE workspace = :workspace AND dataset = :dataset AND NOT EXISTS (
            SELECT 1 FROM mentions m WHERE m.workspace = :workspace AND m.entity = entities.id)""",
    )
