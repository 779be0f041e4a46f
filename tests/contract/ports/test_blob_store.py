"""The blobs' port, on every adapter of it."""

import pytest

from dormouse import ids
from dormouse.errors import NotFoundError
from dormouse.ports.blob_store import BlobStore
from tests.builders import A_JOB, A_WORKSPACE

ANOTHER_JOB = ids.JobId("00000000-0000-4000-8000-000000000002")
ELSEWHERE = ids.WorkspaceId("elsewhere")


async def keys_of(blobs: BlobStore, workspace: ids.WorkspaceId = A_WORKSPACE) -> list[str]:
    return sorted([info.key async for info in blobs.list(workspace)])


@pytest.mark.parametrize("content", [b"", b"\x00\xff" * 10, b"x" * 6_000_000], ids=["empty", "bytes", "large"])
async def test_content_comes_back_under_its_own_hash(blobs: BlobStore, content: bytes) -> None:
    key = await blobs.put(A_WORKSPACE, A_JOB, content)

    assert key == f"{A_WORKSPACE}/{A_JOB}/{ids.sha256_hex(content)}"
    assert await blobs.get(key) == content


async def test_putting_the_same_again_is_harmless(blobs: BlobStore) -> None:
    first = await blobs.put(A_WORKSPACE, A_JOB, b"same")

    assert await blobs.put(A_WORKSPACE, A_JOB, b"same") == first
    assert await keys_of(blobs) == [first]


async def test_a_list_tells_size_and_time_of_one_workspace_only(blobs: BlobStore) -> None:
    key = await blobs.put(A_WORKSPACE, A_JOB, b"four")
    await blobs.put(ELSEWHERE, A_JOB, b"other")

    found = [info async for info in blobs.list(A_WORKSPACE)]

    assert [(info.key, info.size_bytes) for info in found] == [(key, 4)]
    assert found[0].modified_ms > 1_600_000_000_000


async def test_a_list_of_one_job_holds_no_other_jobs_blobs(blobs: BlobStore) -> None:
    key = await blobs.put(A_WORKSPACE, A_JOB, b"one")
    await blobs.put(A_WORKSPACE, ANOTHER_JOB, b"two")

    assert [info.key async for info in blobs.list(A_WORKSPACE, A_JOB)] == [key]


@pytest.mark.promise("P3")
async def test_erasing_a_job_leaves_other_jobs_alone(blobs: BlobStore) -> None:
    doomed = [await blobs.put(A_WORKSPACE, A_JOB, content) for content in (b"one", b"two")]
    kept = await blobs.put(A_WORKSPACE, ANOTHER_JOB, b"one")

    erased = await blobs.erase_job(A_WORKSPACE, A_JOB)

    assert erased == 2
    assert await keys_of(blobs) == [kept]
    for key in doomed:
        with pytest.raises(NotFoundError):
            await blobs.get(key)
    assert await blobs.erase_job(A_WORKSPACE, A_JOB) == 0


async def test_erasing_one_blob_twice_is_harmless(blobs: BlobStore) -> None:
    key = await blobs.put(A_WORKSPACE, A_JOB, b"one")

    await blobs.erase(key)
    await blobs.erase(key)

    assert await keys_of(blobs) == []


@pytest.mark.parametrize("key", ["", "a/b", "../../etc/passwd", "a/b/c/d", "a/../c", "a//c"])
async def test_a_key_that_is_none_names_nothing(blobs: BlobStore, key: str) -> None:
    with pytest.raises(NotFoundError):
        await blobs.get(ids.BlobKey(key))
