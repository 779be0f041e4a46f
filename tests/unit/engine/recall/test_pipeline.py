"""What a recall says when parts of it do not answer; the whole path on real stores is a contract test."""

from dormouse.ids import DatasetId
from dormouse.model.recall import RecallRequest, SessionHit
from dormouse.recall.pipeline import wants_graph
from tests.builders import a_session_entry

HIT = SessionHit(a_session_entry(), 1.0)
DATASETS = frozenset({DatasetId("d")})


def test_a_hit_in_the_session_spares_the_graph() -> None:
    assert not wants_graph(RecallRequest("q", session="s"), [HIT])


def test_a_session_without_a_hit_is_followed_by_the_graph() -> None:
    assert wants_graph(RecallRequest("q", session="s"), [])


def test_naming_datasets_asks_for_both() -> None:
    assert wants_graph(RecallRequest("q", session="s", datasets=DATASETS), [HIT])


def test_naming_sources_is_obeyed() -> None:
    both = frozenset({"graph", "session"})

    assert wants_graph(RecallRequest("q", session="s", sources=both), [HIT])  # type: ignore[arg-type]  # inferred str
    assert not wants_graph(RecallRequest("q", sources=frozenset({"session"})), [])
