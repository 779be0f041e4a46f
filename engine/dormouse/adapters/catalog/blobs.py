"""Which blobs the catalog's rows name."""

from collections.abc import Collection

from sqlalchemy import select, union_all

from dormouse.adapters.catalog.connection import CatalogConnection, in_batches
from dormouse.adapters.catalog.tables import changes, part_vectors, plans, revisions
from dormouse.adapters.catalog.tables import parts as part_rows
from dormouse.ids import BlobKey


class SqlBlobNames:
    def __init__(self, connection: CatalogConnection) -> None:
        self._connection = connection

    async def named(self, blobs: Collection[BlobKey]) -> frozenset[BlobKey]:
        columns = (
            revisions.c.blob,
            plans.c.blob,
            part_rows.c.blob,
            part_vectors.c.blob,
            changes.c.blob,
            changes.c.change_set,
        )
        named: set[BlobKey] = set()
        for batch in in_batches(blobs):
            statement = union_all(*(select(column).where(column.in_(batch)) for column in columns))
            named.update(BlobKey(row[0]) for row in await self._connection.rows(statement))
        return frozenset(named)
