"""One catalog transaction: every concern seen through the same snapshot, committed together or not at all."""

from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager
from typing import Protocol, TypeVar

from dormouse.ports.catalog.access import AccessBook
from dormouse.ports.catalog.blobs import BlobNames
from dormouse.ports.catalog.changes import ChangeLog
from dormouse.ports.catalog.datasets import DatasetRegister
from dormouse.ports.catalog.documents import DocumentRegister, RevisionRegister
from dormouse.ports.catalog.enrichment import EnrichmentLedger
from dormouse.ports.catalog.hidden import HiddenBook
from dormouse.ports.catalog.history import ChangeHistory
from dormouse.ports.catalog.jobs import JobLedger
from dormouse.ports.catalog.ontologies import OntologyRegister
from dormouse.ports.catalog.past import LogPast
from dormouse.ports.catalog.sessions import SessionBook
from dormouse.ports.catalog.terms import TermStatistics
from dormouse.ports.catalog.work import WorkLedger
from dormouse.ports.catalog.workspaces import WorkspaceRegister

Result = TypeVar("Result")


class CatalogTransaction(Protocol):
    """Everything here acts on one snapshot; nothing is kept unless `commit` was awaited.

    `now_ms` is the catalog's own clock at the transaction's begin; leases are judged by it alone.
    """

    now_ms: int
    access: AccessBook
    blobs: BlobNames
    changes: ChangeLog
    past: LogPast
    datasets: DatasetRegister
    documents: DocumentRegister
    enrichment: EnrichmentLedger
    revisions: RevisionRegister
    hidden: HiddenBook
    history: ChangeHistory
    jobs: JobLedger
    ontologies: OntologyRegister
    sessions: SessionBook
    terms: TermStatistics
    work: WorkLedger
    workspaces: WorkspaceRegister

    async def commit(self) -> None: ...


class Catalog(Protocol):
    def transaction(self) -> AbstractAsyncContextManager[CatalogTransaction]:
        """A writing transaction, serialised against other writers; rolls back unless committed."""
        ...

    def reading(self) -> AbstractAsyncContextManager[CatalogTransaction]:
        """A reading snapshot; writing through it is an error."""
        ...

    async def write(self, work: Callable[[CatalogTransaction], Awaitable[Result]]) -> Result:
        """A whole writing transaction at once, for what is asked often: cheaper than `transaction`.

        `work` may run in another thread, and awaits nothing but the transaction's own methods.
        """
        ...

    async def read(self, work: Callable[[CatalogTransaction], Awaitable[Result]]) -> Result:
        """A whole reading snapshot at once, under the same rule."""
        ...

    def duty(self, name: str) -> AbstractAsyncContextManager[bool]:
        """Whether this is ours to do just now: one process at a time does it, as long as the block lasts.

        Whoever loses the server meanwhile may be followed by another: what is done so must be harmless twice.
        """
        ...

    async def migrate(self) -> None:
        """Bring the schema to this version's, from empty or any earlier one."""
        ...

    async def check(self) -> None:
        """Raises `CatalogUnavailableError` if it cannot be read, with what to do if it is damaged."""
        ...

    async def scrub(self) -> None:
        """Make deleted rows unreadable on disk too (journals and free pages included)."""
        ...

    async def close(self) -> None: ...
