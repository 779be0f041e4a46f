"""Catalog concern: principals and grants."""

from collections.abc import Sequence
from typing import Protocol

from dormouse.ids import DatasetId, PrincipalId
from dormouse.model.scope import Grant, Permission, Principal


class AccessBook(Protocol):
    """Principals and the grants that owners gave."""

    async def ensure_principal(self, principal: PrincipalId, name: str) -> Principal: ...

    async def principal(self, principal: PrincipalId) -> Principal:
        """Raises `NotFoundError`."""
        ...

    async def grant(self, dataset: DatasetId, principal: PrincipalId, permission: Permission) -> Grant:
        """Replaces an earlier grant to the same principal."""
        ...

    async def revoke(self, dataset: DatasetId, principal: PrincipalId) -> None: ...

    async def revoke_all(self, dataset: DatasetId) -> None:
        """Whoever held a grant on it: what is made under its id later is nobody's but its owner's."""
        ...

    async def grants_on(self, dataset: DatasetId) -> Sequence[Grant]:
        """By principal."""
        ...

    async def grants_to(self, principal: PrincipalId) -> Sequence[Grant]: ...

    async def secret(self, name: str, made: str) -> str:
        """What all processes share under this name: `made`, unless somebody was first."""
        ...
