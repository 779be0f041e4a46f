"""The catalog and its transactions: every concern on one connection, committed together or not at all."""

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Any, Protocol, TypeVar

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
from dormouse.adapters.catalog.postgresql_url import is_postgresql
from dormouse.adapters.catalog.revisions import SqlRevisionRegister
from dormouse.adapters.catalog.sessions import SqlSessionBook
from dormouse.adapters.catalog.sqlite import SqliteBackend
from dormouse.adapters.catalog.terms import SqlTermStatistics
from dormouse.adapters.catalog.whole import Whole
from dormouse.adapters.catalog.work import SqlWorkLedger
from dormouse.adapters.catalog.workspaces import SqlWorkspaceRegister
from dormouse.clock import Clock, SystemClock
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

CONNECTIONS = 8  # of a server, for writing, and as many for reading

Result = TypeVar("Result")


class Backend(Protocol):
    """What differs between databases: how a transaction begins, the clock, and the care of the files."""

    def writing(self) -> AbstractAsyncContextManager[AsyncConnection]: ...
    def reading(self) -> AbstractAsyncContextManager[AsyncConnection]: ...
    async def write(self, work: Callable[[Any], Awaitable[Result]]) -> Result: ...
    async def read(self, work: Callable[[Any], Awaitable[Result]]) -> Result: ...
    def duty(self, name: str) -> AbstractAsyncContextManager[bool]: ...
    async def now_ms(self, connection: Any, /) -> int: ...  # noqa: ANN401  the backend's own kind
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

    def is_asking(self) -> bool:
        """Whether a statement of it is under way."""
        return self._connection.is_asking

    async def commit(self) -> None:
        await self._connection.commit()


class SqlCatalog:
    """The catalog in a SQL database; `url` as SQLAlchemy spells it, `sqlite:///file` for a file.

    On a server, `clock` is left out: processes on several machines judge leases by the server's. `connections`
    bounds its pools.
    """

    def __init__(self, url: str, clock: Clock | None = None, *, connections: int = CONNECTIONS) -> None:
        self._backend = _backend(url, clock, connections)

    @asynccontextmanager
    async def transaction(self) -> AsyncIterator[CatalogTransaction]:
        async with self._backend.writing() as connection:
            yield await self._begun(connection, may_write=True)

    @asynccontextmanager
    async def reading(self) -> AsyncIterator[CatalogTransaction]:
        async with self._backend.reading() as connection:
            yield await self._begun(connection, may_write=False)

    async def write(self, work: Callable[[CatalogTransaction], Awaitable[Result]]) -> Result:
        async def whole(connection: AsyncConnection | Connection) -> Result:
            tx = await self._begun(connection, may_write=True)
            return await Whole(work(tx), tx.is_asking)

        return await self._backend.write(whole)

    async def read(self, work: Callable[[CatalogTransaction], Awaitable[Result]]) -> Result:
        async def whole(connection: AsyncConnection | Connection) -> Result:
            tx = await self._begun(connection, may_write=False)
            return await Whole(work(tx), tx.is_asking)

        return await self._backend.read(whole)

    def duty(self, name: str) -> AbstractAsyncContextManager[bool]:
        return self._backend.duty(name)

    async def migrate(self) -> None:
        await self._backend.migrate()

    async def check(self) -> None:
        await self._backend.check()

    async def scrub(self) -> None:
        await self._backend.scrub()

    async def close(self) -> None:
        await self._backend.close()

    async def _begun(self, connection: AsyncConnection | Connection, *, may_write: bool) -> SqlTransaction:
        # The time is read only now: whoever waited for its turn must not judge leases by the time it came.
        now_ms = await self._backend.now_ms(connection)
        return SqlTransaction(CatalogConnection(connection, now_ms, may_write=may_write))


def _backend(url: str, clock: Clock | None, connections: int) -> Backend:
    if url.startswith(("sqlite:", "sqlite+aiosqlite:")):
        return SqliteBackend(url, clock or SystemClock())
    if is_postgresql(url):
        return _on_a_server(url, clock, connections)
    raise MisconfiguredError(
        "the catalog's URL must begin with sqlite:/// or postgresql://", setting="DATABASE__URL"
    )


def _on_a_server(url: str, clock: Clock | None, connections: int) -> Backend:
    try:
        # Only here: the laptop form is installed without this driver.
        from dormouse.adapters.catalog.postgresql import PostgresqlBackend  # noqa: PLC0415
    except ModuleNotFoundError as exc:
        raise MisconfiguredError(
            "a catalog in PostgreSQL needs its driver: install dormouse-memory[distributed]",
            setting="DATABASE__URL",
        ) from exc
    return PostgresqlBackend(url, clock, connections)
