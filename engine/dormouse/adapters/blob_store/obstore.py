"""Blobs in a folder.

The library writes to a draft and renames it, so a half-written blob never
has its name; it does not sync, so we do, file first and folders after, before `put` answers. Putting again
writes again, which heals a blob whose bytes were damaged.
"""

import asyncio
import contextlib
import errno
import os
import threading
from collections.abc import AsyncIterator, Iterator, Sequence
from pathlib import Path

import obstore
from obstore.exceptions import BaseError
from obstore.store import LocalStore

from dormouse.adapters.blob_store.keys import Entry, checked, entry, prefix_of
from dormouse.errors import NotFoundError, StoreUnavailableError
from dormouse.ids import BlobKey, JobId, WorkspaceId, sha256_hex
from dormouse.ports.blob_store import BlobInfo

_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
_DRAFTS = "*#*"  # the library names its drafts `<key>#<number>` and does not list them


class ObstoreBlobStore:
    """`folder` is its own and is made by the first call, which also drops what a crash left half-written."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._store: LocalStore | None = None
        self._opening = threading.Lock()

    async def put(self, workspace: WorkspaceId, job: JobId, content: bytes) -> BlobKey:
        key = BlobKey(f"{prefix_of(workspace, job)}/{sha256_hex(content)}")
        with _translated():
            await asyncio.to_thread(self._put, key, content)
        return key

    async def get(self, key: BlobKey) -> bytes:
        with _translated():
            try:
                content = await asyncio.to_thread(self._get, checked(key))
            except FileNotFoundError as exc:
                raise NotFoundError("no such blob") from exc
        if sha256_hex(content) != key.rpartition("/")[2]:
            raise StoreUnavailableError(port="blob")
        return content

    async def erase_job(self, workspace: WorkspaceId, job: JobId) -> int:
        prefix = prefix_of(workspace, job)
        keys = [key for key, _, _ in await self._under(f"{prefix}/")]
        for key in keys:
            await self._remove(key)
        with _translated():
            await asyncio.to_thread(_clear, self._folder / prefix)
        return len(keys)

    async def list(self, workspace: WorkspaceId, job: JobId | None = None) -> AsyncIterator[BlobInfo]:
        prefix = prefix_of(workspace, job)
        for key, size, modified_ms in await self._under(f"{prefix}/"):
            yield BlobInfo(key=BlobKey(key), size_bytes=size, modified_ms=modified_ms)

    async def erase(self, key: BlobKey) -> None:
        await self._remove(checked(key))

    async def close(self) -> None:
        """Nothing is held open between calls."""

    async def _remove(self, key: str) -> None:
        with _translated(), contextlib.suppress(FileNotFoundError):  # erasing twice is harmless
            await asyncio.to_thread(self._delete, key)

    async def _under(self, prefix: str) -> Sequence[Entry]:
        with _translated():
            return await asyncio.to_thread(self._list, prefix)

    # The library's blocking calls, each in a thread: with its coroutines, three of four interpreters that end
    # soon after the last call abort while they end (seen with 0.12.1).

    def _opened(self) -> LocalStore:
        with self._opening:  # or a second first call would take the first one's draft for a crash's
            if self._store is None:
                _prepare(self._folder)
                self._store = LocalStore(self._folder)
            return self._store

    def _put(self, key: str, content: bytes) -> None:
        obstore.put(self._opened(), key, content, use_multipart=False)
        _sync(self._folder / key, self._folder)

    def _get(self, key: str) -> bytes:
        return bytes(obstore.get(self._opened(), key).bytes())

    def _delete(self, key: str) -> None:
        obstore.delete(self._opened(), key)
        _sync_folders((self._folder / key).parent, self._folder)

    def _list(self, prefix: str) -> Sequence[Entry]:
        return sorted(entry(meta) for batch in obstore.list(self._opened(), prefix) for meta in batch)


def _prepare(folder: Path) -> None:
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    for draft in folder.glob(f"*/*/{_DRAFTS}"):
        draft.unlink(missing_ok=True)


def _clear(job_folder: Path) -> None:
    """Drafts hold content too."""
    for draft in job_folder.glob(_DRAFTS):
        draft.unlink(missing_ok=True)
    with contextlib.suppress(OSError):  # not there, or a put came in between
        job_folder.rmdir()


def _sync(path: Path, root: Path) -> None:
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
    _sync_folders(path.parent, root)


def _sync_folders(folder: Path, root: Path) -> None:
    """Names live in folders: each up to the root, which may all be new. Windows has no such thing."""
    if os.name == "nt":
        return
    while folder.is_relative_to(root):
        if folder.exists():
            handle = os.open(folder, os.O_RDONLY)
            try:
                os.fsync(handle)
            finally:
                os.close(handle)
        folder = folder.parent


@contextlib.contextmanager
def _translated() -> Iterator[None]:
    """A full disk, a read-only folder or any other trouble; the library's words hold paths and stay here."""
    try:
        yield
    except (BaseError, OSError) as exc:
        raise StoreUnavailableError(port="blob", is_full=_is_full(exc)) from exc


def _is_full(error: BaseException) -> bool:
    """The library has no type for it, only the system's words, which begin or end with the number."""
    number = getattr(error, "errno", None)
    return number in _FULL or any(f"os error {each}" in str(error) for each in _FULL)
