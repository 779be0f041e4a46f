"""A process of its own that works on a catalog: what the suites start, kill and starve.

Usage: python -m tests.contract.ports.catalog_process URL DEED COUNT [USER]
Prints one line for each deed once it is durable, or the code and message of the error that ended it.
"""

import asyncio
import os
import resource
import sys

from dormouse.adapters.catalog.transaction import SqlCatalog
from dormouse.clock import SystemClock
from dormouse.errors import DormouseError
from dormouse.ids import DatasetId, PrincipalId, WorkspaceId, new_job_id, new_session_entry_id
from dormouse.model.change import Change, ChangeKind
from dormouse.model.session import SessionEntry

# Not from the builders, which take seconds to import where many processes start at once.
WORKSPACE = WorkspaceId("local")
FILE_LIMIT_BYTES = 1 << 20


async def append(catalog: SqlCatalog, count: int) -> None:
    """Number changes, one transaction each."""
    for _ in range(count):
        async with catalog.transaction() as tx:
            await tx.workspaces.ensure(WORKSPACE, "Local")
            change = await tx.changes.append(a_change())
            await tx.commit()
        assert change is not None
        say(str(change.seq))


async def migrate(catalog: SqlCatalog, _count: int) -> None:
    await catalog.migrate()
    say("migrated")


async def check(catalog: SqlCatalog, _count: int) -> None:
    await catalog.check()
    say("checked")


async def fill(catalog: SqlCatalog, count: int) -> None:
    """Write until no file may grow, as on a full disk."""
    resource.setrlimit(resource.RLIMIT_FSIZE, (FILE_LIMIT_BYTES, FILE_LIMIT_BYTES))
    for _ in range(count):
        async with catalog.transaction() as tx:
            await tx.sessions.add(a_session_entry())
            await tx.commit()
        say("stored")


def a_change() -> Change:
    dataset = DatasetId("dataset")
    return Change(WORKSPACE, 0, new_job_id(), 0, ChangeKind.UPSERT, dataset, None, 0, 1, None, None)


def a_session_entry() -> SessionEntry:
    owner, text = PrincipalId("ada"), "x" * 50_000
    return SessionEntry(new_session_entry_id(), owner, "session", None, text, (), 0, 0)


DEEDS = {deed.__name__: deed for deed in (append, migrate, check, fill)}


def say(line: str) -> None:
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


async def main(url: str, deed: str, count: int, user: int | None = None) -> None:
    catalog = SqlCatalog(url, SystemClock())
    if user is not None:
        os.setuid(user)  # only now: the interpreter's own files may be closed to it
    try:
        await DEEDS[deed](catalog, count)
    except DormouseError as exc:
        say(f"{exc.code}: {exc}")
    finally:
        await catalog.close()


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], sys.argv[2], *map(int, sys.argv[3:])))
