"""One server for all tests of this folder; each uses a dataset of its own."""

from collections.abc import Iterator

import httpx
import pytest

from tests.contract.program import Program


@pytest.fixture(scope="session")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Program]:
    program = Program(tmp_path_factory.mktemp("rest") / "data folder")
    with program.serving():
        yield program


@pytest.fixture
def client(served: Program) -> Iterator[httpx.Client]:
    with served.client() as client:
        yield client


@pytest.fixture
def dataset(request: pytest.FixtureRequest) -> str:
    """A name that no other test uses."""
    return str(request.node.name)[:100].replace(",", " ")
