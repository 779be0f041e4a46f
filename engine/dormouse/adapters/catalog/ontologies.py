"""Which ontologies users uploaded."""

from collections.abc import Collection, Sequence
from typing import Any

from sqlalchemy import Row, delete, select

from dormouse.adapters.catalog.connection import CatalogConnection, in_batches
from dormouse.adapters.catalog.tables import ontologies
from dormouse.ids import BlobKey, PrincipalId, WorkspaceId, ontology_id
from dormouse.model.ontology import OntologyRow


class SqlOntologyRegister:
    def __init__(self, connection: CatalogConnection) -> None:
        self._connection = connection

    async def add(self, row: OntologyRow) -> bool:
        return await self._connection.insert_if_absent(
            ontologies,
            {
                "id": ontology_id(row.owner, row.key),
                "workspace": row.workspace,
                "owner": row.owner,
                "key": row.key,
                "filename": row.filename,
                "description": row.description,
                "size_bytes": row.size_bytes,
                "blob": row.blob,
                "created_ms": row.created_ms,
            },
        )

    async def owned_by(self, owner: PrincipalId) -> Sequence[OntologyRow]:
        rows = await self._connection.rows(
            select(ontologies).where(ontologies.c.owner == owner).order_by(ontologies.c.key)
        )
        return [_row(row) for row in rows]

    async def remove(self, owner: PrincipalId, key: str) -> OntologyRow | None:
        found = await self._connection.row(
            select(ontologies).where(ontologies.c.owner == owner, ontologies.c.key == key)
        )
        if found is None:
            return None
        await self._connection.run(delete(ontologies).where(ontologies.c.id == found.id))
        return _row(found)

    async def named_blobs(self, blobs: Collection[BlobKey]) -> frozenset[BlobKey]:
        found: set[BlobKey] = set()
        for batch in in_batches(blobs):
            rows = await self._connection.rows(select(ontologies.c.blob).where(ontologies.c.blob.in_(batch)))
            found.update(BlobKey(row.blob) for row in rows)
        return frozenset(found)


def _row(row: Row[Any]) -> OntologyRow:
    return OntologyRow(
        workspace=WorkspaceId(row.workspace),
        owner=PrincipalId(row.owner),
        key=row.key,
        filename=row.filename,
        description=row.description,
        size_bytes=row.size_bytes,
        blob=BlobKey(row.blob),
        created_ms=row.created_ms,
    )
