import pytest
from hypothesis import given
from hypothesis import strategies as st

from dormouse.access.decide import Choice, choose, scope_for
from dormouse.ids import DatasetId, PrincipalId, WorkspaceId, dataset_id
from dormouse.model.dataset import Dataset
from dormouse.model.scope import Grant, Permission

HERE = WorkspaceId("w")
ANN, BOB, CYD = PrincipalId("ann"), PrincipalId("bob"), PrincipalId("cyd")


def a_dataset(owner: PrincipalId, name: str, *, listed: bool = True) -> Dataset:
    return Dataset(dataset_id(owner, name), HERE, owner, name, 0, listed, 0, 0)


def a_grant(dataset: Dataset, permission: Permission) -> Grant:
    return Grant(ANN, dataset.id, permission, 0)


def test_a_name_means_ones_own_dataset_before_a_shared_one() -> None:
    mine, theirs = a_dataset(ANN, "notes"), a_dataset(BOB, "notes")
    scope = scope_for(ANN, HERE, [mine], [a_grant(theirs, Permission.READ)])

    assert choose(scope, [theirs, mine], "notes", Permission.READ) == Choice(dataset=mine)


def test_two_shared_datasets_of_one_name_are_ambiguous_but_their_ids_are_not() -> None:
    one, two = a_dataset(BOB, "notes"), a_dataset(CYD, "notes")
    scope = scope_for(ANN, HERE, [], [a_grant(one, Permission.READ), a_grant(two, Permission.READ)])

    assert choose(scope, [one, two], "notes", Permission.READ) == Choice(refusal="ambiguous")
    assert choose(scope, [one, two], two.id, Permission.READ) == Choice(dataset=two)


def test_a_foreign_dataset_and_one_that_never_was_get_the_same_answer() -> None:
    foreign = a_dataset(BOB, "secret")
    scope = scope_for(ANN, HERE, [], [])

    assert choose(scope, [foreign], foreign.id, Permission.READ) == Choice(refusal="unknown")
    assert choose(scope, [foreign], "nothing", Permission.READ) == Choice(refusal="unknown")


def test_a_grant_to_read_does_not_let_its_holder_write() -> None:
    shared = a_dataset(BOB, "notes")
    scope = scope_for(ANN, HERE, [], [a_grant(shared, Permission.READ)])

    assert choose(scope, [shared], "notes", Permission.WRITE) == Choice(refusal="not_granted")


def test_a_grant_to_write_does_not_let_its_holder_forget() -> None:
    shared = a_dataset(BOB, "notes")
    scope = scope_for(ANN, HERE, [], [a_grant(shared, Permission.WRITE)])

    assert choose(scope, [shared], "notes", Permission.WRITE) == Choice(dataset=shared)
    assert choose(scope, [shared], "notes", Permission.DELETE) == Choice(refusal="not_granted")


def test_a_grant_to_delete_lets_its_holder_read_write_and_forget() -> None:
    shared = a_dataset(BOB, "notes")
    scope = scope_for(ANN, HERE, [], [a_grant(shared, Permission.DELETE)])

    assert {choose(scope, [shared], "notes", each) for each in Permission} == {Choice(dataset=shared)}


def test_a_forgotten_dataset_is_not_named_any_more() -> None:
    gone = a_dataset(ANN, "notes", listed=False)
    scope = scope_for(ANN, HERE, [gone], [])

    assert choose(scope, [gone], "notes", Permission.READ) == Choice(refusal="unknown")
    assert choose(scope, [gone], gone.id, Permission.READ) == Choice(refusal="unknown")


@pytest.mark.parametrize("permission", Permission)
def test_the_name_of_a_forgotten_dataset_of_ones_own_is_not_taken_for_a_shared_one(
    permission: Permission,
) -> None:
    gone, theirs = a_dataset(ANN, "notes", listed=False), a_dataset(BOB, "notes")
    scope = scope_for(ANN, HERE, [gone], [a_grant(theirs, Permission.DELETE)])

    assert choose(scope, [gone, theirs], "notes", permission) == Choice(refusal="unknown")
    assert choose(scope, [gone, theirs], theirs.id, permission) == Choice(dataset=theirs)


@given(st.lists(st.tuples(st.sampled_from("abcdef"), st.sampled_from(Permission))))
def test_what_may_be_forgotten_in_may_be_written_and_that_be_read(grants: list[tuple[str, Permission]]) -> None:
    given_ = [Grant(ANN, DatasetId(name), permission, 0) for name, permission in grants]

    scope = scope_for(ANN, HERE, [], given_)

    assert scope.deletable <= scope.writable <= scope.readable == {grant.dataset for grant in given_}
