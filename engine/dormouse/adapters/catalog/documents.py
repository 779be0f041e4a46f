"""Documents and what makes one live: the dataset's current generation, and not forgotten itself."""

import hashlib
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from sqlalchemy import BindParameter, Row, Select, bindparam, delete, exists, func, or_, select

from dormouse.adapters.catalog.connection import CatalogConnection, in_batches
from dormouse.adapters.catalog.jobs import answers_forgotten
from dormouse.adapters.catalog.tables import (
    datasets,
    hidden,
    idempotency_keys,
    item_generations,
    jobs,
    part_vectors,
    parts,
    plans,
    revisions,
)
from dormouse.adapters.catalog.tables import documents as document_rows
from dormouse.errors import SupersededError
from dormouse.ids import DatasetId, DocumentId, JobId, PrincipalId, WorkspaceId
from dormouse.model.document import Document, Shown
from dormouse.model.job import JobKind

IS_SUPPRESSED = exists().where(hidden.c.target == document_rows.c.id, hidden.c.is_active == 1)
LIVE = (
    select(document_rows, IS_SUPPRESSED.label("is_suppressed"))
    .join(datasets, datasets.c.id == document_rows.c.dataset)
    .where(document_rows.c.dataset_generation == datasets.c.generation, document_rows.c.is_forgotten == 0)
)
# Made once: every recall asks this, and building it takes longer than answering.
_SHOWN = LIVE.with_only_columns(
    document_rows.c.id, document_rows.c.updated_ms, document_rows.c.memory_from
).where(document_rows.c.id.in_(bindparam("documents", expanding=True)), ~IS_SUPPRESSED)

# Whose blobs tell of content: parts and texts, and what hiding or forgetting took out of the statistics.
WITH_BLOBS = [
    kind.value
    for kind in (JobKind.REMEMBER, JobKind.ADD, JobKind.SUPPRESS, JobKind.RESTORE, JobKind.FORGET_MEMORY)
]

# What every write asks is built once: building a statement costs more than running it.
_dataset: BindParameter[str] = bindparam("of_dataset")
_identity: BindParameter[str] = bindparam("of_identity")
_FIRST = LIVE.order_by(document_rows.c.created_ms, document_rows.c.id).limit(1)
_BY_ID = _FIRST.where(document_rows.c.id == bindparam("of_id"))
_BY_IDENTITY = _FIRST.where(document_rows.c.dataset == _dataset, document_rows.c.identity == _identity)
_of_document = revisions.alias()
_newest_sound = (
    select(_of_document.c.content_sha256)
    .where(_of_document.c.document == document_rows.c.id, _of_document.c.is_failed == 0)
    .order_by(_of_document.c.number.desc())
    .limit(1)
    .scalar_subquery()
)
_content: BindParameter[str] = bindparam("of_content")
# From the few revisions of this content to their documents: the other way would look at the whole dataset.
_BY_CONTENT = _FIRST.where(
    document_rows.c.id.in_(select(revisions.c.document).where(revisions.c.content_sha256 == _content)),
    document_rows.c.dataset.concat("") == _dataset,
    document_rows.c.external_id.is_(None),
    _newest_sound == _content,
)
_ITEM_GENERATION = select(item_generations.c.generation).where(
    item_generations.c.dataset == _dataset, item_generations.c.identity_sha256 == _identity
)
_GENERATIONS = select(datasets.c.generation, _ITEM_GENERATION.scalar_subquery()).where(
    datasets.c.id == _dataset
)


class SqlDocumentRegister:
    def __init__(self, connection: CatalogConnection) -> None:
        self._connection = connection

    async def live_by_identity(self, dataset: DatasetId, identity: str) -> Document | None:
        return await self._first(_BY_IDENTITY, {"of_dataset": dataset, "of_identity": identity})

    async def live_by_content(self, dataset: DatasetId, content_sha256: str) -> Document | None:
        return await self._first(_BY_CONTENT, {"of_dataset": dataset, "of_content": content_sha256})

    async def get(self, document: DocumentId) -> Document | None:
        return await self._first(_BY_ID, {"of_id": document})

    async def live(self, documents: Collection[DocumentId]) -> Mapping[DocumentId, Shown]:
        found: dict[DocumentId, Shown] = {}
        for batch in in_batches(documents):
            rows = await self._connection.rows(_SHOWN, {"documents": batch})
            found.update({DocumentId(row.id): Shown(row.updated_ms, row.memory_from) for row in rows})
        return found

    async def listing(
        self, dataset: DatasetId, *, after: DocumentId | None = None, limit: int = 100
    ) -> Sequence[Document]:
        statement = LIVE.where(document_rows.c.dataset == dataset)
        if after is not None:
            statement = statement.where(document_rows.c.id > after)
        rows = await self._connection.rows(statement.order_by(document_rows.c.id).limit(limit))
        return [document_of(row) for row in rows]

    async def count(self, dataset: DatasetId) -> int:
        mine = LIVE.where(document_rows.c.dataset == dataset).with_only_columns(func.count())
        return int(await self._connection.value(mine))

    async def item_generation(self, dataset: DatasetId, identity: str) -> int:
        generation = await self._connection.value(
            _ITEM_GENERATION, {"of_dataset": dataset, "of_identity": _hashed(identity)}
        )
        return int(generation or 0)

    async def save(self, document: Document, *, is_new: bool = False) -> None:
        columns = _columns(document)
        if is_new:
            await self._connection.insert(document_rows, {"id": document.id, **columns, "is_forgotten": 0})
            return
        if await self._connection.update(document_rows, {"id": document.id}, columns):
            return
        await self._require_current(document)
        await self._connection.insert_if_absent(
            document_rows, {"id": document.id, **columns, "is_forgotten": 0}
        )

    async def forget(self, document: DocumentId) -> Document | None:
        found = await self.get(document)
        if found is None:
            return None
        await self._connection.update(
            document_rows, {"id": document}, {"is_forgotten": 1, "updated_ms": self._connection.now_ms}
        )
        await self._connection.put(
            item_generations,
            {
                "dataset": found.dataset,
                "identity_sha256": _hashed(found.identity),
                "generation": found.item_generation + 1,
            },
        )
        return found

    async def erase(
        self, dataset: DatasetId, *, document: DocumentId | None, below_generation: int | None
    ) -> Sequence[JobId]:
        doomed = await self._doomed(dataset, document, below_generation)
        erased: set[JobId] = set()
        for batch in in_batches(doomed):
            erased.update(await self._erase_batch(batch))
        return sorted(erased)

    async def _doomed(
        self, dataset: DatasetId, document: DocumentId | None, below_generation: int | None
    ) -> list[str]:
        current = select(datasets.c.generation).where(datasets.c.id == dataset).scalar_subquery()
        # Never a live one, whatever is asked.
        gone = or_(document_rows.c.is_forgotten == 1, document_rows.c.dataset_generation < current)
        statement = select(document_rows.c.id).where(document_rows.c.dataset == dataset, gone)
        if document is not None:
            statement = statement.where(document_rows.c.id == document)
        if below_generation is not None:
            statement = statement.where(document_rows.c.dataset_generation < below_generation)
        return [row.id for row in await self._connection.rows(statement.order_by(document_rows.c.id))]

    async def _erase_batch(self, batch: list[str]) -> set[JobId]:
        of_revisions = select(revisions.c.job).where(revisions.c.document.in_(batch))
        of_documents = select(jobs.c.id).where(jobs.c.document.in_(batch), jobs.c.kind.in_(WITH_BLOBS))
        rows = await self._connection.rows(of_revisions.union(of_documents))
        erased = {JobId(row[0]) for row in rows}
        # What answered or was derived for these jobs quotes or hashes their content. A key stays without it, so
        # that a repeated call brings nothing back.
        for some in in_batches(erased):
            await self._connection.run(answers_forgotten(idempotency_keys.c.job.in_(some)))
            await self._connection.run(delete(part_vectors).where(part_vectors.c.job.in_(some)))
            await self._connection.run(delete(parts).where(parts.c.job.in_(some)))
            await self._connection.run(delete(plans).where(plans.c.job.in_(some)))
        await self._connection.run(delete(hidden).where(hidden.c.document.in_(batch)))
        await self._connection.run(delete(document_rows).where(document_rows.c.id.in_(batch)))
        return erased

    async def _first(self, statement: Select[*tuple[Any, ...]], values: Mapping[str, str]) -> Document | None:
        row = await self._connection.row(statement, values)
        return None if row is None else document_of(row)

    async def _require_current(self, document: Document) -> None:
        """A document that was forgotten and erased meanwhile must not come back by being saved."""
        current = await self._connection.row(
            _GENERATIONS, {"of_dataset": document.dataset, "of_identity": _hashed(document.identity)}
        )
        dataset, item = (0, 0) if current is None else (current[0], current[1] or 0)
        if document.item_generation < item or document.dataset_generation < dataset:
            raise SupersededError("this was forgotten in the meantime")


def document_of(row: Row[*tuple[Any, ...]]) -> Document:
    """The document in a row that has all its columns."""
    return Document(
        id=DocumentId(row.id),
        workspace=WorkspaceId(row.workspace),
        dataset=DatasetId(row.dataset),
        owner=PrincipalId(row.owner),
        identity=row.identity,
        name=row.name,
        external_id=row.external_id,
        dataset_generation=row.dataset_generation,
        item_generation=row.item_generation,
        newest_revision=row.newest_revision,
        searchable_revision=row.searchable_revision,
        created_ms=row.created_ms,
        updated_ms=row.updated_ms,
        memory_from=row.memory_from,
        is_suppressed=bool(row.is_suppressed),
    )


def _columns(document: Document) -> dict[str, object]:
    return {
        "workspace": document.workspace,
        "dataset": document.dataset,
        "owner": document.owner,
        "identity": document.identity,
        "name": document.name,
        "external_id": document.external_id,
        "dataset_generation": document.dataset_generation,
        "item_generation": document.item_generation,
        "newest_revision": document.newest_revision,
        "searchable_revision": document.searchable_revision,
        "created_ms": document.created_ms,
        "updated_ms": document.updated_ms,
        "memory_from": document.memory_from,
    }


def _hashed(identity: str) -> str:
    return hashlib.sha256(identity.encode("utf-8", "surrogatepass")).hexdigest()
