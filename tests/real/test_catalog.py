"""The catalog's suites, as they are, on PostgreSQL; all but the one about a file."""

from pathlib import Path

from tests.contract import ports
from tests.real.suites import taken_over

SUITES = sorted(path.stem for path in Path(next(iter(ports.__path__))).glob("test_catalog_*.py"))

globals().update(
    taken_over([f"tests.contract.ports.{name}" for name in SUITES if name != "test_catalog_files"])
)
