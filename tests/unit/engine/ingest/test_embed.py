from dormouse.ingest.embed import weigh
from dormouse.model.passage import PassageKind
from dormouse.text.terms import terms
from tests.builders import a_passage

FIRST = a_passage("Where did you buy the bicycle?", order=0, kind=PassageKind.TURN)
REPLY = a_passage("In Turin.", order=1, kind=PassageKind.TURN, previous=(FIRST.id,))


def test_a_turns_window_holds_the_words_before_it() -> None:
    ((own, window),) = weigh([REPLY], {FIRST.id: FIRST})

    assert own.keys() == terms("In Turin.", "en").keys()
    assert window.keys() == terms("bicycle buy Turin", "en").keys()


def test_a_chunk_has_no_window() -> None:
    ((own, window),) = weigh([a_passage("Ada lives in London.")], {})

    assert own
    assert window == {}


def test_neighbours_among_the_passages_need_not_be_given_again() -> None:
    assert weigh([FIRST, REPLY], {})[1] == weigh([REPLY], {FIRST.id: FIRST})[0]


def test_a_neighbour_that_is_gone_is_missing_from_the_window_only() -> None:
    assert weigh([REPLY], {})[0][1].keys() == terms("Turin", "en").keys()


def test_the_heading_is_searched_too() -> None:
    ((own, _),) = weigh([a_passage("It is warm.", heading="8 May Turin")], {})

    assert terms("Turin", "en").keys() <= own.keys()
