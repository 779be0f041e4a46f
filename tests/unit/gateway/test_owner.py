import asyncio
import signal
from collections.abc import Callable
from pathlib import Path

import pytest
from starlette.applications import Starlette
from starlette.testclient import TestClient

from dormouse.adapters.data_folder.find import OWNER_PATH
from dormouse.adapters.data_folder.server_file import published
from dormouse.errors import MisconfiguredError
from dormouse_gateway.auth.api_keys import KeyFile
from dormouse_gateway.owner import Activity, end_when_idle, is_loopback, owner_of
from dormouse_gateway.settings import GatewaySettings
from tests.builders import NOW_MS


class _HandClock:
    """Seconds, moved by hand."""

    def __init__(self) -> None:
        self.now_s = 0.0

    def __call__(self) -> float:
        return self.now_s


def _settings(folder: Path, **given: object) -> GatewaySettings:
    return GatewaySettings.model_validate({"data_dir": folder, **given})


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.168.1.2", "example.net", "127.0.0.1.example.net"])
def test_an_address_beyond_loopback_needs_keys(tmp_path: Path, host: str) -> None:
    empty = tmp_path / "keys.json"
    for settings in (_settings(tmp_path, host=host), _settings(tmp_path, host=host, api_keys_file=empty)):
        with pytest.raises(MisconfiguredError, match="dormouse keys create"):
            owner_of(settings)


def test_every_web_page_may_call_only_where_keys_are_asked_for(tmp_path: Path) -> None:
    keys = tmp_path / "keys.json"

    with pytest.raises(MisconfiguredError, match="DORMOUSE_CORS_ORIGINS"):
        owner_of(_settings(tmp_path, cors_origins="*"))
    assert owner_of(_settings(tmp_path, cors_origins="*", api_keys_file=keys)).credentials.are_required


def test_with_a_key_it_may_listen_anywhere_and_requires_one(tmp_path: Path) -> None:
    KeyFile(tmp_path / "keys.json").create("ada", "", NOW_MS)

    owner = owner_of(_settings(tmp_path, host="0.0.0.0", api_keys_file=tmp_path / "keys.json"))

    assert owner.credentials.are_required


@pytest.mark.parametrize(("host", "is_near"), [("127.0.0.1", True), ("127.8.9.1", True), ("::1", True)])
def test_loopback_is_known_by_its_address(host: str, is_near: bool) -> None:
    assert is_loopback(host) is is_near
    assert is_loopback("localhost")


def test_a_damaged_key_file_ends_the_start(tmp_path: Path) -> None:
    (tmp_path / "keys.json").write_text("{")

    with pytest.raises(MisconfiguredError):
        owner_of(_settings(tmp_path, api_keys_file=tmp_path / "keys.json"))


def test_the_published_address_proves_itself_by_its_token(tmp_path: Path) -> None:
    owner = owner_of(_settings(tmp_path))
    owner.publish("http://127.0.0.1:8000/")
    address = published(tmp_path)
    assert address
    client = TestClient(owner.guard(Starlette(routes=owner.routes())))

    answer = client.get(OWNER_PATH, headers={"Authorization": f"Bearer {address.token}"})

    assert address.url == "http://127.0.0.1:8000"
    assert answer.json() == {"pid": address.pid, "version": address.version}
    assert client.get(OWNER_PATH).status_code == 401

    owner.withdraw()
    assert published(tmp_path) is None


def test_a_request_under_way_is_never_idle_and_its_end_starts_the_count() -> None:
    clock = _HandClock()
    activity = Activity(clock)
    clock.now_s = 50

    activity.enter()
    assert activity.idle_s() == 0

    clock.now_s = 700
    activity.leave()
    clock.now_s = 730
    assert activity.idle_s() == 30


@pytest.mark.virtual_time
async def test_it_ends_by_itself_once_nobody_came_for_long_enough(monkeypatch: pytest.MonkeyPatch) -> None:

    raised: list[float] = []
    loop = asyncio.get_running_loop()
    start_s = loop.time()
    activity = Activity(loop.time)
    monkeypatch.setattr(signal, "raise_signal", _noting(raised, loop.time))
    loop.call_later(400, activity.enter)
    loop.call_later(500, activity.leave)

    await end_when_idle(activity, 600)

    assert raised == [pytest.approx(start_s + 1100, abs=0.1)]


def _noting(times: list[float], clock: Callable[[], float]) -> Callable[[int], None]:
    return lambda _number: times.append(clock())
