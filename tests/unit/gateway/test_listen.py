"""Taking the port."""

import pytest

from dormouse.errors import MisconfiguredError
from dormouse_gateway.listen import listen, url_of


def test_port_zero_takes_a_free_one_and_the_address_names_it() -> None:
    with listen("127.0.0.1", 0) as listening:
        url = url_of(listening)

    assert url.startswith("http://127.0.0.1:")
    assert int(url.rpartition(":")[2]) > 0


def test_a_taken_port_is_told_with_what_to_do() -> None:
    with listen("127.0.0.1", 0) as listening:
        port = listening.getsockname()[1]
        with pytest.raises(MisconfiguredError, match=rf"port {port} of 127\.0\.0\.1 is taken.*DORMOUSE_PORT"):
            listen("127.0.0.1", port)


def test_a_host_of_nobody_is_told_with_what_to_do() -> None:
    with pytest.raises(MisconfiguredError, match="DORMOUSE_HOST"):
        listen("192.0.2.1", 0)
