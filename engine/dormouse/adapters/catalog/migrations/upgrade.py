"""Bring a catalog's schema to this version's, inside the caller's transaction."""

from pathlib import Path

from alembic import command
from alembic.config import Config
from alembic.util import CommandError
from sqlalchemy import Connection

from dormouse.errors import MisconfiguredError


def upgrade(connection: Connection) -> None:
    """Raises `MisconfiguredError` when a later version of Dormouse made this catalog."""
    config = Config()
    config.set_main_option("script_location", str(Path(__file__).parent).replace("%", "%%"))
    config.attributes["connection"] = connection
    try:
        command.upgrade(config, "head")
    except CommandError as exc:
        raise MisconfiguredError(
            "the catalog was made by a later version; run that version, or restore an older backup"
        ) from exc
