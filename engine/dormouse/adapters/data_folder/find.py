"""Find the process that owns a data folder, or start one: detached, on a free port, and only one.

Any number of processes may look at the same moment. Each that finds nobody starts a server; the folder's
lock lets one of them live, the others end with `EXIT_BUSY`, and everybody finds the survivor.
"""

import asyncio
import os
import subprocess
import sys
import time
from pathlib import Path

import httpx

from dormouse.adapters.data_folder.server_file import ServerAddress, published
from dormouse.errors import DormouseError, MisconfiguredError, UnavailableError

EXIT_BUSY = 75  # EX_TEMPFAIL of sysexits.h: another process owns the data folder
LOG_NAME = "serve.log"
LOG_LIMIT_BYTES = 5_000_000  # one older log is kept beside it
OWNER_PATH = "/local/owner"
REBUILD_PATH = "/local/rebuild"
MIGRATION_PATH = "/local/embedding-migration"
IDLE_EXIT_S = 600  # promised: ten minutes after its last client
START_BUDGET_S = 60.0  # a first start builds the catalog and reads the model
_ANSWER_BUDGET_S = 5.0
_LOOK_AGAIN_S = 0.1
_TRY_AGAIN_S = 3.0
_NOT_HANDED_ON = frozenset({"DORMOUSE_HOST", "DORMOUSE_PORT"})
_FILES = ("DORMOUSE_API_KEYS_FILE", "DORMOUSE_RECALL_SYSTEM_PROMPT_FILE")


async def running_owner(folder: Path) -> ServerAddress | None:
    """The owner that answers to its own token, or None; a file that a killed one left is seen through."""
    address = published(folder)
    if address is None:
        return None
    headers = {"Authorization": f"Bearer {address.token}"}
    try:
        async with httpx.AsyncClient(timeout=_ANSWER_BUDGET_S, trust_env=False) as client:
            answer = await client.get(address.url + OWNER_PATH, headers=headers)
            is_owner = answer.status_code == httpx.codes.OK and answer.json().get("pid") == address.pid
    except (httpx.HTTPError, httpx.InvalidURL, ValueError, AttributeError):
        return None
    return address if is_owner else None


async def find_or_start(folder: Path, *, budget_s: float = START_BUDGET_S) -> ServerAddress:
    """The address of the owner, started if none answers.

    Raises `MisconfiguredError` when a server refuses to start, and `UnavailableError` when none answers
    within `budget_s`.
    """
    starting: subprocess.Popen[bytes] | None = None
    start_at = time.monotonic()
    deadline = start_at + budget_s
    while (now := time.monotonic()) < deadline:
        address = await running_owner(folder)
        if address is not None:
            return address
        if starting is None and now >= start_at:
            starting = _start(folder)
        elif starting is not None and starting.poll() is not None:
            if starting.returncode != EXIT_BUSY:
                raise _refused(folder)
            # Somebody else was faster, or is just ending: another try is for the second case only.
            starting, start_at = None, now + _TRY_AGAIN_S
        await asyncio.sleep(_LOOK_AGAIN_S)
    raise UnavailableError(f"no server answers for the data folder; its log is {folder / LOG_NAME}")


def _start(folder: Path) -> subprocess.Popen[bytes]:
    """A server in a session of its own: it outlives the terminal and the agent that needed it first."""
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        log = _open_log(folder / LOG_NAME)
    except OSError as exc:
        raise MisconfiguredError(f"the data folder {folder} cannot be written", setting="DATA_DIR") from exc
    try:
        return subprocess.Popen(  # noqa: S603 - our own program, no shell
            [*own_command(), "serve", "--port", "0", "--idle-exit-s", str(IDLE_EXIT_S)],
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            cwd=folder,  # the agent's own folder may be removed under it
            env=_environment(folder),
            creationflags=_CREATION_FLAGS,
            start_new_session=True,  # means nothing on Windows, where the flags say it
        )
    finally:
        os.close(log)


def own_command() -> list[str]:
    """This program again, by the same interpreter: the `dormouse` of the path may be another one.

    `-P`: nothing is imported from the folder it happens to stand in.
    """
    return [sys.executable, "-P", "-m", "dormouse.cli.main"]


def _environment(folder: Path) -> dict[str, str]:
    """Its own, but for where it listens; relative paths are made absolute, as it stands in the data folder."""
    kept = {name: value for name, value in os.environ.items() if name not in _NOT_HANDED_ON}
    files = {name: str(Path(kept[name]).expanduser().absolute()) for name in _FILES if kept.get(name)}
    return {**kept, **files, "DORMOUSE_DATA_DIR": str(folder.absolute())}


def _open_log(path: Path) -> int:
    if path.exists() and path.stat().st_size > LOG_LIMIT_BYTES:
        path.replace(path.with_suffix(".log.1"))
    return os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)


def _refused(folder: Path) -> DormouseError:
    return MisconfiguredError(
        f"the server did not start: {_last_line(folder / LOG_NAME)} (log: {folder / LOG_NAME})"
    )


def _last_line(path: Path) -> str:
    lines = path.read_text(encoding="utf-8", errors="replace").strip().splitlines()
    return lines[-1] if lines else "it said nothing"


if sys.platform == "win32":
    _CREATION_FLAGS = subprocess.DETACHED_PROCESS | subprocess.CREATE_NEW_PROCESS_GROUP
else:
    _CREATION_FLAGS = 0
