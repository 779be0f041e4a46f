"""Seeded chats and notes of any number, and vectors for them that cost nothing.

Words are made of syllables and drawn as often as words are in speech, so terms have the frequencies that make
a search dear. Vectors are drawn by the text's own hash: no search here finds anything worth reading, but each
compares as many numbers as a real one would. Questions are embedded by the real model.
"""

import json
import zlib
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from functools import cache
from importlib import resources
from random import Random

import numpy as np

from dormouse.model.document import Content, ContentKind
from dormouse.ports.embedder import EmbeddedQuery, EmbeddedText, Embedder

SEED = 20261130
VOCABULARY = 30_000
TURNS_PER_CHAT, WORDS_PER_TURN, BYTES_PER_TURN = 70, 24, 13 * 48
CHUNKS_PER_NOTE, WORDS_PER_CHUNK, BYTES_PER_CHUNK = 30, 120, 37 * 48
PASSAGES_PER_PAIR = TURNS_PER_CHAT + CHUNKS_PER_NOTE
_SPEAKERS = ("Anna", "Bertrand", "Chidi", "Dolores", "Emeka", "Farida", "Goran", "Hanako")
_SYLLABLES = [consonant + vowel for consonant in "bdfgklmnprstvz" for vowel in "aeiou"]


class SeededEmbedder:
    """Passages by their hash, questions by the real model."""

    def __init__(self, real: Embedder) -> None:
        self._real = real
        self.model, self.dimension = real.model, real.dimension

    async def embed_passages(self, texts: Sequence[str]) -> Sequence[EmbeddedText]:
        return [self._drawn(text) for text in texts]

    async def embed_query(self, text: str) -> EmbeddedQuery:
        return await self._real.embed_query(text)

    async def close(self) -> None:
        await self._real.close()

    def _drawn(self, text: str) -> EmbeddedText:
        draw = np.random.default_rng(zlib.crc32(text.encode()))
        dense = draw.standard_normal(self.dimension, dtype=np.float32)
        is_turn = len(text.split()) < WORDS_PER_CHUNK // 2
        tokens = draw.bytes(BYTES_PER_TURN if is_turn else BYTES_PER_CHUNK)
        return EmbeddedText((dense / np.linalg.norm(dense)).astype(np.float16), tokens)


def contents(passages: int) -> Iterator[Content]:
    """About `passages` of them: seven turns of chats to three chunks of notes."""
    words = _Words(Random(SEED))
    began = datetime(2024, 1, 1, 9, tzinfo=UTC)
    for number in range(max(1, passages // PASSAGES_PER_PAIR)):
        pair = words.draw.sample(_SPEAKERS, 2)
        turns = [
            {
                "id": f"{number}-{turn}",
                "time": (began + timedelta(hours=number, minutes=turn)).isoformat(),
                "speaker": pair[turn % 2],
                "text": words.sentence(WORDS_PER_TURN),
            }
            for turn in range(TURNS_PER_CHAT)
        ]
        yield Content(body=json.dumps(turns).encode(), kind=ContentKind.CHAT)
        note = "\n\n".join(words.paragraph(WORDS_PER_CHUNK) for _ in range(CHUNKS_PER_NOTE))
        yield Content(body=note.encode())


def lines(count: int, *, seed: int = SEED) -> list[str]:
    """One-line notes, all different, to be embedded by the real model."""
    words = _Words(Random(seed), plain=True)
    return [words.sentence(WORDS_PER_TURN) for _ in range(count)]


def document(words: int, *, seed: int = SEED) -> str:
    """Prose in paragraphs, to be embedded by the real model."""
    drawn = _Words(Random(seed), plain=True)
    return "\n\n".join(drawn.paragraph(WORDS_PER_CHUNK) for _ in range(words // WORDS_PER_CHUNK))


def questions(count: int) -> list[str]:
    """With as many tokens as real ones: each of these words is cut into about four."""
    words = _Words(Random(SEED + 1))
    draw = words.draw
    return [
        f"{draw.choice(('When did', 'What did', 'Where did'))} {draw.choice(_SPEAKERS)} say that "
        f"{words.sentence(draw.randint(1, 3)).lower().rstrip('.')}?"
        for _ in range(count)
    ]


class _Words:
    """`plain`: of ten words nine are in the model's own vocabulary, so a word has 1.3 tokens, as in English."""

    def __init__(self, draw: Random, *, plain: bool = False) -> None:
        self.draw = draw
        shaper = Random(SEED)  # one vocabulary for what is remembered and what is asked
        self._all = ["".join(shaper.choices(_SYLLABLES, k=shaper.randint(2, 4))) for _ in range(VOCABULARY)]
        if plain:
            known = _known_words()
            self._all[: len(known)] = [
                shaper.choice(self._all) if n % 10 == 9 else w for n, w in enumerate(known)
            ]
        self._odds = list(np.cumsum(1.0 / (np.arange(VOCABULARY) + 10.0)))

    def sentence(self, length: int) -> str:
        chosen = self.draw.choices(self._all, cum_weights=self._odds, k=length)
        return f"{' '.join(chosen).capitalize()}."

    def paragraph(self, length: int) -> str:
        return " ".join(self.sentence(12) for _ in range(length // 12))


@cache
def _known_words() -> list[str]:
    """Words that the model does not cut, the most frequent first."""
    stored = resources.files("dormouse.adapters.embedder").joinpath("tokenizer.json").read_bytes()
    words = sorted((number, word) for word, number in json.loads(stored)["model"]["vocab"].items())
    return [word for _, word in words if word.isascii() and word.isalpha() and len(word) > 1]
