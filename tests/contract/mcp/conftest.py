"""One server of the real program for the tests of a module, and the recordings."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.contract.program import Program

RECORDED = Path(__file__).parents[1] / "recorded"


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Program:
    return Program(tmp_path_factory.mktemp("memory"))


@pytest.fixture(scope="module")
def url(program: Program) -> Iterator[str]:
    with program.serving() as address:
        yield address


@pytest.fixture(scope="session")
def recorded() -> dict[str, Any]:
    found: dict[str, Any] = json.loads((RECORDED / "graph_mcp.json").read_text(encoding="utf-8"))
    return found


@pytest.fixture(scope="session")
def recorded_probes() -> dict[str, dict[str, Any]]:
    """By case, without the prefix that tells how the reference was started."""
    rows = json.loads((RECORDED / "graph_transport.json").read_text(encoding="utf-8"))["http_transport"]
    return {row["case"]: row for row in rows}
