"""The same model as the short suite's, once in each process that tests."""

from tests.contract.isolation.conftest import embedder

__all__ = ["embedder"]
