"""Neo4j Community from its Maven artifacts; run as a module, it fetches them and prepares quick starts.

Pinned by a POM. A start costs three seconds with an archive of loaded classes, and seven without.
"""

import os
import secrets
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from neo4j import GraphDatabase
from neo4j.exceptions import DriverError, Neo4jError
from pydantic import SecretStr

from dormouse.server_settings import GraphSettings
from tests.toolchain import maven
from tests.toolchain.cache import fill, kept
from tests.toolchain.server_process import ServerProcess, free_port, listens

POM = Path(__file__).with_name("neo4j-pom.xml")
OLDEST_JAVA = 21
USER = "neo4j"
START_S = 180.0  # it computes for seven seconds without the archive, on a machine that has other things to do
HEAP = "320m"
ARCHIVE = "classes.jsa"
JVM = (
    "-XX:+UseSerialGC",
    "-XX:TieredStopAtLevel=1",
    "-XX:+DisableExplicitGC",
    "-Dlog4j2.disable.jmx=true",
)  # None that opens modules, as a production's server has: they make the archive useless, and are not missed.


@dataclass(frozen=True, slots=True)
class Neo4jPrograms:
    java: Path
    jars: Path
    archive: Path

    @property
    def class_path(self) -> str:
        return maven.class_path(self.jars)


@dataclass(frozen=True, slots=True)
class Neo4jServer:
    """Writes to its log before it acknowledges, so that a kill loses nothing."""

    programs: Neo4jPrograms
    folder: Path
    port: int
    password: str
    process: ServerProcess

    @property
    def url(self) -> str:
        return f"bolt://127.0.0.1:{self.port}"

    def settings(self) -> GraphSettings:
        return GraphSettings(url=self.url, user=USER, password=SecretStr(self.password))

    def start(self) -> None:
        self.process.start(self._is_ready)

    def kill(self) -> None:
        self.process.kill()

    def run(self, statement: str, **parameters: object) -> list[list[object]]:
        """What the server answers to whoever looks at its graph beside the product."""
        with (
            GraphDatabase.driver(self.url, auth=(USER, self.password), max_transaction_retry_time=0) as driver,
            driver.session(database="neo4j") as session,
        ):
            return [list(record.values()) for record in session.run(statement, parameters)]

    def empty(self) -> None:
        """Every node, and the schema with them."""
        self.run("MATCH (n) CALL (n) { DETACH DELETE n } IN TRANSACTIONS OF 5000 ROWS")

    def _is_ready(self) -> bool:
        if not listens(self.port):
            return False
        try:
            return self.run("RETURN 1") == [[1]]
        except (DriverError, Neo4jError):
            return False


def installed() -> Neo4jPrograms | None:
    """None until `install` has run for this checkout's pins, or where there is no Java for it."""
    java = maven.java(OLDEST_JAVA)
    if java is None or not _jars().exists():
        return None
    return Neo4jPrograms(java, _jars(), _archives(java) / ARCHIVE)


def install() -> None:
    """Needs Maven with a repository, whichever one it is set to, and Java 21 or newer."""
    java = maven.java(OLDEST_JAVA)
    if java is None:
        raise maven.NoJavaError(OLDEST_JAVA)
    if not _jars().exists():
        fill(_jars(), lambda folder: maven.fetch(POM, folder))
    programs = Neo4jPrograms(java, _jars(), _archives(java) / ARCHIVE)
    if not programs.archive.exists():
        fill(_archives(java), lambda folder: _archive_into(programs, folder))


@contextmanager
def running(
    programs: Neo4jPrograms, *, settings: Mapping[str, str] | None = None, jvm: Sequence[str] = ()
) -> Iterator[Neo4jServer]:
    """`settings` are lines of its configuration beside, or in place of, those of every test."""
    folder = Path(tempfile.mkdtemp(prefix="dormouse-neo4j-"))
    try:
        server = _prepared(programs, folder, settings or {}, jvm)
        try:
            server.start()
            yield server
        finally:
            server.process.stop()
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _prepared(
    programs: Neo4jPrograms, folder: Path, settings: Mapping[str, str], jvm: Sequence[str]
) -> Neo4jServer:
    for name in ("conf", "data", "logs", "plugins", "import", "run", "licenses"):
        (folder / name).mkdir()
    port, password = free_port(), secrets.token_hex(8)
    lines = {**_settings(port), **settings}
    (folder / "conf" / "neo4j.conf").write_text("".join(f"{name}={value}\n" for name, value in lines.items()))
    environment = {"HOME": str(folder), "NEO4J_HOME": str(folder), "NEO4J_CONF": str(folder / "conf")}
    subprocess.run(
        [
            programs.java, "-Xmx128m", *_quickly(programs), *JVM, "-cp", programs.class_path,
            "org.neo4j.cli.AdminTool", "dbms", "set-initial-password", password,
        ],
        check=True, capture_output=True, timeout=60, cwd=folder, env={"PATH": os.defpath, **environment},
    )  # fmt: skip
    process = ServerProcess(
        command=[
            programs.java, f"-Xms{HEAP}", f"-Xmx{HEAP}", *(jvm or _quickly(programs)), *JVM,
            "-cp", programs.class_path, "org.neo4j.server.Neo4jCommunity",
            f"--home-dir={folder}", f"--config-dir={folder / 'conf'}", "--console-mode",
        ],
        log=folder / "neo4j.log",
        environment=environment,
        start_s=START_S,
    )  # fmt: skip
    return Neo4jServer(programs, folder, port, password, process)


def _settings(port: int) -> dict[str, str]:
    return {
        "server.default_listen_address": "127.0.0.1",
        "server.default_advertised_address": "127.0.0.1",
        "server.bolt.listen_address": f"127.0.0.1:{port}",
        "server.bolt.advertised_address": f"127.0.0.1:{port}",
        "server.http.enabled": "false",
        "server.https.enabled": "false",
        # Broadcasts and reports of its own.
        "server.fleet_discovery.enabled": "false",
        "dbms.fleet_manager.enabled": "false",
        "dbms.usage_report.enabled": "false",
        "client.allow_telemetry": "false",
        "server.memory.heap.initial_size": HEAP,
        "server.memory.heap.max_size": HEAP,
        "server.memory.pagecache.size": "64m",
        "db.tx_log.preallocate": "false",
        # Else an orderly end waits for ten seconds.
        "internal.dbms.bolt.netty_server_shutdown_quiet_period_duration": "0s",
    }


def _quickly(programs: Neo4jPrograms) -> tuple[str, ...]:
    return (f"-XX:SharedArchiveFile={programs.archive}",) if programs.archive.exists() else ()


def _jars() -> Path:
    return kept("neo4j", (POM,))


def _archives(java: Path) -> Path:
    """Of this Java and these options."""
    return kept("neo4j-classes", (POM, Path(__file__), java.parents[1] / "release"))


def _archive_into(programs: Neo4jPrograms, folder: Path) -> None:
    """Written by a server that ends in order."""
    archive = folder / ARCHIVE
    writing = ("-XX:+AutoCreateSharedArchive", f"-XX:SharedArchiveFile={archive}")
    with running(programs, jvm=writing) as server:
        server.run("CREATE CONSTRAINT IF NOT EXISTS FOR (n:N) REQUIRE (n.a, n.b) IS UNIQUE")
        server.run("UNWIND range(1, 100) AS a MERGE (n:N {a: a, b: 'b'}) SET n.c = $c RETURN n.c", c="c")


if __name__ == "__main__":
    try:
        install()
    except (OSError, subprocess.SubprocessError, maven.NoJavaError) as error:
        is_java = isinstance(error, maven.NoJavaError)
        why = str(error) if is_java else f"{type(error).__name__}; more stands above"
        sys.exit(f"dormouse: Neo4j could not be fetched: {why}")
