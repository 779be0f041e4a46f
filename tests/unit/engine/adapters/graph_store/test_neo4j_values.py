from dormouse.adapters.graph_store import neo4j_cypher as cypher
from dormouse.adapters.graph_store.neo4j_values import claim_key, upserts
from dormouse.ids import EntityId
from dormouse.model.memory import Claim
from dormouse.ports.graph_store import GraphRows
from tests.builders import A_WORKSPACE, a_passage
from tests.contract.ports.store_samples import a_fence, a_version


def test_a_claim_is_looked_up_by_a_key_of_one_length_that_tells_its_parts_apart() -> None:
    assert len(claim_key("x" * 100_000, "lives_in")) == len(claim_key("", "")) == 64
    assert claim_key("ab", "c") != claim_key("a", "bc")


def test_a_memorys_entities_are_mentioned_by_its_passage_and_rows_carry_their_change() -> None:
    passage = a_passage()
    version = a_version(passage, entities=(EntityId("e"),), claim=Claim("ada", "lives_in", "london"))

    found = dict(upserts(a_fence(7), GraphRows(passages=(passage,), versions=(version,), closed={"v": 9})))

    (row,) = found[cypher.UPSERT_VERSIONS]
    assert (row["seq"], row["workspace"], row["claim"]) == (7, A_WORKSPACE, claim_key("ada", "lives_in"))
    assert found[cypher.UPSERT_PASSAGES][0]["seq"] == 7
    assert found[cypher.INSERT_MENTIONS] == [["e", passage.id]]
    assert found[cypher.CLOSE_VERSIONS] == [["v", 9]]
