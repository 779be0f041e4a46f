"""Whether the vectors of a stopped server can be opened, as a start would: for the doctor.

Opening them tidies up after a crash, as every start does, and changes nothing of what they hold. It is done
in a process of its own, because damaged files may end it: `python -m dormouse.adapters.vector_store.edge_look
FOLDER` ends with 0 if the shard opens, 75 while another process holds it, anything else if it does not open.
"""

import asyncio
import sys
from pathlib import Path

import qdrant_edge as edge

from dormouse.adapters.data_folder.find import EXIT_BUSY
from dormouse.adapters.data_folder.lock import owned
from dormouse.adapters.vector_store.edge_main import RECORD_NAME, SHARD_NAME
from dormouse.adapters.vector_store.edge_record import CollectionRecord
from dormouse.adapters.vector_store.edge_shard import settings_of
from dormouse.errors import DataFolderBusyError

LOOK_BUDGET_S = 60.0
_MODULE = "dormouse.adapters.vector_store.edge_look"


async def trouble_of(folder: Path) -> str:
    """Why the collection in `folder` cannot be opened; empty if it can, or is in use."""
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-P",
        "-m",
        _MODULE,
        str(folder),
        stdout=asyncio.subprocess.DEVNULL,
        stderr=asyncio.subprocess.DEVNULL,
    )
    try:
        async with asyncio.timeout(LOOK_BUDGET_S):
            code = await process.wait()
    except TimeoutError:
        process.kill()
        await process.wait()
        return "does not open in time"
    return "" if code in (0, EXIT_BUSY) else "cannot be opened"


def look(folder: Path) -> None:
    """Raises whatever opening raises."""
    with owned(folder):
        record = CollectionRecord.read(folder / RECORD_NAME)
        if record is None:
            raise FileNotFoundError(RECORD_NAME)
        shard = edge.EdgeShard.load(str(folder / SHARD_NAME), settings_of(record.dimension))
        shard.count(edge.CountRequest(exact=True))
        shard.scroll(edge.ScrollRequest(limit=1))


if __name__ == "__main__":
    try:
        look(Path(sys.argv[1]))
    except DataFolderBusyError:
        sys.exit(EXIT_BUSY)
