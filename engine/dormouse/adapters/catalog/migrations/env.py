"""Alembic's entry: run the migrations on the connection that `upgrade` hands over."""

from alembic import context

from dormouse.adapters.catalog.tables import metadata

context.configure(connection=context.config.attributes["connection"], target_metadata=metadata)
with context.begin_transaction():
    context.run_migrations()
