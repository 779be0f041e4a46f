"""The catalog's tables, in types that SQLite and PostgreSQL share.

Times are UTC milliseconds, flags are 0 or 1, ids are text. A foreign key stands only where the row it names
must exist for this one to mean anything; what outlives a forget (jobs, changes, generations) names by value.
Every change here needs a migration: a test compares the two.
"""

from sqlalchemy import (
    BigInteger,
    Column,
    ForeignKey,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    Table,
    UniqueConstraint,
    text,
)

from dormouse.adapters.catalog.text_column import AnyText as Text

metadata = MetaData(
    naming_convention={
        "ix": "ix_%(table_name)s_%(column_0_N_name)s",
        "uq": "uq_%(table_name)s_%(column_0_N_name)s",
        "fk": "fk_%(table_name)s_%(column_0_N_name)s_%(referred_table_name)s",
        "pk": "pk_%(table_name)s",
    }
)

workspaces = Table(
    "workspaces",
    metadata,
    Column("id", Text, primary_key=True),
    Column("name", Text, nullable=False),
    Column("collection_name", Text),
    Column("collection_model", Text),
    Column("collection_dimension", Integer),
    # While another collection is filled beside the active one: every change is applied to both.
    Column("building_name", Text),
    Column("building_model", Text),
    Column("building_dimension", Integer),
    Column("not_before_ms", BigInteger, nullable=False),
    Column("parked_reason", Text),
    Column("created_ms", BigInteger, nullable=False),
)

# Apart from `workspaces`, so that renewing a lease and numbering a change never wait for each other.
change_counters = Table(
    "change_counters",
    metadata,
    Column("workspace", ForeignKey("workspaces.id"), primary_key=True),
    Column("last_seq", BigInteger, nullable=False),
)

apply_leases = Table(
    "apply_leases",
    metadata,
    Column("workspace", ForeignKey("workspaces.id"), primary_key=True),
    Column("holder", Text, nullable=False),
    Column("epoch", BigInteger, nullable=False),
    Column("expires_ms", BigInteger, nullable=False),
    Column("is_released", Integer, nullable=False),
)

principals = Table(
    "principals",
    metadata,
    Column("id", Text, primary_key=True),
    Column("name", Text, nullable=False),
    Column("created_ms", BigInteger, nullable=False),
)

datasets = Table(
    "datasets",
    metadata,
    Column("id", Text, primary_key=True),
    Column("workspace", ForeignKey("workspaces.id"), nullable=False),
    Column("owner", Text, nullable=False),
    Column("name", Text, nullable=False),
    Column("generation", BigInteger, nullable=False),
    Column("is_listed", Integer, nullable=False),
    Column("created_ms", BigInteger, nullable=False),
    Column("updated_ms", BigInteger, nullable=False),
    UniqueConstraint("owner", "name"),
    Index(None, "workspace", "owner"),
)

grants = Table(
    "grants",
    metadata,
    Column("principal", Text, primary_key=True),
    Column("dataset", ForeignKey("datasets.id"), primary_key=True),
    Column("permission", Text, nullable=False),
    Column("granted_ms", BigInteger, nullable=False),
)

_LIVE_EXTERNAL_ID = text("external_id IS NOT NULL AND is_forgotten = 0")

documents = Table(
    "documents",
    metadata,
    Column("id", Text, primary_key=True),
    Column("workspace", Text, nullable=False),
    Column("dataset", ForeignKey("datasets.id"), nullable=False),
    Column("owner", Text, nullable=False),
    Column("identity", Text, nullable=False),
    Column("name", Text, nullable=False),
    Column("external_id", Text),
    Column("dataset_generation", BigInteger, nullable=False),
    Column("item_generation", BigInteger, nullable=False),
    Column("newest_revision", Integer, nullable=False),
    Column("searchable_revision", Integer, nullable=False),
    Column("created_ms", BigInteger, nullable=False),
    Column("updated_ms", BigInteger, nullable=False),
    Column("is_forgotten", Integer, nullable=False),
    Column("memory_from", Integer, nullable=False, server_default="0"),
    Index(None, "dataset", "identity"),
    Index(None, "dataset", "dataset_generation", "id"),
    Index(
        "uq_documents_external_id",
        "dataset",
        "dataset_generation",
        "external_id",
        unique=True,
        sqlite_where=_LIVE_EXTERNAL_ID,
        postgresql_where=_LIVE_EXTERNAL_ID,
    ),
)

# Outlives what it counts, hence the hash: the identity itself is content.
item_generations = Table(
    "item_generations",
    metadata,
    Column("dataset", Text, primary_key=True),
    Column("identity_sha256", Text, primary_key=True),
    Column("generation", BigInteger, nullable=False),
)

revisions = Table(
    "revisions",
    metadata,
    Column("document", ForeignKey("documents.id", ondelete="CASCADE"), primary_key=True),
    Column("number", Integer, primary_key=True, autoincrement=False),
    Column("job", Text, nullable=False),
    Column("content_sha256", Text, nullable=False),
    Column("kind", Text, nullable=False),
    Column("filename", Text, nullable=False),
    Column("size_bytes", BigInteger, nullable=False),
    Column("inline", LargeBinary),
    Column("blob", Text),
    Column("occurred_ms", BigInteger),
    Column("offset_minutes", Integer),
    Column("zone", Text, nullable=False),
    Column("is_failed", Integer, nullable=False),
    Column("created_ms", BigInteger, nullable=False),
    Column("options", Text, nullable=False, server_default="{}"),
    Column("is_staged", Integer, nullable=False, server_default="0"),
    Index(None, "content_sha256"),
    Index(None, "blob"),
    Index(
        "ix_revisions_inline",
        "created_ms",
        sqlite_where=text("inline IS NOT NULL"),
        postgresql_where=text("inline IS NOT NULL"),
    ),
)

jobs = Table(
    "jobs",
    metadata,
    Column("id", Text, primary_key=True),
    Column("workspace", Text, nullable=False),
    Column("principal", Text, nullable=False),
    Column("kind", Text, nullable=False),
    Column("dataset", Text),
    Column("document", Text),
    Column("revision", Integer, nullable=False),
    Column("stage", Text, nullable=False),
    Column("accepted_ms", BigInteger, nullable=False),
    Column("updated_ms", BigInteger, nullable=False),
    Column("finished_ms", BigInteger),
    Column("searchable_ms", BigInteger),
    Column("counts", Text, nullable=False),
    Column("failure", Text),
    Column("enrichment_failure", Text),
    Column("cancel_reason", Text),
    Column("is_duplicate", Integer, nullable=False),
    Column("retry_of", Text),
    Column("attempts", Integer, nullable=False),
    Column("parked_reason", Text),
    Column("next_attempt_ms", BigInteger),
    # Not of the receipt: who extracts it, until when, and its place in the queue.
    Column("holder", Text),
    Column("lease_expires_ms", BigInteger, nullable=False),
    Column("turn_ms", BigInteger, nullable=False),
    Index(None, "workspace", "principal", "accepted_ms", "id"),
    Index(None, "dataset", "accepted_ms", "id"),
    Index(None, "document"),
    Index(None, "stage", "turn_ms"),
)

job_steps = Table(
    "job_steps",
    metadata,
    Column("job", ForeignKey("jobs.id"), primary_key=True),
    Column("number", Integer, primary_key=True, autoincrement=False),
    Column("stage", Text, nullable=False),
    Column("at_ms", BigInteger, nullable=False),
)

idempotency_keys = Table(
    "idempotency_keys",
    metadata,
    Column("principal", Text, primary_key=True),
    Column("route", Text, primary_key=True),
    Column("key", Text, primary_key=True),
    Column("body_sha256", Text, nullable=False),
    Column("job", Text, nullable=False),
    Column("created_ms", BigInteger, nullable=False),
    Index(None, "created_ms"),
    Index(None, "job"),
)

plans = Table(
    "plans",
    metadata,
    Column("job", ForeignKey("jobs.id"), primary_key=True),
    Column("blob", Text, nullable=False),
    Column("parts", Integer, nullable=False),
    Column("passages", Integer, nullable=False),
    Index(None, "blob"),
)

parts = Table(
    "parts",
    metadata,
    Column("job", ForeignKey("jobs.id"), primary_key=True),
    Column("index", Integer, primary_key=True, autoincrement=False),
    Column("blob", Text, nullable=False),
    Column("passages", Integer, nullable=False),
    Index(None, "blob"),
)

_UNAPPLIED = text("applied_ms IS NULL")

changes = Table(
    "changes",
    metadata,
    Column("workspace", ForeignKey("workspaces.id"), primary_key=True),
    Column("seq", BigInteger, primary_key=True, autoincrement=False),
    Column("job", Text, nullable=False),
    Column("part", Integer, nullable=False),
    Column("kind", Text, nullable=False),
    Column("dataset", Text, nullable=False),
    Column("document", Text),
    Column("generation", BigInteger, nullable=False),
    Column("revision", Integer, nullable=False),
    Column("blob", Text),
    Column("change_set", Text),
    Column("attempts", Integer, nullable=False),
    Column("is_last_part", Integer, nullable=False),
    Column("applied_ms", BigInteger),
    UniqueConstraint("job", "kind", "part"),
    Index("ix_changes_unapplied", "workspace", "seq", sqlite_where=_UNAPPLIED, postgresql_where=_UNAPPLIED),
    Index(None, "workspace", "applied_ms"),
    Index(None, "change_set"),
    Index(None, "dataset", "seq"),
    Index(None, "document", "seq"),
)

# A store that is made anew: how far it has followed the applied changes.
rebuilds = Table(
    "rebuilds",
    metadata,
    Column("workspace", ForeignKey("workspaces.id"), primary_key=True),
    Column("store", Text, primary_key=True),
    Column("job", ForeignKey("jobs.id")),
    Column("followed_seq", BigInteger),
    Column("lost", Integer, nullable=False),
)

# A part's vectors by another model than the one that extracted it.
part_vectors = Table(
    "part_vectors",
    metadata,
    Column("part", Text, primary_key=True),
    Column("model", Text, primary_key=True),
    Column("job", ForeignKey("jobs.id"), nullable=False),
    Column("blob", Text, nullable=False),
    Index(None, "job"),
    Index(None, "blob"),
)

term_totals = Table(
    "term_totals",
    metadata,
    Column("dataset", Text, primary_key=True),
    Column("generation", BigInteger, primary_key=True, autoincrement=False),
    Column("passages", BigInteger, nullable=False),
)

term_counts = Table(
    "term_counts",
    metadata,
    Column("dataset", Text, primary_key=True),
    Column("generation", BigInteger, primary_key=True, autoincrement=False),
    Column("term", BigInteger, primary_key=True, autoincrement=False),
    Column("passages", BigInteger, nullable=False),
    sqlite_with_rowid=False,
)

session_entries = Table(
    "session_entries",
    metadata,
    Column("id", Text, primary_key=True),
    Column("owner", Text, nullable=False),
    Column("session", Text, nullable=False),
    Column("dataset", Text),
    Column("text", Text, nullable=False),
    Column("kind", Text, nullable=False, server_default="note"),
    Column("details", Text, nullable=False, server_default="{}"),
    Column("created_ms", BigInteger, nullable=False),
    Column("expires_ms", BigInteger, nullable=False),
    Index(None, "owner", "session", "created_ms"),
    Index(None, "dataset"),
    Index(None, "expires_ms"),
)

session_quotes = Table(
    "session_quotes",
    metadata,
    Column("entry", ForeignKey("session_entries.id", ondelete="CASCADE"), primary_key=True),
    Column("document", Text, primary_key=True),
    Index(None, "document"),
)

# What nobody may see for now (suppressed) or ever again (one forgotten memory), from the commit on. The stores
# follow by a change of their own: `is_active` is what was accepted last, `is_applied` what they say.
hidden = Table(
    "hidden",
    metadata,
    Column("target", Text, primary_key=True),
    Column("workspace", Text, nullable=False),
    Column("dataset", Text, nullable=False),
    Column("document", Text),
    Column("reason", Text, nullable=False),
    Column("hidden_ms", BigInteger, nullable=False),
    Column("is_active", Integer, nullable=False),
    Column("is_applied", Integer, nullable=False),
    Index(None, "dataset"),
    Index(None, "document"),
)

ontologies = Table(
    "ontologies",
    metadata,
    Column("id", Text, primary_key=True),
    Column("workspace", ForeignKey("workspaces.id"), nullable=False),
    Column("owner", Text, nullable=False),
    Column("key", Text, nullable=False),
    Column("filename", Text, nullable=False),
    Column("description", Text, nullable=False),
    Column("size_bytes", BigInteger, nullable=False),
    Column("blob", Text, nullable=False),
    Column("created_ms", BigInteger, nullable=False),
    UniqueConstraint("owner", "key"),
    Index(None, "blob"),
)

# What all processes share and nobody else knows, such as what session ids are signed with.
secrets = Table(
    "secrets",
    metadata,
    Column("name", Text, primary_key=True),
    Column("value", Text, nullable=False),
)
