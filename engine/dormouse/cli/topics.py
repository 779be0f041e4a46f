"""`dormouse topics`: the topics of the cluster's form in Kafka."""

import os

from dormouse.adapters.message_bus import kafka_topics
from dormouse.adapters.message_bus.kafka_connection import KafkaConnection
from dormouse.cli.terminal import note, say
from dormouse.server_settings import ServerSettings
from dormouse.settings import read


async def ensure() -> int:
    """Returns the exit code."""
    report = await kafka_topics.ensure(KafkaConnection(read(ServerSettings, os.environ).kafka))
    for name in report.made:
        say(f"made {name}")
    for difference in report.differences:
        note(difference)
    if report.differences:
        return 1
    say("The topics are as they must be.")
    return 0
