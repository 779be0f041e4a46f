"""Bring a catalog's schema to this version's, inside the caller's transaction."""

from pathlib import Path

from sqlalchemy import Connection, inspect, text

from dormouse.errors import MisconfiguredError

HEAD = "0002"  # the newest revision in `versions`; a test compares


def upgrade(connection: Connection) -> None:
    """Raises `MisconfiguredError` when a later version of Dormouse made this catalog."""
    if stored_revision(connection) != HEAD:
        _migrate(connection)


def stored_revision(connection: Connection) -> str | None:
    """None for a catalog that was never migrated."""
    if not inspect(connection).has_table("alembic_version"):
        return None
    found = connection.execute(text("SELECT version_num FROM alembic_version")).scalar()
    return None if found is None else str(found)


def _migrate(connection: Connection) -> None:
    # Imported only when there is something to do: Alembic is a third of the time a start takes.
    from alembic import command
    from alembic.config import Config
    from alembic.util import CommandError

    config = Config()
    config.set_main_option("script_location", str(Path(__file__).parent).replace("%", "%%"))
    config.attributes["connection"] = connection
    try:
        command.upgrade(config, "head")
    except CommandError as exc:
        raise MisconfiguredError(
            "the catalog was made by a later version; run that version, or restore an older backup"
        ) from exc
