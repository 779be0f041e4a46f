"""Revisions of documents: what was accepted, and where its bytes lie."""

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict
from typing import Any

from sqlalchemy import Row, and_, bindparam, delete, exists, null, select, update

from dormouse.adapters.catalog.connection import CatalogConnection, in_batches
from dormouse.adapters.catalog.documents import IS_SUPPRESSED, LIVE, WITH_BLOBS, document_of
from dormouse.adapters.catalog.tables import changes, jobs, part_vectors, parts, plans, revisions
from dormouse.adapters.catalog.tables import documents as document_rows
from dormouse.ids import BlobKey, DatasetId, DocumentId, JobId
from dormouse.model.document import ContentKind, Document, Item, Revision
from dormouse.ports.catalog.documents import Derived


class SqlRevisionRegister:
    def __init__(self, connection: CatalogConnection) -> None:
        self._connection = connection

    async def add(self, revision: Revision) -> None:
        await self._connection.insert(
            revisions,
            {
                **asdict(revision),
                "kind": revision.kind.value,
                "is_failed": int(revision.is_failed),
                "is_staged": int(revision.is_staged),
                "options": json.dumps(revision.options, sort_keys=True),
            },
        )

    async def get(self, document: DocumentId, number: int) -> Revision | None:
        row = await self._connection.row(
            select(revisions).where(revisions.c.document == document, revisions.c.number == number)
        )
        return None if row is None else _revision(row)

    async def items(self, documents: Collection[DocumentId]) -> Mapping[DocumentId, Item]:
        found: dict[DocumentId, Item] = {}
        for batch in in_batches(documents):
            for row in await self._connection.rows(_ITEMS.where(document_rows.c.id.in_(batch))):
                document = document_of(row)
                found[document.id] = Item(document, _labelled_revision(row))
        return found

    async def staged(self, dataset: DatasetId, *, limit: int) -> Sequence[tuple[Document, Revision]]:
        rows = await self._connection.rows(
            _STAGED.where(document_rows.c.dataset == dataset).order_by(document_rows.c.id).limit(limit)
        )
        return [(document_of(row), _labelled_revision(row)) for row in rows]

    async def take_up(self, document: DocumentId, number: int, job: JobId, options: dict[str, str]) -> None:
        stored = json.dumps(options, sort_keys=True)
        await self._set(document, number, job=job, is_staged=0, options=stored)

    async def newest_sound(self, document: DocumentId) -> Revision | None:
        row = await self._connection.row(
            select(revisions)
            .where(revisions.c.document == document, revisions.c.is_failed == 0)
            .order_by(revisions.c.number.desc())
            .limit(1)
        )
        return None if row is None else _revision(row)

    async def mark_failed(self, document: DocumentId, number: int) -> None:
        await self._set(document, number, is_failed=1)

    async def move_inline(self, document: DocumentId, number: int, blob: BlobKey) -> None:
        await self._set(document, number, inline=None, blob=blob)

    async def recent_inline(
        self, datasets: Collection[DatasetId], limit: int
    ) -> Sequence[tuple[Document, Revision]]:
        found: list[tuple[Document, Revision]] = []
        for batch in in_batches(datasets):
            rows = await self._connection.rows(_RECENT, {"datasets": batch, "most": limit})
            found.extend((document_of(row), _labelled_revision(row)) for row in rows)
        found.sort(key=lambda pair: (-pair[1].created_ms, pair[0].id))
        return found[:limit]

    async def erase_derived(self, document: DocumentId, below: int) -> Derived:
        of_revisions = select(revisions.c.job).where(
            revisions.c.document == document, revisions.c.number < below
        )
        of_document = select(jobs.c.id).where(
            jobs.c.document == document, jobs.c.revision < below, jobs.c.kind.in_(WITH_BLOBS)
        )
        rows = await self._connection.rows(of_revisions.union(of_document))
        found = sorted({JobId(row[0]) for row in rows})
        for some in in_batches(found):
            for table in (part_vectors, parts, plans):
                await self._connection.run(delete(table).where(table.c.job.in_(some)))
            applied = changes.c.job.in_(some) & changes.c.applied_ms.is_not(None)
            await self._connection.run(update(changes).where(applied).values(blob=None, change_set=None))
        texts = select(revisions.c.blob).where(revisions.c.document == document, revisions.c.blob.is_not(None))
        return Derived(found, frozenset(BlobKey(row[0]) for row in await self._connection.rows(texts)))

    async def _set(self, document: DocumentId, number: int, **columns: object) -> None:
        await self._connection.update(revisions, {"document": document, "number": number}, columns)


_PREFIX = "revision_"
_later = revisions.alias()
# Made once: every recall asks this, and building it takes longer than answering.
_RECENT = (
    LIVE.join(revisions, revisions.c.document == document_rows.c.id)
    .add_columns(*(column.label(_PREFIX + column.name) for column in revisions.c))
    .where(
        document_rows.c.dataset.in_(bindparam("datasets", expanding=True)),
        ~IS_SUPPRESSED,
        revisions.c.inline.is_not(None),
        revisions.c.is_failed == 0,
        revisions.c.is_staged == 0,
        revisions.c.number > document_rows.c.searchable_revision,
        # Of several that wait, the newest alone: an older one is superseded already.
        ~exists().where(
            _later.c.document == revisions.c.document,
            _later.c.number > revisions.c.number,
            _later.c.is_failed == 0,
        ),
    )
    .order_by(revisions.c.created_ms.desc(), revisions.c.document)
    .limit(bindparam("most"))
)

_newest = and_(
    revisions.c.document == document_rows.c.id, revisions.c.number == document_rows.c.newest_revision
)
_STAGED = (
    LIVE.join(revisions, _newest)
    .add_columns(*(column.label(_PREFIX + column.name) for column in revisions.c))
    .where(revisions.c.is_staged == 1)
)
_ITEMS = LIVE.join(revisions, _newest).add_columns(
    *((null() if column.name == "inline" else column).label(_PREFIX + column.name) for column in revisions.c)
)


def _revision(row: Row[*tuple[Any, ...]]) -> Revision:
    return _revision_of(dict(row._mapping))  # noqa: SLF001  SQLAlchemy's public name for it


def _labelled_revision(row: Row[*tuple[Any, ...]]) -> Revision:
    columns = row._mapping  # noqa: SLF001  SQLAlchemy's public name for it
    return _revision_of(
        {name.removeprefix(_PREFIX): columns[name] for name in columns if name.startswith(_PREFIX)}
    )


def _revision_of(columns: dict[str, Any]) -> Revision:
    return Revision(
        **{
            **columns,
            "document": DocumentId(columns["document"]),
            "job": JobId(columns["job"]),
            "kind": ContentKind(columns["kind"]),
            "is_failed": bool(columns["is_failed"]),
            "is_staged": bool(columns["is_staged"]),
            "options": json.loads(columns["options"]),
        }
    )
