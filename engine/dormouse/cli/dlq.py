"""`dormouse dlq`: records of the cluster's topics that nobody could understand."""

import json
import os
from collections.abc import Mapping
from dataclasses import asdict
from datetime import UTC, datetime

import typer

from dormouse.adapters.message_bus import kafka_dead_letters
from dormouse.adapters.message_bus.kafka_connection import KafkaConnection
from dormouse.adapters.message_bus.kafka_dead_letters import Noted
from dormouse.cli.terminal import amount, note, say
from dormouse.server_settings import ServerSettings
from dormouse.settings import read


async def listing(limit: int, *, as_json: bool) -> int:
    """Returns the exit code."""
    noted = await kafka_dead_letters.newest(_connection(), limit)
    if as_json:
        say(json.dumps([_row(each) for each in noted], indent=2))
        return 0
    for each in noted:
        letter = each.letter
        place = f"{letter.topic} partition {letter.partition} offset {letter.offset}"
        say(f"{_time(each)}  {letter.reason}  {place}  {amount(letter.length, 'byte')}")
    if not noted:
        note("no records were put aside")
    return 0


async def drop(*, is_confirmed: bool) -> int:
    connection = _connection()
    if not is_confirmed:
        typer.confirm("Take out the notes about all records that were put aside?", abort=True)
    dropped = await kafka_dead_letters.drop(connection)
    say(f"dropped {amount(dropped, 'note')}")
    return 0


def _connection() -> KafkaConnection:
    return KafkaConnection(read(ServerSettings, os.environ).kafka)


def _row(noted: Noted) -> Mapping[str, object]:
    return {"at": _time(noted), **asdict(noted.letter)}


def _time(noted: Noted) -> str:
    return datetime.fromtimestamp(noted.at_ms / 1000, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
