"""Who may see and change what, decided from owners and grants alone.

An owner may do everything with a dataset; a grant to read shows it, a grant to write lets its holder add and
change, and only a grant to delete lets them forget. Anything else does not exist for the caller. Promise P5.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from dormouse.ids import DatasetId, PrincipalId, WorkspaceId
from dormouse.model.dataset import Dataset
from dormouse.model.scope import Grant, Permission, Scope

Refusal = Literal["unknown", "ambiguous", "not_granted"]


@dataclass(frozen=True, slots=True)
class Choice:
    """Exactly one of the two is set."""

    dataset: Dataset | None = None
    refusal: Refusal | None = None


def scope_for(
    principal: PrincipalId, workspace: WorkspaceId, owned: Iterable[Dataset], grants: Iterable[Grant]
) -> Scope:
    mine = frozenset(dataset.id for dataset in owned)
    given = list(grants)

    def shared(wanted: Permission) -> frozenset[DatasetId]:
        return mine | {grant.dataset for grant in given if grant.permission.includes(wanted)}

    return Scope(
        principal,
        workspace,
        readable=shared(Permission.READ),
        writable=shared(Permission.WRITE),
        deletable=shared(Permission.DELETE),
    )


def choose(scope: Scope, datasets: Sequence[Dataset], wanted: str, permission: Permission) -> Choice:
    """The dataset meant by a name or id: one's own of that name first, then the only shared one.

    A name that was one's own stays one's own: once that dataset is forgotten the name means nothing until
    something is remembered under it. `datasets` are the readable ones, forgotten ones among them. A foreign
    dataset and one that never was get the same answer.
    """
    found = _meant(scope, datasets, wanted)
    if not found:
        return Choice(refusal="unknown")
    if len(found) > 1:
        return Choice(refusal="ambiguous")
    if found[0].id not in scope.granted(permission):
        return Choice(refusal="not_granted")
    return Choice(dataset=found[0])


def _meant(scope: Scope, datasets: Sequence[Dataset], wanted: str) -> list[Dataset]:
    seen = [each for each in datasets if each.id in scope.readable]
    by_id = [each for each in seen if each.id == wanted.lower()]
    named = [each for each in seen if each.name == wanted]
    own = [each for each in named if each.owner == scope.principal]
    return [each for each in by_id or own or named if each.listed]
