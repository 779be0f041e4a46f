"""Principals and the grants that owners gave."""

from collections.abc import Sequence

from sqlalchemy import bindparam, delete, select

from dormouse.adapters.catalog.connection import CatalogConnection
from dormouse.adapters.catalog.tables import grants, principals, secrets
from dormouse.errors import NotFoundError
from dormouse.ids import DatasetId, PrincipalId
from dormouse.model.scope import Grant, Permission, Principal

_GRANTS = select(grants).where(grants.c.principal == bindparam("principal")).order_by(grants.c.dataset)


class SqlAccessBook:
    def __init__(self, connection: CatalogConnection) -> None:
        self._connection = connection

    async def ensure_principal(self, principal: PrincipalId, name: str) -> Principal:
        await self._connection.insert_if_absent(
            principals, {"id": principal, "name": name, "created_ms": self._connection.now_ms}
        )
        return await self.principal(principal)

    async def principal(self, principal: PrincipalId) -> Principal:
        row = await self._connection.row(select(principals).where(principals.c.id == principal))
        if row is None:
            raise NotFoundError("no such principal")
        return Principal(PrincipalId(row.id), row.name, row.created_ms)

    async def grant(self, dataset: DatasetId, principal: PrincipalId, permission: Permission) -> Grant:
        grant = Grant(principal, dataset, permission, self._connection.now_ms)
        await self._connection.put(
            grants,
            {
                "principal": principal,
                "dataset": dataset,
                "permission": permission.value,
                "granted_ms": grant.granted_ms,
            },
        )
        return grant

    async def revoke(self, dataset: DatasetId, principal: PrincipalId) -> None:
        await self._connection.run(
            delete(grants).where(grants.c.dataset == dataset, grants.c.principal == principal)
        )

    async def revoke_all(self, dataset: DatasetId) -> None:
        await self._connection.run(delete(grants).where(grants.c.dataset == dataset))

    async def grants_on(self, dataset: DatasetId) -> Sequence[Grant]:
        rows = await self._connection.rows(
            select(grants).where(grants.c.dataset == dataset).order_by(grants.c.principal)
        )
        return [
            Grant(
                PrincipalId(row.principal), DatasetId(row.dataset), Permission(row.permission), row.granted_ms
            )
            for row in rows
        ]

    async def grants_to(self, principal: PrincipalId) -> Sequence[Grant]:
        rows = await self._connection.rows(_GRANTS, {"principal": principal})
        return [
            Grant(
                PrincipalId(row.principal), DatasetId(row.dataset), Permission(row.permission), row.granted_ms
            )
            for row in rows
        ]

    async def secret(self, name: str, made: str) -> str:
        await self._connection.insert_if_absent(secrets, {"name": name, "value": made})
        return str(await self._connection.value(select(secrets.c.value).where(secrets.c.name == name)))
