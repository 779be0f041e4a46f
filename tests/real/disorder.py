"""Processes that are started again whenever they end, and somebody who kills them and the servers at random."""

import random
import subprocess
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Protocol

from tests.contract.program import Program
from tests.toolchain.stack import Stack

LOOK_S = 0.2
LONGEST_DOWN_S = 3.0


class Server(Protocol):
    """Any server of the tests."""

    def kill(self) -> None: ...
    def start(self) -> None: ...


@dataclass(slots=True)
class Kept:
    """One process of ours that a platform would keep running."""

    program: Program
    arguments: Sequence[str]
    process: "subprocess.Popen[bytes] | None" = None
    turn: threading.Lock = field(default_factory=threading.Lock)

    def look(self) -> None:
        with self.turn:
            if self.process is None or self.process.poll() is not None:
                self.process = subprocess.Popen(
                    self.program.command(*self.arguments),
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.DEVNULL,
                    stderr=subprocess.DEVNULL,
                    env=self.program.environment,
                )

    def kill(self) -> None:
        with self.turn:
            if self.process is not None:
                self.process.kill()
                self.process.wait(30)


@contextmanager
def kept_running(kept: Sequence[Kept]) -> Iterator[None]:
    """Until the block ends; then all of them are killed."""
    ended = threading.Event()

    def watch() -> None:
        while not ended.wait(LOOK_S):
            for each in kept:
                each.look()

    watcher = threading.Thread(target=watch, name="keeps processes running")
    for each in kept:
        each.look()
    watcher.start()
    try:
        yield
    finally:
        ended.set()
        watcher.join()
        for each in kept:
            each.kill()


@contextmanager
def killing(stack: Stack, kept: Sequence[Kept], seed: int, every_s: tuple[float, float]) -> Iterator[list[str]]:
    """SIGKILL for one of them after the other; yields what was killed, as it goes. When the block has ended,
    every server runs again."""
    chance, ended, killed = random.Random(seed), threading.Event(), list[str]()

    def restarted(server: Server) -> Callable[[], None]:
        def deed() -> None:
            server.kill()
            time.sleep(chance.uniform(0, LONGEST_DOWN_S))
            server.start()

        return deed

    deeds: list[tuple[str, Callable[[], None]]] = [(" ".join(each.arguments[:3]), each.kill) for each in kept]
    servers: list[tuple[str, Server]] = [
        ("PostgreSQL", stack.postgresql),
        ("S3", stack.s3),
        ("Neo4j", stack.neo4j),
        ("Kafka", stack.kafka),
        ("vectors", stack.vectors),
    ]
    deeds += [(name, restarted(server)) for name, server in servers]

    def disturb() -> None:
        while not ended.wait(chance.uniform(*every_s)):
            name, deed = chance.choice(deeds)
            killed.append(name)
            deed()

    disturber = threading.Thread(target=disturb, name="kills")
    disturber.start()
    try:
        yield killed
    finally:
        ended.set()
        disturber.join()
