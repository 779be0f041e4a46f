"""The dataset that a write is meant for: a writable one of this name or id, or a new one of this name.

What looks like an id never becomes a name: a dataset of somebody else's id would answer to both.
"""

from uuid import UUID

from dormouse.access import lookup
from dormouse.errors import InvalidInputError, NotFoundError
from dormouse.ids import DatasetId
from dormouse.model.dataset import MAX_NAME_CHARACTERS, Dataset
from dormouse.model.scope import Permission, Scope
from dormouse.ports.catalog.transaction import Catalog, CatalogTransaction
from dormouse.text.naming import RULE, composed, is_nameable


async def dataset_for_writing(catalog: Catalog, scope: Scope, name_or_id: str) -> Dataset:
    """Raises `InvalidInputError`, `NotFoundError` (an id of none) and `ForbiddenError` (read only)."""
    wanted = composed(name_or_id.strip())

    async def known() -> Dataset | None:
        try:
            if scope.datasets is not None:
                return lookup.dataset_known(scope, wanted, Permission.WRITE)
            return await catalog.read(lambda tx: lookup.dataset_named(tx, scope, wanted, Permission.WRITE))
        except NotFoundError:
            if _is_id(wanted):
                raise
            return None

    async def made(tx: CatalogTransaction) -> Dataset:
        dataset = await tx.datasets.ensure(scope.workspace, scope.principal, checked_name(wanted))
        await tx.commit()
        return dataset

    found = await known()
    return await catalog.write(made) if found is None else found


async def opened_for_writing(tx: CatalogTransaction, scope: Scope, dataset: DatasetId) -> Dataset:
    """The dataset as it stands in the transaction that writes: after a forget of it, it starts anew.

    Raises `NotFoundError` and `ForbiddenError`.
    """
    found = await lookup.granted_now(tx, scope, dataset, Permission.WRITE)
    return found if found.listed else await tx.datasets.ensure(found.workspace, found.owner, found.name)


def checked_name(name: str) -> str:
    """The trimmed name; raises `InvalidInputError`. A comma would make it unreachable in a recall's list."""
    trimmed = composed(name.strip())
    if not trimmed:
        raise InvalidInputError("dataset name must not be blank", field="dataset")
    if len(trimmed) > MAX_NAME_CHARACTERS:
        raise InvalidInputError(
            f"dataset name may have at most {MAX_NAME_CHARACTERS} characters", field="dataset"
        )
    if "," in trimmed:
        raise InvalidInputError("dataset name must not contain commas", field="dataset")
    if not is_nameable(trimmed):
        raise InvalidInputError(f"dataset name {RULE}", field="dataset")
    if _is_id(trimmed):
        raise InvalidInputError("dataset name must not look like an id", field="dataset")
    return trimmed


def _is_id(name: str) -> bool:
    try:
        return str(UUID(name)) == name.lower()
    except ValueError:
        return False
