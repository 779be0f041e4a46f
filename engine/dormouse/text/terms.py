"""Text to terms, and terms to BM25 weights: the document's half here, the query's half at query time.

A term is a 32-bit hash of a normalised, stemmed word, so that no store or statistic keeps words. Scripts
written without spaces give overlapping pairs of characters. A document's weight has saturation and length
in it but no document frequency; a query's weight is the document frequency alone, merged over exactly the
datasets the caller may read. Source: retrieval, "Indexed units".

Both halves are whole numbers of a power of two, few enough that a score, which is a sum of their products, is
exact in 32-bit floats. An index adds them in an order that depends on what else it holds; with rounding in
the sum, what a caller may not read would move the last bit of a score, and by it the order of equals.
"""

import math
import re
import threading
import unicodedata
from collections import Counter
from collections.abc import Iterator, Mapping
from functools import lru_cache
from hashlib import blake2b

import snowballstemmer  # type: ignore[import-untyped]  # ships no types

from dormouse.ids import TermId
from dormouse.model.passage import PassageKind
from dormouse.ports.catalog.terms import TermCounts
from dormouse.text.stop_words import stop_words

LONGEST_STEMMED = 40  # characters; what is longer is a hash, a path or noise

# Averages are constants: a weight stored today must compare with one stored next year.
TURN_K1, TURN_B, TURN_AVERAGE = 0.9, 0.4, 16.0
CHUNK_K1, CHUNK_B, CHUNK_AVERAGE = 1.2, 0.75, 70.0
WINDOW_AVERAGE = 48.0
WEIGHT_UNIT = 2.0**-9  # of a document's weight: a part in two thousand of the largest
# A 32-bit float holds whole numbers up to 2^24. A document's weight is below k1 + 1, so a query's may have:
MOST_QUERY_UNITS = int(2**24 / ((CHUNK_K1 + 1.0) / WEIGHT_UNIT))
LONGEST_TURN = 45  # terms; a longer message is written like a document and weighed like a chunk

_ALGORITHMS = {
    "": "english", "ar": "arabic", "ca": "catalan", "cs": "czech", "da": "danish", "de": "german",
    "el": "greek", "en": "english", "es": "spanish", "et": "estonian", "eu": "basque", "fa": "persian",
    "fi": "finnish", "fr": "french", "ga": "irish", "hi": "hindi", "hu": "hungarian", "hy": "armenian",
    "id": "indonesian", "it": "italian", "lt": "lithuanian", "nl": "dutch", "no": "norwegian",
    "pl": "polish", "pt": "portuguese", "ro": "romanian", "ru": "russian", "sr": "serbian",
    "sv": "swedish", "tr": "turkish",
}  # fmt: skip

# Python's \w knows no combining marks, and Indic, Arabic and Hebrew words are written with them.
_MARKS = (
    r"\u0300-\u036f\u0483-\u0487\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u0610-\u061a\u064b-\u065f\u0670"
    r"\u06d6-\u06dc\u06df-\u06e8\u06ea-\u06ed\u0900-\u0963\u0966-\u0dff"
)
_UNSPACED = (
    r"\u0e01-\u0e3a\u0e40-\u0e4e\u0e81-\u0ecd\u1000-\u109f\u1780-\u17d3"  # Thai, Lao, Burmese, Khmer
    r"\u3005\u3041-\u3096\u30a1-\u30fa\u30fc\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
    r"\U00020000-\U000323af"
)
_PICTURES = r"\u2600-\u27bf\u2b00-\u2bff\U0001f000-\U0001f1e5\U0001f200-\U0001f3fa\U0001f400-\U0001faff"
_TOKEN = re.compile(
    rf"(?P<unspaced>[{_UNSPACED}]+)"
    rf"|(?P<picture>[\U0001f1e6-\U0001f1ff]{{2}}|[{_PICTURES}])"
    rf"|(?P<word>(?:(?![{_UNSPACED}])[^\W_]|[{_MARKS}])+)"
)
_ARABIC_VOWELS = re.compile(r"[\u0610-\u061a\u0640\u064b-\u065f\u0670\u06d6-\u06ed]")

_stemmers = threading.local()  # a stemmer keeps state while it works, so threads cannot share one


def terms(text: str, language: str) -> Counter[TermId]:
    """How often each term occurs. `language` is ISO 639-1, "" unknown, which is stemmed as English."""
    return Counter(_term_ids(text, language))


def query_terms(text: str, language: str) -> Counter[TermId]:
    """Like `terms`, in the detected language and as unknown: short passages are indexed as unknown."""
    return terms(text, language) | terms(text, "")


def words(text: str) -> list[str]:
    """Normalised words in order, stop words included: the tokens before stemming."""
    return [match.group() for match in _TOKEN.finditer(_normal(text))]


def bm25_weights(
    counts: Mapping[TermId, int], length: int, kind: PassageKind, *, is_window: bool = False
) -> dict[TermId, float]:
    """The document's half of BM25; `length` is the number of terms, repetitions included."""
    is_turn = kind is PassageKind.TURN and (is_window or length <= LONGEST_TURN)
    k1, b = (TURN_K1, TURN_B) if is_turn else (CHUNK_K1, CHUNK_B)
    average = WINDOW_AVERAGE if is_window else TURN_AVERAGE if is_turn else CHUNK_AVERAGE
    shift = k1 * (1.0 - b + b * length / average)
    return {term: _whole(count * (k1 + 1.0) / (count + shift), WEIGHT_UNIT) for term, count in counts.items()}


def query_weights(counts: Mapping[TermId, int], statistics: TermCounts) -> dict[TermId, float]:
    """The query's half: inverse document frequency, over the readable datasets only."""
    weights = {
        term: count * _rarity(statistics.frequencies.get(term, 0), statistics.passages)
        for term, count in counts.items()
    }
    unit = _query_unit(weights)
    return {term: _whole(weight, unit) for term, weight in weights.items()}


def _query_unit(weights: Mapping[TermId, float]) -> float:
    """The smallest power of two of which all weights together have no more than fit."""
    # Rounding adds at most one for each; a query with more terms than fit would only lose the exactness.
    room = max(MOST_QUERY_UNITS // 8, MOST_QUERY_UNITS - len(weights))
    return 2.0 ** math.ceil(math.log2(sum(weights.values()) / room)) if weights else 1.0


def _whole(weight: float, unit: float) -> float:
    """Never nothing: what shares a term with a query is found by it."""
    return max(1, round(weight / unit)) * unit


def _rarity(frequency: int, passages: int) -> float:
    known = max(passages, frequency)
    return math.log(1.0 + (known - frequency + 0.5) / (frequency + 0.5))


def _term_ids(text: str, language: str) -> Iterator[TermId]:
    unwanted = stop_words(language)
    for match in _TOKEN.finditer(_normal(text)):
        token = match.group()
        if match.lastgroup == "unspaced":
            yield from (_hash(pair) for pair in _pairs(token))
        elif match.lastgroup == "picture":
            yield _hash(token)
        elif token not in unwanted:
            yield _word_id(token, language if language in _ALGORITHMS else "-")


def _normal(text: str) -> str:
    folded = unicodedata.normalize("NFKC", text).casefold()
    return _ARABIC_VOWELS.sub("", unicodedata.normalize("NFC", folded).replace("’", "'"))


def _pairs(run: str) -> Iterator[str]:
    if len(run) == 1:
        yield run
    for i in range(len(run) - 1):
        yield run[i : i + 2]


@lru_cache(maxsize=1 << 16)
def _word_id(word: str, language: str) -> TermId:
    return _hash(_stemmed(word, language))


def _stemmed(word: str, language: str) -> str:
    if language == "-" or len(word) > LONGEST_STEMMED or any(letter.isdigit() for letter in word):
        return word
    stemmer = getattr(_stemmers, language or "unknown", None)
    if stemmer is None:
        stemmer = snowballstemmer.stemmer(_ALGORITHMS[language])
        setattr(_stemmers, language or "unknown", stemmer)
    return str(stemmer.stemWord(word))


@lru_cache(maxsize=1 << 16)
def _hash(term: str) -> TermId:
    digest = blake2b(term.encode("utf-8", "surrogatepass"), digest_size=4).digest()
    return TermId(int.from_bytes(digest, "little"))
