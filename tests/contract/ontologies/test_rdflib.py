"""The reader's process: what it reads, and how it ends what would not end."""

import pytest

from dormouse.adapters.ontology_reader.rdflib import RdflibOntologyReader
from dormouse.errors import UnreadableDocumentError
from dormouse.model.ontology import MAX_STATEMENTS, Term

PREFIX = "http://www.w3.org/2002/07/owl#"


async def test_a_file_becomes_terms() -> None:
    content = f"<http://a/x#Cup> a <{PREFIX}Class> . <http://a/x#Mine> a <http://a/x#Cup> .".encode()

    ontology = await RdflibOntologyReader().read(content, "cups.ttl")

    assert ontology.terms == (
        Term("http://a/x#Cup", "Cup", ("Cup",), is_class=True),
        Term("http://a/x#Mine", "Mine", ("Mine",), is_class=False, broader=("http://a/x#Cup",)),
    )


@pytest.mark.parametrize(
    ("content", "name", "words"),
    [
        (b"{}", "a.jsonld", "must be RDF/XML, Turtle or N-Triples"),
        (b"<html>", "a.owl", "damaged"),
        (b'<!DOCTYPE a SYSTEM "http://127.0.0.1:9/"><a/>', "a.owl", "asks for other files"),
        (b"", "a.ttl", "declares no class"),
    ],
)
async def test_a_refusal_says_why_and_quotes_nothing(content: bytes, name: str, words: str) -> None:
    with pytest.raises(UnreadableDocumentError, match=words):
        await RdflibOntologyReader().read(content, name)


async def test_too_many_statements_are_refused() -> None:
    lines = (f"<http://a/{n}> <{PREFIX}x> <http://a/y> ." for n in range(MAX_STATEMENTS + 1))

    with pytest.raises(UnreadableDocumentError, match="may hold"):
        await RdflibOntologyReader().read("\n".join(lines).encode(), "a.nt")


async def test_what_takes_too_long_is_ended() -> None:
    with pytest.raises(UnreadableDocumentError, match="memory or time"):
        await RdflibOntologyReader(wall_limit_s=0.01).read(b"", "a.ttl")
