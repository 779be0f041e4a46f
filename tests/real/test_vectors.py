"""The vectors' suites, as they are, on the stand-in for a Qdrant server."""

from tests.real.suites import taken_over

SUITES = ["test_vector_store", "test_vector_upkeep", "test_vector_collections", "test_nomination"]

globals().update(taken_over([f"tests.contract.ports.{name}" for name in SUITES]))
