"""The graph's suites, as they are, on a real Neo4j."""

from tests.real.suites import taken_over

globals().update(
    taken_over(["tests.contract.ports.test_graph_store", "tests.contract.ports.test_graph_upkeep"])
)
