"""Addresses, versions and failures of a Qdrant server, without one."""

import pytest
from pydantic import SecretStr
from qdrant_client import models

from dormouse.adapters.vector_store.qdrant_calls import QdrantCalls, assert_written, is_new_enough
from dormouse.errors import MisconfiguredError, StoreUnavailableError
from dormouse.server_settings import VectorsSettings


@pytest.mark.parametrize("url", ["", "http://", "http://host:port", "http://host:1/path", "http://host?x=1"])
async def test_an_address_that_names_no_server_is_refused(url: str) -> None:
    with pytest.raises(MisconfiguredError, match="must be an address like") as told:
        QdrantCalls(VectorsSettings(url=url))

    assert told.value.setting == "VECTORS__URL"


@pytest.mark.parametrize(
    ("url", "address"),
    [
        ("http://host", ("host", 6334, False)),
        ("https://host:7000", ("host", 7000, True)),
        ("http://[::1]:7000", ("::1", 7000, False)),
    ],
)
async def test_the_port_is_that_of_grpc_unless_it_is_named(url: str, address: tuple[str, int, bool]) -> None:
    assert QdrantCalls(VectorsSettings(url=url))._address == address


async def test_a_key_is_sent_without_a_warning_of_the_network() -> None:
    calls = QdrantCalls(VectorsSettings(url="http://host", api_key=SecretStr("k")))

    assert calls.client is calls.client
    await calls.close()


@pytest.mark.parametrize(
    ("version", "is_enough"),
    [("1.18.0", True), ("1.20.2", True), ("2.0.0", True), ("1.17.9", False), ("0.99", False), ("dev", False)],
)
def test_a_version_is_compared_by_its_numbers(version: str, is_enough: bool) -> None:
    assert is_new_enough(version) is is_enough


@pytest.mark.parametrize("status", [models.UpdateStatus.ACKNOWLEDGED, models.UpdateStatus.WAIT_TIMEOUT])
def test_a_write_that_may_still_come_is_not_taken_for_done(status: models.UpdateStatus) -> None:
    with pytest.raises(StoreUnavailableError):
        assert_written(models.UpdateResult(status=status))

    assert_written(models.UpdateResult(status=models.UpdateStatus.COMPLETED))
