"""What the complete laptop form keeps: options and hidden items, ontologies, a collection being built."""

import sqlalchemy as sa
from alembic import op

from dormouse.adapters.catalog.text_column import TEXT

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("workspaces", sa.Column("building_name", TEXT, nullable=True))
    op.add_column("workspaces", sa.Column("building_model", TEXT, nullable=True))
    op.add_column("workspaces", sa.Column("building_dimension", sa.Integer(), nullable=True))
    op.add_column("revisions", sa.Column("options", TEXT, server_default="{}", nullable=False))
    op.add_column("revisions", sa.Column("is_staged", sa.Integer(), server_default="0", nullable=False))
    op.add_column("documents", sa.Column("memory_from", sa.Integer(), server_default="0", nullable=False))
    op.add_column("session_entries", sa.Column("kind", TEXT, server_default="note", nullable=False))
    op.add_column("session_entries", sa.Column("details", TEXT, server_default="{}", nullable=False))
    op.add_column("jobs", sa.Column("enrichment_failure", TEXT, nullable=True))
    op.create_index("ix_changes_dataset_seq", "changes", ["dataset", "seq"], unique=False)
    op.create_index("ix_changes_document_seq", "changes", ["document", "seq"], unique=False)
    _hidden()
    _ontologies()
    _rebuilds()
    op.create_table(
        "secrets",
        sa.Column("name", TEXT, nullable=False),
        sa.Column("value", TEXT, nullable=False),
        sa.PrimaryKeyConstraint("name", name="pk_secrets"),
    )


def _hidden() -> None:
    op.create_table(
        "hidden",
        sa.Column("target", TEXT, nullable=False),
        sa.Column("workspace", TEXT, nullable=False),
        sa.Column("dataset", TEXT, nullable=False),
        sa.Column("document", TEXT, nullable=True),
        sa.Column("reason", TEXT, nullable=False),
        sa.Column("hidden_ms", sa.BigInteger(), nullable=False),
        sa.Column("is_active", sa.Integer(), nullable=False),
        sa.Column("is_applied", sa.Integer(), nullable=False),
        sa.PrimaryKeyConstraint("target", name="pk_hidden"),
    )
    op.create_index("ix_hidden_dataset", "hidden", ["dataset"], unique=False)
    op.create_index("ix_hidden_document", "hidden", ["document"], unique=False)


def _ontologies() -> None:
    op.create_table(
        "ontologies",
        sa.Column("id", TEXT, nullable=False),
        sa.Column("workspace", TEXT, nullable=False),
        sa.Column("owner", TEXT, nullable=False),
        sa.Column("key", TEXT, nullable=False),
        sa.Column("filename", TEXT, nullable=False),
        sa.Column("description", TEXT, nullable=False),
        sa.Column("size_bytes", sa.BigInteger(), nullable=False),
        sa.Column("blob", TEXT, nullable=False),
        sa.Column("created_ms", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(["workspace"], ["workspaces.id"], name="fk_ontologies_workspace_workspaces"),
        sa.PrimaryKeyConstraint("id", name="pk_ontologies"),
        sa.UniqueConstraint("owner", "key", name="uq_ontologies_owner_key"),
    )
    op.create_index("ix_ontologies_blob", "ontologies", ["blob"], unique=False)


def _rebuilds() -> None:
    op.create_table(
        "rebuilds",
        sa.Column("workspace", TEXT, nullable=False),
        sa.Column("store", TEXT, nullable=False),
        sa.Column("job", TEXT, nullable=True),
        sa.Column("followed_seq", sa.BigInteger(), nullable=True),
        sa.Column("lost", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(["workspace"], ["workspaces.id"], name="fk_rebuilds_workspace_workspaces"),
        sa.ForeignKeyConstraint(["job"], ["jobs.id"], name="fk_rebuilds_job_jobs"),
        sa.PrimaryKeyConstraint("workspace", "store", name="pk_rebuilds"),
    )
    op.create_table(
        "part_vectors",
        sa.Column("part", TEXT, nullable=False),
        sa.Column("model", TEXT, nullable=False),
        sa.Column("job", TEXT, nullable=False),
        sa.Column("blob", TEXT, nullable=False),
        sa.ForeignKeyConstraint(["job"], ["jobs.id"], name="fk_part_vectors_job_jobs"),
        sa.PrimaryKeyConstraint("part", "model", name="pk_part_vectors"),
    )
    op.create_index("ix_part_vectors_job", "part_vectors", ["job"], unique=False)
    op.create_index("ix_part_vectors_blob", "part_vectors", ["blob"], unique=False)
