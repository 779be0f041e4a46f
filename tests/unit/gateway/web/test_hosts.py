"""Under which names a server may be reached."""

import pytest

from dormouse_gateway.web.hosts import HostNames

LOCAL = HostNames([])
OPEN = HostNames(["*"])
NAMED = HostNames(["memory.example.net", "other.example.net:*", "third.example.net:9000"])


def test_pages_of_named_origins_may_call_and_no_others() -> None:
    names = HostNames([], ["https://App.example.net"])

    assert names.allow_origin("https://app.example.net")
    assert not names.allow_origin("http://app.example.net")
    assert not names.allow_origin("https://app.example.net.evil.example")
    assert not names.allow_host("app.example.net")
    assert HostNames([], ["*"]).allow_origin("https://any.example")


@pytest.mark.parametrize(
    "host", ["127.0.0.1", "127.0.0.1:8000", "localhost:1", "LOCALHOST", "[::1]:8000", "[::1]"]
)
def test_loopback_names_are_always_ours(host: str) -> None:
    assert LOCAL.allow_host(host)


@pytest.mark.parametrize(
    "host",
    [
        None,
        "",
        "evil.example",
        "127.0.0.1.evil.example",
        "localhost.evil.example:8000",
        "127.0.0.1@evil",
        "::1",
    ],
)
def test_other_names_are_not(host: str | None) -> None:
    assert not LOCAL.allow_host(host)


@pytest.mark.parametrize(
    ("host", "is_allowed"),
    [
        ("memory.example.net", True),
        ("memory.example.net:8000", False),
        ("other.example.net", True),
        ("other.example.net:8000", True),
        ("third.example.net:9000", True),
        ("third.example.net", False),
    ],
)
def test_a_configured_name_allows_its_port_and_any_port_when_it_says_so(host: str, is_allowed: bool) -> None:
    assert NAMED.allow_host(host) is is_allowed


@pytest.mark.parametrize(
    ("origin", "is_allowed"),
    [
        ("http://localhost:3000", True),
        ("https://127.0.0.1", True),
        ("https://memory.example.net", False),
        ("http://evil.example", False),
        ("null", False),
        ("file://localhost", False),
        ("http://[", False),
    ],
)
def test_an_origin_counts_as_its_host(origin: str, is_allowed: bool) -> None:
    assert LOCAL.allow_origin(origin) is is_allowed


def test_the_guard_can_be_left_to_whoever_is_in_front() -> None:
    assert OPEN.allow_host("10.0.0.7:8000")
    assert OPEN.allow_origin("https://anything.example")
