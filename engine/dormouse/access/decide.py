"""Who may see and change what, decided from owners and grants alone.

An owner may do everything with a dataset; a grant to read shows it, a grant to write lets its holder add
and forget. Anything else does not exist for the caller. Promise P5.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from dormouse.ids import PrincipalId, WorkspaceId
from dormouse.model.dataset import Dataset
from dormouse.model.scope import Grant, Permission, Scope

Refusal = Literal["unknown", "ambiguous", "read_only"]


@dataclass(frozen=True, slots=True)
class Choice:
    """Exactly one of the two is set."""

    dataset: Dataset | None = None
    refusal: Refusal | None = None


def scope_for(
    principal: PrincipalId, workspace: WorkspaceId, owned: Iterable[Dataset], grants: Iterable[Grant]
) -> Scope:
    mine = frozenset(dataset.id for dataset in owned)
    granted = list(grants)
    shared = frozenset(grant.dataset for grant in granted)
    writable = frozenset(grant.dataset for grant in granted if grant.permission is Permission.WRITE)
    return Scope(principal, workspace, readable=mine | shared, writable=mine | writable)


def choose(scope: Scope, datasets: Sequence[Dataset], wanted: str, permission: Permission) -> Choice:
    """The dataset meant by a name or id: one's own of that name first, then the only shared one.

    `datasets` are the readable ones. A foreign dataset and one that never was get the same answer.
    """
    found = _meant(scope, datasets, wanted)
    if not found:
        return Choice(refusal="unknown")
    if len(found) > 1:
        return Choice(refusal="ambiguous")
    if permission is Permission.WRITE and found[0].id not in scope.writable:
        return Choice(refusal="read_only")
    return Choice(dataset=found[0])


def _meant(scope: Scope, datasets: Sequence[Dataset], wanted: str) -> list[Dataset]:
    seen = [each for each in datasets if each.listed and each.id in scope.readable]
    by_id = [each for each in seen if each.id == wanted.lower()]
    own = [each for each in seen if each.name == wanted and each.owner == scope.principal]
    return by_id or own or [each for each in seen if each.name == wanted]
