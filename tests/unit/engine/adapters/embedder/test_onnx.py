"""On the real bundled model; texts are few and short."""

from collections.abc import AsyncIterator

import numpy as np
import pytest

from dormouse.adapters.embedder.onnx import BATCH_TOKENS, DIMENSION, OnnxEmbedder, batches, pack
from dormouse.errors import EmbedderUnavailableError
from dormouse.model.passage import TOKEN_VECTOR_BYTES
from dormouse.ports.embedder import Embedder


@pytest.fixture
async def embedder() -> AsyncIterator[Embedder]:
    loaded = OnnxEmbedder()
    yield loaded
    await loaded.close()


def cosine(one: np.ndarray, other: np.ndarray) -> float:
    return float(one.astype(np.float32) @ other.astype(np.float32))


async def test_meaning_is_nearer_than_words(embedder: Embedder) -> None:
    query = await embedder.embed_query("Who looks after pets?")
    near, far = await embedder.embed_passages(
        ["She feeds the neighbour's cat.", "The after party looks great."]
    )

    assert cosine(query.dense, near.dense) > cosine(query.dense, far.dense)


async def test_every_text_has_a_unit_vector_and_whole_token_vectors(embedder: Embedder) -> None:
    texts = ["A cat.", "", "yes I do", "?!", "我喜欢北京烤鸭", "🎉", "\ud800 alone", "word " * 2000]

    embedded = await embedder.embed_passages(texts)

    assert [len(each.dense) for each in embedded] == [DIMENSION] * len(texts)
    assert [float(np.linalg.norm(each.dense.astype(np.float32))) for each in embedded] == pytest.approx(
        [1.0] * len(texts), abs=1e-2
    )
    assert all(len(each.tokens) % TOKEN_VECTOR_BYTES == 0 for each in embedded)
    assert [bool(each.tokens) for each in embedded][:4] == [True, False, True, False]


async def test_order_is_kept_however_texts_are_batched(embedder: Embedder) -> None:
    texts = [
        "A long sentence about the weather in the mountains of Norway.",
        "Cat.",
        "Bread and butter, please.",
    ]

    together = await embedder.embed_passages(texts)
    alone = [(await embedder.embed_passages([text]))[0] for text in texts]

    assert all(cosine(one.dense, other.dense) > 0.97 for one, other in zip(together, alone, strict=True))


async def test_stop_words_of_a_query_count_a_tenth(embedder: Embedder) -> None:
    query = await embedder.embed_query("Where is the cat?")

    assert query.token_weights.tolist() == pytest.approx([0.1, 0.1, 0.1, 1.0])
    assert np.linalg.norm(query.tokens, axis=1) == pytest.approx([1.0] * 4, abs=1e-4)


async def test_a_closed_embedder_says_so() -> None:
    closed = OnnxEmbedder()
    await closed.close()

    with pytest.raises(EmbedderUnavailableError):
        await closed.embed_query("anything")


def test_neighbours_share_a_vector_and_a_last_one_keeps_its_own() -> None:
    states = np.random.default_rng(1).standard_normal((3, DIMENSION)).astype(np.float32)
    unit = states / np.linalg.norm(states, axis=1, keepdims=True)

    signs = np.unpackbits(np.frombuffer(pack(states), dtype=np.uint8)).reshape(2, DIMENSION)

    assert (signs[0] == (unit[0] + unit[1] > 0)).all()
    assert (signs[1] == (states[2] > 0)).all()


def test_batches_hold_every_text_once_and_are_bounded() -> None:
    lengths = [300, 5, 7, 2000, 5, 300, 5000]

    groups = batches(lengths)

    assert sorted(i for group in groups for i in group) == list(range(len(lengths)))
    assert all(
        len(group) == 1 or max(lengths[i] for i in group) * len(group) <= BATCH_TOKENS for group in groups
    )
