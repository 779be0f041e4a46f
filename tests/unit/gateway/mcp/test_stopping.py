"""How long calls may wait once the process is to end."""

from dormouse_gateway.mcp.stopping import FOREVER, Stopping


def test_until_somebody_asks_there_is_no_end() -> None:
    assert Stopping(50.0).latest() == FOREVER


def test_the_first_request_to_end_counts() -> None:
    now = [100.0]
    stopping = Stopping(50.0, clock=lambda: now[0])

    stopping.begin()
    now[0] = 130.0
    stopping.begin()

    assert stopping.latest() == 150.0
