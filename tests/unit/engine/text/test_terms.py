from collections import Counter
from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dormouse.ids import TermId
from dormouse.model.passage import PassageKind
from dormouse.ports.catalog.terms import TermCounts
from dormouse.text.language import detect_language
from dormouse.text.terms import CHUNK_K1, WEIGHT_UNIT, bm25_weights, query_terms, query_weights, terms, words


@pytest.mark.parametrize(
    ("passage", "query"),
    [
        ("我昨天在北京吃了烤鸭", "北京烤鸭"),
        ("東京へ行きました", "東京"),
        ("ذهبت إلى القاهرة أمس", "القاهرة"),
        ("مَدْرَسَة", "مدرسة"),
        ("Tôi thích ăn phở ở Hà Nội", "phở Hà Nội"),
        ("मुझे दिल्ली पसंद है", "दिल्ली"),
        ("ฉันรักกรุงเทพ", "กรุงเทพ"),
        ("We won 🎉🚀", "🚀"),
        ("greetings from 🇩🇪🇫🇷", "🇫🇷"),
        ("Die Städte sind schön und wir waren dort", "Stadt Städten"),
        ("\ud800 broken surrogate", "broken"),
        ("ﬁle in ＦＵＬＬ width", "file full"),
    ],
)
def test_a_text_shares_terms_with_a_query_for_it_in_every_script(passage: str, query: str) -> None:
    shared = terms(passage, detect_language(passage)).keys() & query_terms(query, detect_language(query)).keys()

    assert shared


def test_stop_words_are_no_terms() -> None:
    assert terms("It was the one that they had been to", "en") == Counter()


def test_inflections_meet_in_one_term() -> None:
    assert terms("painted", "en") == terms("painting", "en") == terms("paints", "")


def test_words_that_people_ask_about_are_no_stop_words() -> None:
    assert len(terms("fire room young computer research system", "en")) == 6


def test_combining_marks_stay_inside_their_word() -> None:
    assert words("हिन्दी भाषा") == ["हिन्दी", "भाषा"]


@given(st.text(), st.sampled_from(["", "en", "de", "zh", "ar", "vi", "xx"]))
def test_any_text_gives_32_bit_terms(text: str, language: str) -> None:
    assert all(0 <= term < 2**32 and count > 0 for term, count in terms(text, language).items())


@given(st.text(max_size=50), st.text(max_size=50))
def test_terms_of_two_lines_are_those_of_both(one: str, other: str) -> None:
    assert terms(f"{one}\n{other}", "en") == terms(one, "en") + terms(other, "en")


@given(st.dictionaries(st.integers(0, 9).map(TermId), st.integers(1, 4), min_size=1))
def test_more_of_a_term_weighs_more_but_never_beyond_saturation(counts: dict[TermId, int]) -> None:
    length = sum(counts.values())
    for kind, most in ((PassageKind.TURN, 1.9), (PassageKind.CHUNK, 2.2)):
        weights = bm25_weights(counts, length, kind)
        by_count = sorted(counts, key=lambda term: counts[term])

        assert all(0 < weight < most for weight in weights.values())
        assert [weights[term] for term in by_count] == sorted(weights.values())


def test_a_longer_passage_dilutes_its_terms() -> None:
    short = bm25_weights({TermId(1): 1}, 10, PassageKind.CHUNK)
    long = bm25_weights({TermId(1): 1}, 200, PassageKind.CHUNK)

    assert short[TermId(1)] > long[TermId(1)]


def test_a_long_message_is_weighed_like_a_chunk() -> None:
    assert bm25_weights({TermId(1): 2}, 80, PassageKind.TURN) == bm25_weights(
        {TermId(1): 2}, 80, PassageKind.CHUNK
    )


def test_a_rare_term_weighs_more_in_a_query() -> None:
    rare, common, unseen = TermId(1), TermId(2), TermId(3)

    weights = query_weights({rare: 1, common: 1, unseen: 1}, TermCounts(100, {rare: 1, common: 90}))

    assert weights[unseen] > weights[rare] > weights[common] > 0


def test_without_statistics_all_terms_weigh_the_same_and_count() -> None:
    weights = query_weights({TermId(1): 1, TermId(2): 1}, TermCounts(0, {}))

    assert weights[TermId(1)] == weights[TermId(2)] > 0


@given(
    st.dictionaries(st.integers(0, 99).map(TermId), st.integers(1, 200), min_size=1),
    st.dictionaries(st.integers(0, 99).map(TermId), st.integers(0, 1000)),
    st.integers(0, 100_000),
    st.randoms(use_true_random=False),
)
def test_a_score_is_the_same_to_the_last_bit_in_whatever_order_it_is_added(
    counts: dict[TermId, int], frequencies: dict[TermId, int], passages: int, random: Random
) -> None:
    query = query_weights(dict.fromkeys(counts, 1), TermCounts(passages, frequencies))
    document = bm25_weights(counts, sum(counts.values()), PassageKind.CHUNK)
    exact = sum(query[term] * document[term] for term in counts)

    shuffled = np.float32(0)
    for term in random.sample(sorted(counts), len(counts)):
        shuffled += np.float32(query[term]) * np.float32(document[term])

    assert float(shuffled) == exact


def test_the_longest_query_is_exact_too() -> None:
    many = {TermId(number): 1 for number in range(12_000)}
    query = query_weights(many, TermCounts(1_000_000, {TermId(0): 900_000}))

    total = sum(weight * (CHUNK_K1 + 1.0) for weight in query.values())

    assert total / min(query.values()) / WEIGHT_UNIT <= 2**24
