"""The catalog and its transactions: every concern on one connection, committed together or not at all."""

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Protocol, TypeVar

from sqlalchemy import Connection
from sqlalchemy.ext.asyncio import AsyncConnection

from dormouse.adapters.catalog.access import SqlAccessBook
from dormouse.adapters.catalog.blobs import SqlBlobNames
from dormouse.adapters.catalog.changes import SqlChangeLog
from dormouse.adapters.catalog.connection import CatalogConnection
from dormouse.adapters.catalog.datasets import SqlDatasetRegister
from dormouse.adapters.catalog.documents import SqlDocumentRegister
from dormouse.adapters.catalog.enrichment import SqlEnrichmentLedger
from dormouse.adapters.catalog.hidden import SqlHiddenBook
from dormouse.adapters.catalog.history import SqlChangeHistory
from dormouse.adapters.catalog.jobs import SqlJobLedger
from dormouse.adapters.catalog.ontologies import SqlOntologyRegister
from dormouse.adapters.catalog.past import SqlLogPast
from dormouse.adapters.catalog.revisions import SqlRevisionRegister
from dormouse.adapters.catalog.sessions import SqlSessionBook
from dormouse.adapters.catalog.sqlite import SqliteBackend
from dormouse.adapters.catalog.terms import SqlTermStatistics
from dormouse.adapters.catalog.work import SqlWorkLedger
from dormouse.adapters.catalog.workspaces import SqlWorkspaceRegister
from dormouse.clock import Clock
from dormouse.errors import MisconfiguredError
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
from dormouse.ports.catalog.transaction import CatalogTransaction
from dormouse.ports.catalog.work import WorkLedger
from dormouse.ports.catalog.workspaces import WorkspaceRegister

Result = TypeVar("Result")


class Backend(Protocol):
    """What differs between databases: how a transaction begins, and the care of the files."""

    def writing(self) -> AbstractAsyncContextManager[AsyncConnection]: ...
    def reading(self) -> AbstractAsyncContextManager[AsyncConnection]: ...
    async def write(self, work: Callable[[Connection], Awaitable[Result]]) -> Result: ...
    async def read(self, work: Callable[[Connection], Awaitable[Result]]) -> Result: ...
    async def migrate(self) -> None: ...
    async def check(self) -> None: ...
    async def scrub(self) -> None: ...
    async def close(self) -> None: ...


class SqlTransaction:
    """One snapshot; gone unless committed."""

    access: AccessBook
    changes: ChangeLog
    blobs: BlobNames
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

    def __init__(self, connection: CatalogConnection) -> None:
        self._connection = connection
        self.now_ms = connection.now_ms
        self.access = SqlAccessBook(connection)
        self.changes = SqlChangeLog(connection)
        self.blobs = SqlBlobNames(connection)
        self.past = SqlLogPast(connection)
        self.datasets = SqlDatasetRegister(connection)
        self.documents = SqlDocumentRegister(connection)
        self.enrichment = SqlEnrichmentLedger(connection)
        self.revisions = SqlRevisionRegister(connection)
        self.hidden = SqlHiddenBook(connection)
        self.history = SqlChangeHistory(connection)
        self.jobs = SqlJobLedger(connection)
        self.ontologies = SqlOntologyRegister(connection)
        self.sessions = SqlSessionBook(connection)
        self.terms = SqlTermStatistics(connection)
        self.work = SqlWorkLedger(connection)
        self.workspaces = SqlWorkspaceRegister(connection)

    async def commit(self) -> None:
        await self._connection.commit()


class SqlCatalog:
    """The catalog in a SQL database; `url` as SQLAlchemy spells it, `sqlite:///file` for a file."""

    def __init__(self, url: str, clock: Clock) -> None:
        self._backend = _backend(url)
        self._clock = clock

    @asynccontextmanager
    async def transaction(self) -> AsyncIterator[CatalogTransaction]:
        async with self._backend.writing() as connection:
            # Read only now: whoever waited for its turn must not judge leases by the time it came.
            yield self._on(connection, may_write=True)

    @asynccontextmanager
    async def reading(self) -> AsyncIterator[CatalogTransaction]:
        async with self._backend.reading() as connection:
            yield self._on(connection, may_write=False)

    async def write(self, work: Callable[[CatalogTransaction], Awaitable[Result]]) -> Result:
        return await self._backend.write(lambda connection: work(self._on(connection, may_write=True)))

    async def read(self, work: Callable[[CatalogTransaction], Awaitable[Result]]) -> Result:
        return await self._backend.read(lambda connection: work(self._on(connection, may_write=False)))

    async def migrate(self) -> None:
        await self._backend.migrate()

    async def check(self) -> None:
        await self._backend.check()

    async def scrub(self) -> None:
        await self._backend.scrub()

    async def close(self) -> None:
        await self._backend.close()

    def _on(self, connection: AsyncConnection | Connection, *, may_write: bool) -> SqlTransaction:
        return SqlTransaction(CatalogConnection(connection, self._clock.now_ms(), may_write=may_write))


def _backend(url: str) -> Backend:
    if url.startswith(("sqlite:", "sqlite+aiosqlite:")):
        return SqliteBackend(url)
    raise MisconfiguredError("the catalog needs a sqlite:///<file> URL", setting="DATABASE__URL")
