"""Scopes, names and visibility, read from the catalog: every store call and every answer goes through here."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from dormouse.access.decide import Choice, choose, scope_for
from dormouse.errors import ForbiddenError, InvalidInputError, NotFoundError
from dormouse.ids import DatasetId, DocumentId, PrincipalId, WorkspaceId
from dormouse.model.dataset import Dataset
from dormouse.model.passage import Passage
from dormouse.model.scope import Permission, Scope
from dormouse.ports.catalog.transaction import CatalogTransaction


async def scope_of(tx: CatalogTransaction, principal: PrincipalId, workspace: WorkspaceId) -> Scope:
    """What this principal may see right now; grants given or revoked later need a new scope."""
    owned = await tx.datasets.owned_by(workspace, principal)
    grants = await tx.access.grants_to(principal)
    shared = await tx.datasets.many([grant.dataset for grant in grants])
    here = {dataset.id for dataset in shared if dataset.workspace == workspace}
    scope = scope_for(principal, workspace, owned, [each for each in grants if each.dataset in here])
    known = {each.id: each for each in (*owned, *shared) if each.id in scope.readable}
    return replace(scope, datasets=tuple(sorted(known.values(), key=lambda each: (each.name, each.id))))


async def readable_datasets(tx: CatalogTransaction, scope: Scope) -> Sequence[Dataset]:
    """Listed ones, by name and then id."""
    datasets = await tx.datasets.many(scope.readable)
    return sorted((each for each in datasets if each.listed), key=lambda each: (each.name, each.id))


async def dataset_named(tx: CatalogTransaction, scope: Scope, wanted: str, permission: Permission) -> Dataset:
    """Raises `NotFoundError`, `ForbiddenError` (not that permission) or `InvalidInputError` (ambiguous)."""
    return _chosen(scope, await tx.datasets.many(scope.readable), wanted, permission)


def dataset_known(scope: Scope, wanted: str, permission: Permission) -> Dataset:
    """The same out of a scope with its datasets, as they were when it was made. Whoever writes looks again in
    the transaction that does (`granted_now`)."""
    assert scope.datasets is not None, "the scope was made of ids alone"
    return _chosen(scope, scope.datasets, wanted, permission)


def _chosen(scope: Scope, datasets: Sequence[Dataset], wanted: str, permission: Permission) -> Dataset:
    choice = choose(scope, datasets, wanted, permission)
    if choice.dataset is None:
        raise _refused(choice, wanted, permission)
    return choice.dataset


async def granted_now(
    tx: CatalogTransaction, scope: Scope, dataset: DatasetId, permission: Permission
) -> Dataset:
    """The dataset, listed or not, for the transaction that changes something in it.

    A scope is what was true when it was made: a grant that was taken back since, by its owner or by a forget,
    counts here already. Raises `NotFoundError` for one that the scope never showed, and `ForbiddenError`.
    """
    if dataset not in scope.readable:
        raise NotFoundError("Dataset not found")
    found = await tx.datasets.get(dataset)
    if dataset not in scope.granted(permission):
        raise _not_granted(permission)
    if found.owner == scope.principal:
        return found
    grants = await tx.access.grants_on(dataset)
    if any(each.principal == scope.principal and each.permission.includes(permission) for each in grants):
        return found
    raise ForbiddenError(f"this dataset is no longer shared with you to {permission}")


def _not_granted(permission: Permission) -> ForbiddenError:
    """Said of a dataset that the caller may read: it is not this permission that its owner gave."""
    if permission is Permission.DELETE:
        return ForbiddenError("to forget in a dataset that is shared with you, its owner must grant 'delete'")
    return ForbiddenError("this dataset is shared with you for reading only")


def _refused(choice: Choice, wanted: str, permission: Permission) -> Exception:
    if choice.refusal == "ambiguous":
        return InvalidInputError(
            f"several datasets shared with you are named '{wanted}': give the id", field="dataset"
        )
    if choice.refusal == "not_granted":
        return _not_granted(permission)
    return NotFoundError(f"Dataset '{wanted}' not found")


async def visible(
    tx: CatalogTransaction, scope: Scope, passages: Sequence[Passage]
) -> tuple[list[Passage], Mapping[DocumentId, int]]:
    """Those of readable datasets whose document is live: forgotten ones are gone from the commit on, and
    so are those of a document that stays. With when each document last changed, in milliseconds."""
    mine = [each for each in passages if each.dataset in scope.readable]
    live = await tx.documents.live({each.document for each in mine})
    seen = [
        each
        for each in mine
        if (shown := live.get(each.document)) is not None and each.last_revision >= shown.memory_from
    ]
    return seen, {id_: shown.updated_ms for id_, shown in live.items()}
