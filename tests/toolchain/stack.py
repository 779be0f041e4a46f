"""Every server that the cluster's form needs, started together.

Run as a module, until it is interrupted, it prints the settings, and with `--processes` also runs two
gateways, two workers that extract and two that apply as well.
"""

import os
import shlex
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from typing import TypeVar
from uuid import uuid4

from tests.toolchain import kafka, neo4j, postgresql, s3_server, vector_server
from tests.toolchain.kafka import KafkaServer
from tests.toolchain.neo4j import Neo4jServer
from tests.toolchain.postgresql import PostgresqlServer
from tests.toolchain.s3_server import S3Server
from tests.toolchain.vector_server import VectorServer

Programs = TypeVar("Programs")

DORMOUSE = (sys.executable, "-m", "dormouse.cli.main")


class MissingError(RuntimeError):
    """A server is not installed here; the words say which, and what installs it."""


@dataclass(frozen=True, slots=True)
class Stack:
    """The servers, each of which may serve several memories."""

    postgresql: PostgresqlServer
    s3: S3Server
    neo4j: Neo4jServer
    kafka: KafkaServer
    vectors: VectorServer

    def settings(self) -> dict[str, str]:
        """The variables of a new memory on it: a database, a bucket and a prefix of its own, an empty graph."""
        name = uuid4().hex
        self.postgresql.run(f"CREATE DATABASE memory_{name} TEMPLATE template0")
        self.s3.make_bucket(f"memory-{name}")
        graph = self.neo4j.settings()
        return {
            "DORMOUSE_PROFILE": "distributed",
            "DORMOUSE_DATABASE__URL": self.postgresql.url(f"memory_{name}"),
            "DORMOUSE_GRAPH__URL": graph.url,
            "DORMOUSE_GRAPH__PASSWORD": graph.password.get_secret_value(),
            "DORMOUSE_KAFKA__BOOTSTRAP_SERVERS": self.kafka.bootstrap,
            "DORMOUSE_KAFKA__PARTITIONS": "3",
            "DORMOUSE_KAFKA__PREFIX": f"memory-{name}",
            "DORMOUSE_KAFKA__REPLICAS": "1",
            "DORMOUSE_S3__ACCESS_KEY": s3_server.ACCESS_KEY,
            "DORMOUSE_S3__BUCKET": f"memory-{name}",
            "DORMOUSE_S3__ENDPOINT": self.s3.endpoint,
            "DORMOUSE_S3__REGION": s3_server.REGION,
            "DORMOUSE_S3__SECRET_KEY": self.s3.secret_key,
            "DORMOUSE_VECTORS__API_KEY": self.vectors.api_key,
            "DORMOUSE_VECTORS__URL": self.vectors.url,
        }


@contextmanager
def running() -> Iterator[Stack]:
    """Raises `MissingError`."""
    with ExitStack() as stack:
        yield Stack(
            stack.enter_context(postgresql.running(_there("PostgreSQL", postgresql.installed()))),
            stack.enter_context(s3_server.running(_there("the S3 server", s3_server.installed()))),
            stack.enter_context(neo4j.running(_there("Neo4j", neo4j.installed()))),
            stack.enter_context(kafka.running(_there("Kafka", kafka.installed()))),
            stack.enter_context(vector_server.running()),
        )


def _there(name: str, programs: Programs | None) -> Programs:
    if programs is None:
        raise MissingError(f"{name} is not installed here: `make real-servers` does it")
    return programs


def prepared(settings: Mapping[str, str]) -> dict[str, str]:
    """The environment of a process with these settings, once tables and topics are made."""
    environment = {**os.environ, **settings}
    for command in (("migrate",), ("topics", "ensure")):
        subprocess.run([*DORMOUSE, *command], env=environment, check=True, stdout=subprocess.DEVNULL)
    return environment


@contextmanager
def processes(environment: Mapping[str, str]) -> Iterator[list[str]]:
    """Two gateways and four workers; yields the gateways' addresses once all of them are ready."""
    workers = [("worker", "--role", role) for role in ("extract", "extract", "apply", "apply")]
    gateways = [("serve", "--port", "0")] * 2
    started = [
        subprocess.Popen([*DORMOUSE, *command], env=dict(environment), stdout=subprocess.PIPE, text=True)
        for command in (*gateways, *workers)
    ]
    try:
        lines = [_first_line(each) for each in started]
        yield [line.removeprefix("Dormouse ready: ").strip() for line in lines[:2]]
    finally:
        for each in started:
            each.terminate()
        for each in started:
            each.wait(60)


def _first_line(process: "subprocess.Popen[str]") -> str:
    assert process.stdout is not None
    line = process.stdout.readline()
    if not line:
        raise RuntimeError(f"{process.args!r} ended with {process.wait(60)}; why stands above")
    return line


def main(arguments: Sequence[str]) -> None:
    with running() as stack:
        settings = stack.settings()
        _say("# The servers run until this is interrupted. For a process of the cluster's form:")
        _say("\n".join(f"export {name}={shlex.quote(value)}" for name, value in settings.items()))
        environment = prepared(settings)
        if "--processes" not in arguments:
            _until_interrupted()
            return
        with processes(environment) as addresses:
            _say(f"# Two gateways and four workers run: {' and '.join(addresses)}")
            _until_interrupted()


def _say(words: str) -> None:
    sys.stdout.write(f"{words}\n")
    sys.stdout.flush()


def _until_interrupted() -> None:
    with suppress(KeyboardInterrupt):
        threading.Event().wait()


if __name__ == "__main__":
    for each in (signal.SIGINT, signal.SIGTERM):  # also where a shell started it in the background
        signal.signal(each, signal.default_int_handler)
    try:
        main(sys.argv[1:])
    except KeyboardInterrupt:
        sys.exit(0)
    except (MissingError, RuntimeError, subprocess.CalledProcessError) as error:
        sys.exit(f"dormouse: {error}")
