from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.contract.program import Program


@pytest.fixture
def program(tmp_path: Path) -> Iterator[Program]:
    """A folder whose name has a space in it; the server that a command left behind is killed."""
    program = Program(tmp_path / "data folder")
    yield program
    program.end()
