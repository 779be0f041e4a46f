from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.contract.language_model.scripted_server import ScriptedServer
from tests.contract.program import Program


@pytest.fixture
def scripted() -> Iterator[ScriptedServer]:
    with ScriptedServer().running() as server:
        yield server


@pytest.fixture
def program_with(tmp_path: Path) -> Callable[..., Program]:
    """Dormouse on a folder of its own; whatever environment is given is added."""

    def made(**environment: str) -> Program:
        return Program(tmp_path / "memory", environment)

    return made
