"""Term statistics per dataset and generation, by term id: no words are kept."""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence

from sqlalchemy import ColumnElement, and_, bindparam, delete, func, select

from dormouse.adapters.catalog.connection import CatalogConnection, in_batches
from dormouse.adapters.catalog.tables import datasets as dataset_rows
from dormouse.adapters.catalog.tables import term_counts, term_totals
from dormouse.ids import DatasetId, TermId, WorkspaceId
from dormouse.ports.catalog.terms import TermCounts


class SqlTermStatistics:
    def __init__(self, connection: CatalogConnection) -> None:
        self._connection = connection

    async def add(
        self, dataset: DatasetId, generation: int, passages: int, deltas: Mapping[TermId, int]
    ) -> None:
        of = {"dataset": dataset, "generation": generation}
        if passages:
            await self._connection.add_up(term_totals, [{**of, "passages": passages}])
        rows = [{**of, "term": term, "passages": delta} for term, delta in deltas.items() if delta]
        await self._connection.add_up(term_counts, rows)
        if passages < 0 or any(delta < 0 for delta in deltas.values()):
            for table in (term_counts, term_totals):
                await self._connection.run(
                    delete(table).where(
                        table.c.dataset == dataset, table.c.generation == generation, table.c.passages <= 0
                    )
                )

    async def drop_below(self, dataset: DatasetId, generation: int) -> None:
        for table in (term_counts, term_totals):
            await self._connection.run(
                delete(table).where(table.c.dataset == dataset, table.c.generation < generation)
            )

    async def replace(
        self, workspace: WorkspaceId, counted: Mapping[tuple[DatasetId, int], TermCounts]
    ) -> None:
        mine = select(dataset_rows.c.id).where(dataset_rows.c.workspace == workspace)
        for table in (term_counts, term_totals):
            await self._connection.run(delete(table).where(table.c.dataset.in_(mine)))
        for (dataset, generation), counts in counted.items():
            await self.add(dataset, generation, counts.passages, counts.frequencies)

    async def counts(self, datasets: Collection[DatasetId], terms: Collection[TermId]) -> TermCounts:
        passages, frequencies = 0, Counter[TermId]()
        for batch in in_batches(datasets):
            passages += await self._passages(batch)
            for some in in_batches(terms):
                frequencies.update(await self._frequencies(batch, some))
        return TermCounts(passages, dict(frequencies))

    async def page(self, dataset: DatasetId, after: TermId | None, limit: int) -> Sequence[tuple[TermId, int]]:
        rows = await self._connection.rows(
            select(term_counts.c.term, term_counts.c.passages)
            .join(dataset_rows, _current(term_counts.c.dataset, term_counts.c.generation))
            .where(term_counts.c.dataset == dataset, term_counts.c.term > (-1 if after is None else after))
            .order_by(term_counts.c.term)
            .limit(limit)
        )
        return [(TermId(row.term), int(row.passages)) for row in rows]

    async def _passages(self, datasets: list[DatasetId]) -> int:
        return int(await self._connection.value(_PASSAGES, {"datasets": datasets}) or 0)

    async def _frequencies(self, datasets: list[DatasetId], terms: list[TermId]) -> dict[TermId, int]:
        rows = await self._connection.rows(_FREQUENCIES, {"datasets": datasets, "terms": terms})
        return {TermId(row.term): int(row.passages) for row in rows}


def _current(dataset: ColumnElement[str], generation: ColumnElement[int]) -> ColumnElement[bool]:
    return and_(dataset_rows.c.id == dataset, dataset_rows.c.generation == generation)


# Made once: every recall asks these two, and building them takes longer than answering.
_PASSAGES = (
    select(func.sum(term_totals.c.passages))
    .join(dataset_rows, _current(term_totals.c.dataset, term_totals.c.generation))
    .where(dataset_rows.c.id.in_(bindparam("datasets", expanding=True)))
)
_FREQUENCIES = (
    select(term_counts.c.term, func.sum(term_counts.c.passages).label("passages"))
    .join(dataset_rows, _current(term_counts.c.dataset, term_counts.c.generation))
    .where(
        dataset_rows.c.id.in_(bindparam("datasets", expanding=True)),
        term_counts.c.term.in_(bindparam("terms", expanding=True)),
    )
    .group_by(term_counts.c.term)
)
