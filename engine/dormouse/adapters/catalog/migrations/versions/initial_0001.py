"""The first schema."""

import sqlalchemy as sa
from alembic import op

from dormouse.adapters.catalog.text_column import TEXT

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None


def upgrade() -> None:
    _workspaces()
    _datasets()
    _documents()
    _jobs()
    _terms()
    _sessions()


def _workspaces() -> None:
    op.create_table(
        "workspaces",
        sa.Column("id", TEXT, nullable=False),
        sa.Column("name", TEXT, nullable=False),
        sa.Column("collection_name", TEXT, nullable=True),
        sa.Column("collection_model", TEXT, nullable=True),
        sa.Column("collection_dimension", sa.Integer(), nullable=True),
        sa.Column("not_before_ms", sa.BigInteger(), nullable=False),
        sa.Column("parked_reason", TEXT, nullable=True),
        sa.Column("created_ms", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_workspaces"),
    )
    op.create_table(
        "apply_leases",
        sa.Column("workspace", TEXT, nullable=False),
        sa.Column("holder", TEXT, nullable=False),
        sa.Column("epoch", sa.BigInteger(), nullable=False),
        sa.Column("expires_ms", sa.BigInteger(), nullable=False),
        sa.Column("is_released", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(["workspace"], ["workspaces.id"], name="fk_apply_leases_workspace_workspaces"),
        sa.PrimaryKeyConstraint("workspace", name="pk_apply_leases"),
    )
    op.create_table(
        "change_counters",
        sa.Column("workspace", TEXT, nullable=False),
        sa.Column("last_seq", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(
            ["workspace"], ["workspaces.id"], name="fk_change_counters_workspace_workspaces"
        ),
        sa.PrimaryKeyConstraint("workspace", name="pk_change_counters"),
    )
    op.create_table(
        "changes",
        sa.Column("workspace", TEXT, nullable=False),
        sa.Column("seq", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("job", TEXT, nullable=False),
        sa.Column("part", sa.Integer(), nullable=False),
        sa.Column("kind", TEXT, nullable=False),
        sa.Column("dataset", TEXT, nullable=False),
        sa.Column("document", TEXT, nullable=True),
        sa.Column("generation", sa.BigInteger(), nullable=False),
        sa.Column("revision", sa.Integer(), nullable=False),
        sa.Column("blob", TEXT, nullable=True),
        sa.Column("change_set", TEXT, nullable=True),
        sa.Column("attempts", sa.Integer(), nullable=False),
        sa.Column("is_last_part", sa.Integer(), nullable=False),
        sa.Column("applied_ms", sa.BigInteger(), nullable=True),
        sa.ForeignKeyConstraint(["workspace"], ["workspaces.id"], name="fk_changes_workspace_workspaces"),
        sa.PrimaryKeyConstraint("workspace", "seq", name="pk_changes"),
        sa.UniqueConstraint("job", "kind", "part", name="uq_changes_job_kind_part"),
    )
    op.create_index("ix_changes_change_set", "changes", ["change_set"], unique=False)
    op.create_index(
        "ix_changes_unapplied",
        "changes",
        ["workspace", "seq"],
        unique=False,
        sqlite_where=sa.text("applied_ms IS NULL"),
        postgresql_where=sa.text("applied_ms IS NULL"),
    )
    op.create_index("ix_changes_workspace_applied_ms", "changes", ["workspace", "applied_ms"], unique=False)


def _datasets() -> None:
    op.create_table(
        "principals",
        sa.Column("id", TEXT, nullable=False),
        sa.Column("name", TEXT, nullable=False),
        sa.Column("created_ms", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_principals"),
    )
    op.create_table(
        "datasets",
        sa.Column("id", TEXT, nullable=False),
        sa.Column("workspace", TEXT, nullable=False),
        sa.Column("owner", TEXT, nullable=False),
        sa.Column("name", TEXT, nullable=False),
        sa.Column("generation", sa.BigInteger(), nullable=False),
        sa.Column("is_listed", sa.Integer(), nullable=False),
        sa.Column("created_ms", sa.BigInteger(), nullable=False),
        sa.Column("updated_ms", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(["workspace"], ["workspaces.id"], name="fk_datasets_workspace_workspaces"),
        sa.PrimaryKeyConstraint("id", name="pk_datasets"),
        sa.UniqueConstraint("owner", "name", name="uq_datasets_owner_name"),
    )
    op.create_index("ix_datasets_workspace_owner", "datasets", ["workspace", "owner"], unique=False)
    op.create_table(
        "grants",
        sa.Column("principal", TEXT, nullable=False),
        sa.Column("dataset", TEXT, nullable=False),
        sa.Column("permission", TEXT, nullable=False),
        sa.Column("granted_ms", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(["dataset"], ["datasets.id"], name="fk_grants_dataset_datasets"),
        sa.PrimaryKeyConstraint("principal", "dataset", name="pk_grants"),
    )


def _documents() -> None:
    op.create_table(
        "documents",
        sa.Column("id", TEXT, nullable=False),
        sa.Column("workspace", TEXT, nullable=False),
        sa.Column("dataset", TEXT, nullable=False),
        sa.Column("owner", TEXT, nullable=False),
        sa.Column("identity", TEXT, nullable=False),
        sa.Column("name", TEXT, nullable=False),
        sa.Column("external_id", TEXT, nullable=True),
        sa.Column("dataset_generation", sa.BigInteger(), nullable=False),
        sa.Column("item_generation", sa.BigInteger(), nullable=False),
        sa.Column("newest_revision", sa.Integer(), nullable=False),
        sa.Column("searchable_revision", sa.Integer(), nullable=False),
        sa.Column("created_ms", sa.BigInteger(), nullable=False),
        sa.Column("updated_ms", sa.BigInteger(), nullable=False),
        sa.Column("is_forgotten", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(["dataset"], ["datasets.id"], name="fk_documents_dataset_datasets"),
        sa.PrimaryKeyConstraint("id", name="pk_documents"),
    )
    op.create_index(
        "ix_documents_dataset_dataset_generation_id",
        "documents",
        ["dataset", "dataset_generation", "id"],
        unique=False,
    )
    op.create_index("ix_documents_dataset_identity", "documents", ["dataset", "identity"], unique=False)
    op.create_index(
        "uq_documents_external_id",
        "documents",
        ["dataset", "dataset_generation", "external_id"],
        unique=True,
        sqlite_where=sa.text("external_id IS NOT NULL AND is_forgotten = 0"),
        postgresql_where=sa.text("external_id IS NOT NULL AND is_forgotten = 0"),
    )
    op.create_table(
        "item_generations",
        sa.Column("dataset", TEXT, nullable=False),
        sa.Column("identity_sha256", TEXT, nullable=False),
        sa.Column("generation", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("dataset", "identity_sha256", name="pk_item_generations"),
    )
    op.create_table(
        "revisions",
        sa.Column("document", TEXT, nullable=False),
        sa.Column("number", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("job", TEXT, nullable=False),
        sa.Column("content_sha256", TEXT, nullable=False),
        sa.Column("kind", TEXT, nullable=False),
        sa.Column("filename", TEXT, nullable=False),
        sa.Column("size_bytes", sa.BigInteger(), nullable=False),
        sa.Column("inline", sa.LargeBinary(), nullable=True),
        sa.Column("blob", TEXT, nullable=True),
        sa.Column("occurred_ms", sa.BigInteger(), nullable=True),
        sa.Column("offset_minutes", sa.Integer(), nullable=True),
        sa.Column("zone", TEXT, nullable=False),
        sa.Column("is_failed", sa.Integer(), nullable=False),
        sa.Column("created_ms", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(
            ["document"], ["documents.id"], name="fk_revisions_document_documents", ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("document", "number", name="pk_revisions"),
    )
    op.create_index("ix_revisions_blob", "revisions", ["blob"], unique=False)
    op.create_index("ix_revisions_content_sha256", "revisions", ["content_sha256"], unique=False)
    op.create_index(
        "ix_revisions_inline",
        "revisions",
        ["created_ms"],
        unique=False,
        sqlite_where=sa.text("inline IS NOT NULL"),
        postgresql_where=sa.text("inline IS NOT NULL"),
    )


def _jobs() -> None:
    op.create_table(
        "jobs",
        sa.Column("id", TEXT, nullable=False),
        sa.Column("workspace", TEXT, nullable=False),
        sa.Column("principal", TEXT, nullable=False),
        sa.Column("kind", TEXT, nullable=False),
        sa.Column("dataset", TEXT, nullable=True),
        sa.Column("document", TEXT, nullable=True),
        sa.Column("revision", sa.Integer(), nullable=False),
        sa.Column("stage", TEXT, nullable=False),
        sa.Column("accepted_ms", sa.BigInteger(), nullable=False),
        sa.Column("updated_ms", sa.BigInteger(), nullable=False),
        sa.Column("finished_ms", sa.BigInteger(), nullable=True),
        sa.Column("searchable_ms", sa.BigInteger(), nullable=True),
        sa.Column("counts", TEXT, nullable=False),
        sa.Column("failure", TEXT, nullable=True),
        sa.Column("cancel_reason", TEXT, nullable=True),
        sa.Column("is_duplicate", sa.Integer(), nullable=False),
        sa.Column("retry_of", TEXT, nullable=True),
        sa.Column("attempts", sa.Integer(), nullable=False),
        sa.Column("parked_reason", TEXT, nullable=True),
        sa.Column("next_attempt_ms", sa.BigInteger(), nullable=True),
        sa.Column("holder", TEXT, nullable=True),
        sa.Column("lease_expires_ms", sa.BigInteger(), nullable=False),
        sa.Column("turn_ms", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_jobs"),
    )
    op.create_index("ix_jobs_dataset_accepted_ms_id", "jobs", ["dataset", "accepted_ms", "id"], unique=False)
    op.create_index("ix_jobs_document", "jobs", ["document"], unique=False)
    op.create_index("ix_jobs_stage_turn_ms", "jobs", ["stage", "turn_ms"], unique=False)
    op.create_index(
        "ix_jobs_workspace_principal_accepted_ms_id",
        "jobs",
        ["workspace", "principal", "accepted_ms", "id"],
        unique=False,
    )
    op.create_table(
        "job_steps",
        sa.Column("job", TEXT, nullable=False),
        sa.Column("number", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("stage", TEXT, nullable=False),
        sa.Column("at_ms", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(["job"], ["jobs.id"], name="fk_job_steps_job_jobs"),
        sa.PrimaryKeyConstraint("job", "number", name="pk_job_steps"),
    )
    op.create_table(
        "idempotency_keys",
        sa.Column("principal", TEXT, nullable=False),
        sa.Column("route", TEXT, nullable=False),
        sa.Column("key", TEXT, nullable=False),
        sa.Column("body_sha256", TEXT, nullable=False),
        sa.Column("job", TEXT, nullable=False),
        sa.Column("created_ms", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("principal", "route", "key", name="pk_idempotency_keys"),
    )
    op.create_index("ix_idempotency_keys_created_ms", "idempotency_keys", ["created_ms"], unique=False)
    op.create_index("ix_idempotency_keys_job", "idempotency_keys", ["job"], unique=False)
    op.create_table(
        "plans",
        sa.Column("job", TEXT, nullable=False),
        sa.Column("blob", TEXT, nullable=False),
        sa.Column("parts", sa.Integer(), nullable=False),
        sa.Column("passages", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(["job"], ["jobs.id"], name="fk_plans_job_jobs"),
        sa.PrimaryKeyConstraint("job", name="pk_plans"),
    )
    op.create_index("ix_plans_blob", "plans", ["blob"], unique=False)
    op.create_table(
        "parts",
        sa.Column("job", TEXT, nullable=False),
        sa.Column("index", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("blob", TEXT, nullable=False),
        sa.Column("passages", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(["job"], ["jobs.id"], name="fk_parts_job_jobs"),
        sa.PrimaryKeyConstraint("job", "index", name="pk_parts"),
    )
    op.create_index("ix_parts_blob", "parts", ["blob"], unique=False)


def _terms() -> None:
    op.create_table(
        "term_totals",
        sa.Column("dataset", TEXT, nullable=False),
        sa.Column("generation", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("passages", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("dataset", "generation", name="pk_term_totals"),
    )
    op.create_table(
        "term_counts",
        sa.Column("dataset", TEXT, nullable=False),
        sa.Column("generation", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("term", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("passages", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("dataset", "generation", "term", name="pk_term_counts"),
        sqlite_with_rowid=False,
    )


def _sessions() -> None:
    op.create_table(
        "session_entries",
        sa.Column("id", TEXT, nullable=False),
        sa.Column("owner", TEXT, nullable=False),
        sa.Column("session", TEXT, nullable=False),
        sa.Column("dataset", TEXT, nullable=True),
        sa.Column("text", TEXT, nullable=False),
        sa.Column("created_ms", sa.BigInteger(), nullable=False),
        sa.Column("expires_ms", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_session_entries"),
    )
    op.create_index("ix_session_entries_dataset", "session_entries", ["dataset"], unique=False)
    op.create_index("ix_session_entries_expires_ms", "session_entries", ["expires_ms"], unique=False)
    op.create_index(
        "ix_session_entries_owner_session_created_ms",
        "session_entries",
        ["owner", "session", "created_ms"],
        unique=False,
    )
    op.create_table(
        "session_quotes",
        sa.Column("entry", TEXT, nullable=False),
        sa.Column("document", TEXT, nullable=False),
        sa.ForeignKeyConstraint(
            ["entry"],
            ["session_entries.id"],
            name="fk_session_quotes_entry_session_entries",
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("entry", "document", name="pk_session_quotes"),
    )
    op.create_index("ix_session_quotes_document", "session_quotes", ["document"], unique=False)
