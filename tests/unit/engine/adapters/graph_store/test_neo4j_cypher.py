"""What can be told of the statements without a server; tests/real runs them."""

import re

import pytest

from dormouse.adapters.graph_store import neo4j_cypher as cypher
from dormouse.model.change import Erasure
from tests.builders import A_DATASET, A_DOCUMENT

MEANINGS = [
    Erasure(A_DATASET, below_generation=1),
    Erasure(A_DATASET, A_DOCUMENT),
    Erasure(A_DATASET, A_DOCUMENT, first_revision=2),
    Erasure(A_DATASET, A_DOCUMENT, last_revision_below=2),
]


@pytest.mark.parametrize("what", MEANINGS)
def test_no_value_of_an_erasure_stands_in_its_statements(what: Erasure) -> None:
    made = cypher.erasure_statements(what)

    for statement in (*made.erase, made.matching, made.count):
        assert A_DATASET not in statement
        assert A_DOCUMENT not in statement
        assert re.findall(r"\{\d\}", statement) == []


@pytest.mark.parametrize("what", MEANINGS)
def test_an_erasure_never_leaves_its_workspace_and_dataset(what: Erasure) -> None:
    for statement in cypher.erasure_statements(what).erase:
        first_match = statement.partition(" WITH ")[0]
        assert "workspace = $workspace" in first_match
        assert "dataset = $dataset" in first_match


def test_every_read_asks_for_the_workspace_and_the_readable_datasets() -> None:
    answers = [
        text for text in vars(cypher).values() if isinstance(text, str) and "AS is_partial, rows" in text
    ]

    reads = [text for text in answers if text != cypher.LAST_APPLIED]
    assert len(reads) > 12
    assert [text for text in reads if "$workspace" not in text or "$readable" not in text] == []
