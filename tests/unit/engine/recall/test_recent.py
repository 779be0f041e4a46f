from dormouse.ids import PassageId
from dormouse.recall.fuse import Ranked
from dormouse.recall.recent import Pending, find_pending, on_one_scale
from dormouse.text.terms import query_terms
from tests.builders import a_document, a_passage, a_revision

PASSAGE = a_passage("Ada moved to Turin.")
WEIGHTS = dict.fromkeys(query_terms("Where does Ada live? Turin?", "en"), 1.0)


async def test_a_fresh_write_is_found_by_its_words() -> None:
    async def cut(*_: object) -> list[object]:
        return [PASSAGE, a_passage("Nothing of the kind.", order=1)]

    found = await find_pending([(a_document(), a_revision())], cut, WEIGHTS)  # type: ignore[arg-type]  # a stub

    assert [each.passage for each in found] == [PASSAGE]


def test_alone_its_terms_are_its_score() -> None:
    assert on_one_scale([Pending(PASSAGE, 2.5)], [], []) == [Ranked(PASSAGE.id, 2.5)]


def test_better_words_than_all_others_outrank_them() -> None:
    ranked = [Ranked(PassageId("a"), 4.0), Ranked(PassageId("b"), -4.0)]

    (above,) = on_one_scale([Pending(PASSAGE, 9.0)], ranked, [3.0, 1.0])
    (below,) = on_one_scale([Pending(PASSAGE, 2.0)], ranked, [3.0, 1.0])

    assert above.score > 4.0 > below.score > -4.0
