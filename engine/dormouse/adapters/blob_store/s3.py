"""Blobs in an S3 bucket.

What is there already is not sent again, unless it is old: a sweeper may be about to take out an old blob that
no row names yet, and writing it again makes it young. Large content goes in several parts, without that
question, since the same key always holds the same bytes.
"""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, TypeVar

import obstore
from obstore.exceptions import AlreadyExistsError, BaseError, PermissionDeniedError, UnauthenticatedError
from obstore.store import S3Store

from dormouse.adapters.blob_store.keys import Entry, checked, entry, prefix_of
from dormouse.errors import MisconfiguredError, NotFoundError, StoreUnavailableError
from dormouse.ids import BlobKey, JobId, WorkspaceId, sha256_hex
from dormouse.ports.blob_store import BlobInfo
from dormouse.server_settings import S3Settings

if TYPE_CHECKING:
    from obstore.store import S3Config  # exists for type checkers only

AT_ONCE = 16  # requests of this process; more wait
LARGE_BYTES = 16 << 20
PART_BYTES = 8 << 20
PARTS_AT_ONCE = 4
TRIES = 3
YOUNG = timedelta(hours=1)  # of the day after which a sweeper takes out what nobody names

_PROBE = "probe"  # no blob: their keys have three parts

Result = TypeVar("Result")


class S3BlobStore:
    """Raises `MisconfiguredError` for settings that can be told from wrong ones without asking the server."""

    def __init__(self, settings: S3Settings) -> None:
        self._store = _store(settings)
        self._where = "S3__ENDPOINT" if settings.endpoint else "S3__REGION"
        # The library's blocking calls, each in a thread, as for the folder and for the same reason.
        self._threads = ThreadPoolExecutor(AT_ONCE, thread_name_prefix="s3")

    async def check(self) -> None:
        """Raises `MisconfiguredError` when the server refuses the key or has no such bucket, and
        `StoreUnavailableError`, which names the setting, when it does not answer."""
        try:
            # A missing key is told apart from a missing bucket and, by whoever may list, from a refusal.
            await self._run(lambda: obstore.get(self._store, _PROBE))
        except (PermissionDeniedError, UnauthenticatedError) as exc:
            raise _refused() from exc
        except FileNotFoundError as exc:
            if "NoSuchBucket" in str(exc):
                raise _wrong("S3__BUCKET", "names a bucket that is not there") from exc
            if not _is_of_key(exc):  # some servers miss the access key itself
                raise _refused() from exc
        except (BaseError, OSError) as exc:
            raise StoreUnavailableError(port="blob", setting=self._where) from exc

    async def put(self, workspace: WorkspaceId, job: JobId, content: bytes) -> BlobKey:
        key = BlobKey(f"{prefix_of(workspace, job)}/{sha256_hex(content)}")
        with _translated():
            await self._run(lambda: self._put(key, content))
        return key

    async def get(self, key: BlobKey) -> bytes:
        path = checked(key)
        with _translated():
            try:
                content = await self._run(lambda: bytes(obstore.get(self._store, path).bytes()))
            except FileNotFoundError as exc:
                if not _is_of_key(exc):  # or everything would look lost with the bucket
                    raise
                raise NotFoundError("no such blob") from exc
        if sha256_hex(content) != key.rpartition("/")[2]:
            raise StoreUnavailableError(port="blob")
        return content

    async def erase_job(self, workspace: WorkspaceId, job: JobId) -> int:
        keys = [key for key, _, _ in await self._under(f"{prefix_of(workspace, job)}/")]
        if keys:
            with _translated():
                await self._run(lambda: obstore.delete(self._store, keys))
        return len(keys)

    async def list(self, workspace: WorkspaceId, job: JobId | None = None) -> AsyncIterator[BlobInfo]:
        for key, size, modified_ms in await self._under(f"{prefix_of(workspace, job)}/"):
            yield BlobInfo(key=BlobKey(key), size_bytes=size, modified_ms=modified_ms)

    async def erase(self, key: BlobKey) -> None:
        path = checked(key)
        with _translated():
            await self._run(lambda: obstore.delete(self._store, path))

    async def close(self) -> None:
        await asyncio.to_thread(self._threads.shutdown, cancel_futures=True)

    async def _run(self, call: Callable[[], Result]) -> Result:
        return await asyncio.get_running_loop().run_in_executor(self._threads, call)

    async def _under(self, prefix: str) -> Sequence[Entry]:
        with _translated():
            return await self._run(lambda: self._list(prefix))

    def _list(self, prefix: str) -> Sequence[Entry]:
        return sorted(entry(meta) for batch in obstore.list(self._store, prefix) for meta in batch)

    def _put(self, key: str, content: bytes) -> None:
        if len(content) > LARGE_BYTES:
            obstore.put(
                self._store, key, content,
                use_multipart=True, chunk_size=PART_BYTES, max_concurrency=PARTS_AT_ONCE,
            )  # fmt: skip
            return
        try:
            obstore.put(self._store, key, content, mode="create", use_multipart=False)
        except AlreadyExistsError:  # by another try, or by this one if its answer was lost
            if not self._is_young(key, len(content)):
                obstore.put(self._store, key, content, use_multipart=False)

    def _is_young(self, key: str, size: int) -> bool:
        try:
            found = obstore.head(self._store, key)
        except FileNotFoundError:  # erased in between
            return False
        return found["size"] == size and datetime.now(UTC) - found["last_modified"] < YOUNG


def _store(settings: S3Settings) -> S3Store:
    if not settings.bucket:
        raise _wrong("S3__BUCKET", "must name a bucket")
    access_key, secret_key = settings.access_key.get_secret_value(), settings.secret_key.get_secret_value()
    if bool(access_key) != bool(secret_key):
        raise _wrong("S3__SECRET_KEY", "must be set together with DORMOUSE_S3__ACCESS_KEY, or neither")
    config: S3Config = {"region": settings.region}
    if settings.endpoint:
        config["endpoint"] = settings.endpoint
    if access_key:
        config |= {"access_key_id": access_key, "secret_access_key": secret_key}
    patience = timedelta(seconds=settings.timeout_s)
    try:
        return S3Store(
            settings.bucket,
            config=config,
            client_options={
                "timeout": patience,
                "connect_timeout": min(patience, timedelta(seconds=3)),
                "allow_http": settings.endpoint.startswith("http://"),
            },
            retry_config={"max_retries": TRIES - 1, "retry_timeout": patience},
        )
    except BaseError as exc:
        raise _wrong("S3__ENDPOINT", "or the bucket's name is not one that can be asked") from exc


@contextlib.contextmanager
def _translated() -> Iterator[None]:
    """Also a key that is refused now and was not at the start: whoever changed it will put it right."""
    try:
        yield
    except (BaseError, OSError) as exc:
        raise StoreUnavailableError(port="blob") from exc


def _is_of_key(error: FileNotFoundError) -> bool:
    """The library has one type for whatever is missing, and the server's words in it."""
    return "NoSuchKey" in str(error)


def _refused() -> MisconfiguredError:
    return _wrong("S3__ACCESS_KEY", "and its secret are refused for this bucket")


def _wrong(setting: str, rule: str) -> MisconfiguredError:
    return MisconfiguredError(f"DORMOUSE_{setting} {rule}", setting=setting)
