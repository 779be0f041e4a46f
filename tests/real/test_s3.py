"""What only a server of blobs can do: away, back again, set up wrongly, and written to by many at once."""

import asyncio
import os
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path

import pytest
from pydantic import SecretStr

from dormouse.adapters.blob_store.s3 import LARGE_BYTES, YOUNG, S3BlobStore
from dormouse.errors import MisconfiguredError, NotFoundError, StoreUnavailableError
from dormouse.ids import BlobKey
from dormouse.server_settings import S3Settings
from tests.builders import A_JOB, A_WORKSPACE
from tests.toolchain import s3_server
from tests.toolchain.s3_server import S3Server
from tests.toolchain.server_process import free_port


@pytest.fixture
async def opened() -> AsyncIterator[Callable[[S3Settings], S3BlobStore]]:
    """Opens, and closes at the end."""
    stores: list[S3BlobStore] = []

    def open_store(settings: S3Settings) -> S3BlobStore:
        stores.append(S3BlobStore(settings))
        return stores[-1]

    yield open_store
    for store in stores:
        await store.close()


@pytest.fixture
def mortal(s3_program: Path) -> Iterator[S3Server]:
    """A server that may be killed."""
    with s3_server.running(s3_program) as server:
        yield server


async def test_a_working_bucket_passes_the_check(
    opened: Callable[[S3Settings], S3BlobStore], s3_settings: S3Settings
) -> None:
    await opened(s3_settings).check()


@pytest.mark.parametrize("scheme", ["http", "https"])
async def test_a_server_that_does_not_answer_is_told_by_its_setting(
    opened: Callable[[S3Settings], S3BlobStore], s3_settings: S3Settings, scheme: str
) -> None:
    """Nobody is there, or somebody who does not speak TLS."""
    there = s3_settings.endpoint.rpartition(":")[2] if scheme == "https" else free_port()
    away = {"endpoint": f"{scheme}://127.0.0.1:{there}", "timeout_s": 2}

    with pytest.raises(StoreUnavailableError, match="does not answer at DORMOUSE_S3__ENDPOINT"):
        await opened(s3_settings.model_copy(update=away)).check()


@pytest.mark.parametrize(
    ("change", "setting"),
    [
        ({"secret_key": SecretStr("wr0ng")}, "S3__ACCESS_KEY"),
        ({"access_key": SecretStr("nobody")}, "S3__ACCESS_KEY"),
        ({"bucket": "nowhere-at-all"}, "S3__BUCKET"),
    ],
)
async def test_what_is_set_wrongly_is_named_and_not_repeated(
    opened: Callable[[S3Settings], S3BlobStore],
    s3_settings: S3Settings,
    change: dict[str, object],
    setting: str,
) -> None:
    blobs = opened(s3_settings.model_copy(update=change))

    with pytest.raises(MisconfiguredError) as told:
        await blobs.check()
    with pytest.raises(StoreUnavailableError):
        await blobs.get(BlobKey("a/b/c"))

    assert told.value.setting == setting
    assert str(told.value).startswith(f"DORMOUSE_{setting} ")
    assert not any(word in str(told.value) for word in ("wr0ng", "nobody", "nowhere"))


@pytest.mark.promise("P8")
async def test_a_killed_server_is_told_and_found_again(
    opened: Callable[[S3Settings], S3BlobStore], mortal: S3Server, s3_settings: S3Settings
) -> None:
    """What was put is there afterwards."""
    mortal.make_bucket("memory")
    there = {"endpoint": mortal.endpoint, "bucket": "memory", "secret_key": SecretStr(mortal.secret_key)}
    blobs = opened(s3_settings.model_copy(update=there))
    key = await blobs.put(A_WORKSPACE, A_JOB, b"kept")

    mortal.kill()
    with pytest.raises(StoreUnavailableError):
        await blobs.put(A_WORKSPACE, A_JOB, b"lost")
    with pytest.raises(StoreUnavailableError):
        await blobs.get(key)
    with pytest.raises(StoreUnavailableError):
        await blobs.check()
    mortal.start()

    assert await blobs.get(key) == b"kept"


async def test_large_content_goes_in_parts_and_comes_back(
    opened: Callable[[S3Settings], S3BlobStore], s3_settings: S3Settings
) -> None:
    blobs, content = opened(s3_settings), os.urandom(1 << 20) * (LARGE_BYTES // (1 << 20) + 3)

    key = await blobs.put(A_WORKSPACE, A_JOB, content)

    assert await blobs.get(key) == content
    assert [info.size_bytes async for info in blobs.list(A_WORKSPACE)] == [len(content)]


async def test_many_who_put_the_same_at_once_agree(
    opened: Callable[[S3Settings], S3BlobStore], s3_settings: S3Settings
) -> None:
    blobs = opened(s3_settings)

    async with asyncio.TaskGroup() as group:
        put = [group.create_task(blobs.put(A_WORKSPACE, A_JOB, b"same")) for _ in range(16)]

    assert len({task.result() for task in put}) == 1
    assert await blobs.get(put[0].result()) == b"same"


async def test_what_is_there_is_written_again_only_once_it_is_old(
    opened: Callable[[S3Settings], S3BlobStore], s3: S3Server, s3_settings: S3Settings
) -> None:
    """A sweeper judges by age: what somebody is about to name must not look old."""
    blobs = opened(s3_settings)
    key = await blobs.put(A_WORKSPACE, A_JOB, b"same")
    stored = s3.buckets / s3_settings.bucket / key

    made_ns = stored.stat().st_mtime_ns
    await blobs.put(A_WORKSPACE, A_JOB, b"same")
    assert stored.stat().st_mtime_ns == made_ns

    aged_s = made_ns / 1e9 - 2 * YOUNG.total_seconds()
    os.utime(stored, (aged_s, aged_s))
    await blobs.put(A_WORKSPACE, A_JOB, b"same")
    assert stored.stat().st_mtime_ns >= made_ns


async def test_content_that_was_changed_elsewhere_is_never_handed_out(
    opened: Callable[[S3Settings], S3BlobStore], s3: S3Server, s3_settings: S3Settings
) -> None:
    blobs = opened(s3_settings)
    key = await blobs.put(A_WORKSPACE, A_JOB, b"same")

    (s3.buckets / s3_settings.bucket / key).write_bytes(b"sane")

    with pytest.raises(StoreUnavailableError):
        await blobs.get(key)


async def test_a_job_of_more_blobs_than_one_answer_lists_is_erased_whole(
    opened: Callable[[S3Settings], S3BlobStore], s3: S3Server, s3_settings: S3Settings
) -> None:
    blobs = opened(s3_settings)
    folder = s3.buckets / s3_settings.bucket / A_WORKSPACE / A_JOB
    folder.mkdir(parents=True)
    for number in range(1_100):
        (folder / f"{number:064x}").write_bytes(b"part")

    assert await blobs.erase_job(A_WORKSPACE, A_JOB) == 1_100

    assert [info async for info in blobs.list(A_WORKSPACE)] == []
    with pytest.raises(NotFoundError):
        await blobs.get(BlobKey(f"{A_WORKSPACE}/{A_JOB}/{0:064x}"))
