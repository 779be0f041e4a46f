"""From the bundled model to an endpoint's and back, in the real server, with derived memories in it."""

from collections.abc import Callable

import httpx

from tests.contract.language_model.scripted_server import ScriptedServer
from tests.contract.language_model.test_enrichment import NOTE, ended, remember
from tests.contract.program import Program

CHUNKS = {"query": "vault code", "searchType": "CHUNKS"}


def found(client: httpx.Client) -> list[str]:
    reply = client.post("/api/v1/recall", json=CHUNKS)
    assert "X-Dormouse-Degraded" not in reply.headers
    return [hit["text"] for hit in reply.json()]


def test_a_memory_moves_to_an_endpoint_and_back(
    scripted: ScriptedServer, program_with: Callable[..., Program]
) -> None:
    bundled = program_with(**scripted.environment)
    with bundled.serving(), bundled.client() as client:
        assert ended(client, remember(client)["id"])["counts"]["derived"] == 1
    there = program_with(**scripted.embedding_environment)
    with there.serving(), there.client() as client:
        asked = len(scripted.embeddings)
        assert found(client) == [NOTE]  # by the former model
        assert len(scripted.embeddings) == asked
        said = there.run("status")
        assert (said.returncode, "warning: another embedding model" in said.stderr) == (0, True)
        migrated = there.run("migrate-embedding", "--yes")
        embedded = [text for each in scripted.embeddings[asked:] for text in each["input"]]
        asked = len(scripted.embeddings)
        assert found(client) == [NOTE]
        assert len(scripted.embeddings) > asked
        assert client.get("/api/v1/audit").json()["findings"] == []
        assert client.get("/api/v1/status").json()["warnings"] == []
    assert migrated.returncode == 0, migrated.stderr
    assert len([text for text in embedded if NOTE in text]) == 2  # what was said, and what was derived from it

    with there.serving(), there.client() as client:
        assert (there.run("rebuild", "--yes").returncode, found(client)) == (0, [NOTE])
    back = program_with()
    try:
        migrated = back.run("migrate-embedding", "--yes")
        with back.client() as client:
            assert found(client) == [NOTE]
    finally:
        back.end()

    assert migrated.returncode == 0, migrated.stderr


def test_a_migration_asked_for_without_a_server_goes_to_the_configured_endpoint(
    scripted: ScriptedServer, program_with: Callable[..., Program]
) -> None:
    bundled = program_with()
    with bundled.serving(), bundled.client() as client:
        remember(client)
    there = program_with(**scripted.embedding_environment)
    try:
        migrated = there.run("migrate-embedding", "--yes")
        with there.client() as client:
            asked = len(scripted.embeddings)
            assert found(client) == [NOTE]
            assert len(scripted.embeddings) > asked
    finally:
        there.end()

    assert migrated.returncode == 0, migrated.stderr
