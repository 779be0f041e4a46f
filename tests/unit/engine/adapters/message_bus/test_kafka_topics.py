from dataclasses import replace

from dormouse.adapters.message_bus.kafka_topics import Found, Wanted, differences

TOPIC = Wanted("dormouse.apply", partitions=12, replicas=3, retention_ms=1000)
SAME = Found(12, 3, TOPIC.configuration)


def configured(**changes: str) -> Found:
    return replace(SAME, configuration={**TOPIC.configuration, **changes})


def test_what_is_as_wanted_has_no_differences() -> None:
    assert differences(TOPIC, SAME) == []


def test_more_than_wanted_is_as_good() -> None:
    for retention in ("1001", "-1"):
        found = replace(configured(**{"retention.ms": retention}), partitions=24, replicas=5)

        assert differences(TOPIC, found) == []


def test_each_difference_is_a_sentence_of_its_own() -> None:
    found = replace(configured(**{"retention.ms": "999", "max.message.bytes": "10"}), partitions=3, replicas=1)

    told = [line.partition(":")[0] for line in differences(TOPIC, found)]

    assert told == [
        "dormouse.apply has too few partitions, 3 of 12",
        "dormouse.apply has 1 of 3 replicas",
        "dormouse.apply has retention.ms=999, not 1000",
        "dormouse.apply has max.message.bytes=10, not 65536",
    ]
