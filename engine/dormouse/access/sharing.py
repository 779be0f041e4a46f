"""Grants of a dataset: only its owner gives, takes back and sees them."""

from collections.abc import Sequence

from dormouse.access.lookup import dataset_named
from dormouse.errors import ForbiddenError
from dormouse.ids import DatasetId, PrincipalId
from dormouse.model.scope import Grant, Permission, Scope
from dormouse.ports.catalog.transaction import Catalog, CatalogTransaction


async def grants_on(catalog: Catalog, scope: Scope, dataset: DatasetId) -> Sequence[Grant]:
    """By user; raises `NotFoundError`, and `ForbiddenError` for who may only read or write it."""
    async with catalog.reading() as tx:
        await _assert_owned(tx, scope, dataset)
        return await tx.access.grants_on(dataset)


async def share(
    catalog: Catalog, scope: Scope, dataset: DatasetId, principal: PrincipalId, permission: Permission | None
) -> None:
    """Give, change or (None) take back a grant; raises like `grants_on`."""
    async with catalog.transaction() as tx:
        await tx.changes.lock(scope.workspace)  # a write that this forbids comes wholly before or after it
        await _assert_owned(tx, scope, dataset)
        if permission is None:
            await tx.access.revoke(dataset, principal)
        else:
            await tx.access.grant(dataset, principal, permission)
        await tx.commit()


async def _assert_owned(tx: CatalogTransaction, scope: Scope, dataset: DatasetId) -> None:
    found = await dataset_named(tx, scope, dataset, Permission.READ)
    if found.owner != scope.principal:
        raise ForbiddenError("only the owner of a dataset may share it, or see who shares it")
