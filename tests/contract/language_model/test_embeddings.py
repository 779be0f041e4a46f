"""Vectors from an endpoint in the real server; the scripted server counts letters instead of understanding."""

from collections.abc import Callable

from tests.contract.language_model.scripted_server import ScriptedServer
from tests.contract.language_model.test_enrichment import NOTE, remember
from tests.contract.program import Program

CHUNKS = {"query": "vault code", "searchType": "CHUNKS"}


def test_an_endpoint_embeds_and_its_model_stays_the_folders_own(
    scripted: ScriptedServer, program_with: Callable[..., Program]
) -> None:
    program = program_with(**scripted.embedding_environment)
    with program.serving(), program.client() as client:
        remember(client)
        (hit,) = client.post("/api/v1/recall", json=CHUNKS).json()
    learnt = len(scripted.embeddings)

    scripted.script.answers_embeddings = False
    with program.serving(), program.client() as client:
        reply = client.post("/api/v1/recall", json=CHUNKS)
        (by_words,) = reply.json()

    assert (hit["text"], by_words["text"]) == (NOTE, NOTE)
    assert learnt >= 3
    assert reply.headers["X-Dormouse-Degraded"] == "embedder"
    refused = program_with().run("serve", "--port", "0")
    assert refused.returncode != 0
    assert "dormouse migrate-embedding" in refused.stderr


def test_a_first_start_without_the_endpoint_says_what_it_needs(program_with: Callable[..., Program]) -> None:
    elsewhere = {
        "DORMOUSE_EMBEDDING__BASE_URL": "http://127.0.0.1:9/v1",
        "DORMOUSE_EMBEDDING__MODEL": "away",
    }

    refused = program_with(**elsewhere).run("serve", "--port", "0")

    assert refused.returncode != 0
    assert "the embedding endpoint does not answer" in refused.stderr
