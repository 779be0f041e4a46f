"""A disk without room is told as that, not as damage or silence."""

import errno
import shutil
from dataclasses import replace
from pathlib import Path

import pytest
from obstore.exceptions import BaseError

from dormouse import compose
from dormouse.adapters.blob_store import obstore
from dormouse.compose import embedded
from dormouse.errors import MisconfiguredError, StoreUnavailableError
from dormouse.settings import EngineSettings
from tests.contract.program import Program


async def test_a_start_that_fails_for_want_of_room_says_so(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without room the engine of the vectors fails as it does for damaged files."""
    shutil.rmtree(folder / "vectors" / "memories" / "shard")
    monkeypatch.setattr(embedded, "ROOM_BYTES", 2**62)

    with pytest.raises(MisconfiguredError, match="the disk of the data folder is full"):
        async with compose.open_ports(EngineSettings(data_dir=folder)):
            pass


@pytest.mark.parametrize(
    "error",
    [OSError(errno.ENOSPC, "No space left on device"), BaseError("put: (os error 28) at /a/path")],
)
def test_contents_that_find_no_room_are_refused_with_the_reason(error: Exception) -> None:
    with pytest.raises(StoreUnavailableError) as caught, obstore._translated():
        raise error

    assert str(caught.value) == "the blob store has a full disk; free some space"


def test_a_file_that_is_none_is_named_to_whoever_starts_the_server(tmp_path: Path) -> None:
    folder = tmp_path / "data folder"
    (folder / "session.key").mkdir(parents=True)

    refused = Program(folder).run("serve", "--port", "0")

    assert refused.returncode == 1
    assert "session.key: is a directory" in refused.stderr
    assert "Traceback" not in refused.stderr


async def test_a_disk_that_is_full_is_told_while_everything_is_still_found(tmp_path: Path) -> None:
    async with compose.open_ports(EngineSettings(data_dir=tmp_path / "data folder")) as ports:
        engine = compose.assemble(replace(ports, free_bytes=lambda: 4096))
        (problem,) = (await engine.troubles(await engine.scope_of(compose.LOCAL_PRINCIPAL))).problems

    assert "is full: what is remembered is found, and nothing new is taken in" in str(problem)
