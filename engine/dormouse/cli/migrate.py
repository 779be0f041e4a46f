"""`dormouse migrate`: the catalog's tables in PostgreSQL, brought to this version's."""

import os

from dormouse.adapters.catalog.postgresql_url import is_postgresql
from dormouse.adapters.catalog.transaction import SqlCatalog
from dormouse.cli.terminal import say
from dormouse.errors import MisconfiguredError
from dormouse.server_settings import ServerSettings
from dormouse.settings import read


async def migrate() -> int:
    """Returns the exit code."""
    settings = read(ServerSettings, os.environ)
    url = settings.database.url.get_secret_value()
    if not is_postgresql(url):
        raise MisconfiguredError(
            "DORMOUSE_DATABASE__URL must be set, to postgresql://user:password@host:5432/database",
            setting="DATABASE__URL",
        )
    catalog = SqlCatalog(url, connections=1)
    try:
        await catalog.migrate()
        await catalog.check()
    finally:
        await catalog.close()
    say("The catalog's tables are this version's.")
    return 0
