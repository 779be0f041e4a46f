from pathlib import Path

from alembic.config import Config
from alembic.script import ScriptDirectory

from dormouse.adapters.catalog.migrations import upgrade


def test_the_revision_that_spares_a_start_the_migration_is_the_newest() -> None:
    config = Config()
    config.set_main_option("script_location", str(Path(upgrade.__file__).parent))

    assert ScriptDirectory.from_config(config).get_current_head() == upgrade.HEAD
