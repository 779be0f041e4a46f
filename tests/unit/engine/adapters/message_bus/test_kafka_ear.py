import pytest

from dormouse.adapters.message_bus.kafka_ear import Hearing


@pytest.mark.parametrize(
    ("hearing", "is_alive"),
    [
        (Hearing("t", is_connected=True, partitions=3, turned_s=1, fetched_s=1), True),
        (Hearing("t", is_connected=True, partitions=0, turned_s=1, fetched_s=None), True),
        (Hearing("t", is_connected=False, partitions=0, turned_s=30, fetched_s=None), True),
        (Hearing("t", is_connected=True, partitions=3, turned_s=1, fetched_s=121), False),
        (Hearing("t", is_connected=True, partitions=3, turned_s=121, fetched_s=1), False),
        (Hearing("t", is_connected=False, partitions=0, turned_s=121, fetched_s=None), False),
    ],
    ids=["polls", "has no partitions", "broker is away", "fetches nothing", "polls no more", "tries no more"],
)
def test_alive_is_who_polls_and_fetches_or_tries_to(hearing: Hearing, *, is_alive: bool) -> None:
    assert hearing.is_alive is is_alive
