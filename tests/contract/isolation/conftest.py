"""The real model once for the suite, remembering what it was asked."""

import pytest

from dormouse.adapters.embedder.onnx import OnnxEmbedder
from tests.contract.isolation.memoised import MemoisedEmbedder


@pytest.fixture(scope="session")
def embedder() -> MemoisedEmbedder:
    return MemoisedEmbedder(OnnxEmbedder(threads=1))
