"""Drafts against what is believed. Source: contract-recall, "Time": versions are immutable."""

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from dormouse.apply.reconcile import Occasion, Reconciled, reconcile
from dormouse.apply.resolve import resolve
from dormouse.model.interval import END_MS, Interval
from dormouse.model.memory import Basis, Extraction, MemoryDraft, MemoryKind, MemoryVersion, SourceKind
from tests.builders import A_DATASET, NOW_MS, a_passage

PASSAGE = a_passage("Ada lives in Berlin. Ada likes trains.")
FIRST = Occasion(accepted_ms=NOW_MS, revision=1)
LATER = Occasion(accepted_ms=NOW_MS + 1000, revision=2)


def _draft(content: str = "Ada lives in Berlin.", *, start_ms: int = 0) -> MemoryDraft:
    return MemoryDraft(
        kind=MemoryKind.FACT,
        content=content,
        quote=content,
        source=SourceKind.STATED,
        confidence=0.5,
        valid=Interval(start_ms, END_MS),
        valid_basis=Basis.ASSERTED,
        entity_names=("Ada",),
    )


def _reconciled(
    drafts: list[MemoryDraft], believed: tuple[MemoryVersion, ...] = (), occasion: Occasion = FIRST
) -> Reconciled:
    extraction = Extraction(PASSAGE.id, memories=tuple(drafts))
    return reconcile([(PASSAGE, extraction)], believed, resolve(A_DATASET, [extraction]), occasion)


def _open_after(believed: tuple[MemoryVersion, ...], result: Reconciled) -> dict[str, MemoryVersion]:
    still = [version for version in believed if version.id not in result.closed]
    return {version.memory: version for version in (*still, *result.versions)}


def test_a_new_claim_is_believed_from_its_acceptance_on() -> None:
    (version,) = _reconciled([_draft()]).versions

    assert version.transaction == Interval(NOW_MS, END_MS)
    assert version.entities == resolve(A_DATASET, [Extraction(PASSAGE.id, memories=(_draft(),))]).of(["ada"])


def test_what_is_said_again_unchanged_stands() -> None:
    believed = _reconciled([_draft()]).versions

    assert _reconciled([_draft()], believed, LATER) == Reconciled((), {})


def test_another_interval_closes_the_old_version_and_appends_one() -> None:
    (old,) = _reconciled([_draft()]).versions

    result = _reconciled([_draft(start_ms=5)], (old,), LATER)

    assert result.closed == {old.id: LATER.accepted_ms}
    assert [(each.memory, each.id == old.id) for each in result.versions] == [(old.memory, False)]


def test_what_its_passage_no_longer_says_is_believed_no_longer() -> None:
    (old,) = _reconciled([_draft()]).versions

    assert _reconciled([], (old,), LATER) == Reconciled((), {old.id: LATER.accepted_ms})


def test_transaction_time_never_runs_backwards() -> None:
    """An update accepted on a machine whose clock is behind still comes after what it ends."""
    (old,) = _reconciled([_draft()], occasion=LATER).versions

    result = _reconciled([_draft(start_ms=5)], (old,), replace(FIRST, revision=2))

    assert result.closed[old.id] > old.transaction.start_ms
    assert result.versions[0].transaction.start_ms == result.closed[old.id]


def test_equal_claims_of_one_passage_are_two_memories() -> None:
    assert len({version.memory for version in _reconciled([_draft(), _draft()]).versions}) == 2


_drafts = st.lists(st.builds(_draft, st.sampled_from(["a", "b", "c"]), start_ms=st.integers(0, 2)), max_size=6)


@given(_drafts, _drafts)
def test_afterwards_exactly_what_was_drafted_is_believed(
    before: list[MemoryDraft], after: list[MemoryDraft]
) -> None:
    believed = _reconciled(before).versions

    result = _reconciled(after, believed, LATER)

    found = sorted((each.content, each.valid.start_ms) for each in _open_after(believed, result).values())
    assert found == sorted((draft.content, draft.valid.start_ms) for draft in after)


@given(_drafts, _drafts)
def test_the_same_drafts_again_change_nothing(before: list[MemoryDraft], after: list[MemoryDraft]) -> None:
    believed = _reconciled(before).versions
    now = tuple(_open_after(believed, _reconciled(after, believed, LATER)).values())

    assert _reconciled(after, now, replace(LATER, revision=3)) == Reconciled((), {})
