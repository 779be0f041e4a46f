"""Kafka from its Maven artifacts, one node that is broker and controller; run as a module, it fetches them.

Pinned by a POM. Three listeners: open, with a user's password (SCRAM), and with that and TLS.
"""

import base64
import os
import secrets
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from uuid import uuid4

from tests.toolchain import maven
from tests.toolchain.cache import fill, kept
from tests.toolchain.server_process import ServerProcess, free_port, listens

POM = Path(__file__).with_name("kafka-pom.xml")
OLDEST_JAVA = 17
USER = "dormouse"
LISTENERS = ("OPEN", "PASSWORD", "TLS", "CONTROLLER")
PROPERTIES, PASSWORD, KEYS, CERTIFICATE = "server.properties", "password", "keys.p12", "certificate.pem"
START_S = 120.0  # it computes for three seconds, on a machine that has other things to do
# Without optimising what it runs: most servers of the tests live for seconds.
JVM = ("-Xms192m", "-Xmx192m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Djava.awt.headless=true")
LOGGING = ("-Dorg.slf4j.simpleLogger.defaultLogLevel=warn", "-Dorg.slf4j.simpleLogger.showDateTime=true")


@dataclass(frozen=True, slots=True)
class KafkaPrograms:
    """`mould` is the folder that a server's own begins as a copy of: what saves three Javas per server."""

    java: Path
    jars: Path
    mould: Path

    @property
    def keytool(self) -> Path:
        return self.java.with_name("keytool")

    def command(self, main: str, *arguments: str | Path) -> list[str | Path]:
        return [self.java, *JVM, *LOGGING, "-cp", maven.class_path(self.jars), main, *arguments]


@dataclass(frozen=True, slots=True)
class KafkaServer:
    """Keeps what it acknowledged when it is killed; a loss of power is not what is tested.

    `certificate` is the file that verifies the listener with TLS, whose name is `localhost`.
    """

    folder: Path
    port: int
    password_port: int
    tls_port: int
    password: str
    process: ServerProcess

    @property
    def bootstrap(self) -> str:
        return f"127.0.0.1:{self.port}"

    @property
    def certificate(self) -> Path:
        return self.folder / CERTIFICATE

    def start(self) -> None:
        self.process.start(lambda: listens(self.port))

    def kill(self) -> None:
        self.process.kill()


def installed() -> KafkaPrograms | None:
    """None until `install` has run for this checkout's pins, or where there is no Java for it."""
    java = maven.java(OLDEST_JAVA)
    is_there = java is not None and _jars().exists() and _mould().exists()
    return KafkaPrograms(java, _jars(), _mould()) if java is not None and is_there else None


def install() -> None:
    """Needs Maven with a repository, whichever one it is set to, and Java 17 or newer."""
    java = maven.java(OLDEST_JAVA)
    if java is None:
        raise maven.NoJavaError(OLDEST_JAVA)
    if not _jars().exists():
        fill(_jars(), lambda folder: maven.fetch(POM, folder))
    if not _mould().exists():
        fill(_mould(), lambda folder: _shape(KafkaPrograms(java, _jars(), folder)))


@contextmanager
def running(programs: KafkaPrograms, *, settings: Mapping[str, str] | None = None) -> Iterator[KafkaServer]:
    """`settings` are lines of its configuration beside, or in place of, those of every test."""
    folder = Path(tempfile.mkdtemp(prefix="dormouse-kafka-"))
    try:
        shutil.copytree(programs.mould, folder, dirs_exist_ok=True)
        password = (folder / PASSWORD).read_text()
        ports = {name: free_port() for name in LISTENERS}
        _write_settings(folder, ports, password, settings or {})
        process = ServerProcess(
            command=programs.command("kafka.Kafka", folder / PROPERTIES),
            log=folder / "kafka.log",
            environment={"HOME": str(folder)},
            start_s=START_S,
        )
        server = KafkaServer(folder, ports["OPEN"], ports["PASSWORD"], ports["TLS"], password, process)
        try:
            server.start()
            yield server
        finally:
            process.stop()
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _shape(programs: KafkaPrograms) -> None:
    """A folder of a server that never ran: its certificate, and its data with the user in them."""
    folder, password = programs.mould, secrets.token_hex(8)
    (folder / PASSWORD).write_text(password)
    store = ("-keystore", folder / KEYS, "-storepass", password, "-alias", "broker")
    made = ("-genkeypair", "-keyalg", "EC", "-groupname", "secp256r1", "-dname", "CN=localhost")
    _run([programs.keytool, *made, "-validity", "7300", "-ext", "san=dns:localhost", *store], folder)
    _run([programs.keytool, "-exportcert", "-rfc", "-file", folder / CERTIFICATE, *store], folder)
    _write_settings(folder, {name: free_port() for name in LISTENERS}, password, {})
    cluster = "A" + base64.urlsafe_b64encode(uuid4().bytes).decode()[1:22]  # a dash in front would be an option
    user = f"SCRAM-SHA-512=[name={USER},password={password}]"
    identity = ("--cluster-id", cluster, "--config", folder / PROPERTIES, "--add-scram", user)
    _run(programs.command("kafka.tools.StorageTool", "format", *identity), folder)


def _write_settings(folder: Path, ports: Mapping[str, int], password: str, settings: Mapping[str, str]) -> None:
    lines = {**_settings(folder, ports, password), **settings}
    (folder / PROPERTIES).write_text("".join(f"{name}={value}\n" for name, value in lines.items()))


def _settings(folder: Path, ports: Mapping[str, int], password: str) -> dict[str, str]:
    listeners = {name: f"{name}://127.0.0.1:{port}" for name, port in ports.items()}
    told = {**listeners, "TLS": f"TLS://localhost:{ports['TLS']}"}
    scram = "org.apache.kafka.common.security.scram.ScramLoginModule required;"
    single = (
        "offsets.topic.replication.factor", "offsets.topic.num.partitions",
        "transaction.state.log.replication.factor", "transaction.state.log.min.isr",
        "transaction.state.log.num.partitions", "share.coordinator.state.topic.replication.factor",
        "share.coordinator.state.topic.min.isr", "share.coordinator.state.topic.num.partitions",
    )  # fmt: skip
    return {
        "process.roles": "broker,controller",
        "node.id": "1",
        "controller.quorum.voters": f"1@127.0.0.1:{ports['CONTROLLER']}",
        "controller.listener.names": "CONTROLLER",
        "inter.broker.listener.name": "OPEN",
        "listeners": ",".join(listeners.values()),
        "advertised.listeners": ",".join(told[name] for name in ("OPEN", "PASSWORD", "TLS")),
        "listener.security.protocol.map": (
            "CONTROLLER:PLAINTEXT,OPEN:PLAINTEXT,PASSWORD:SASL_PLAINTEXT,TLS:SASL_SSL"
        ),
        "sasl.enabled.mechanisms": "SCRAM-SHA-512",
        "listener.name.password.scram-sha-512.sasl.jaas.config": scram,
        "listener.name.tls.scram-sha-512.sasl.jaas.config": scram,
        "ssl.keystore.type": "PKCS12",
        "ssl.keystore.location": str(folder / KEYS),
        "ssl.keystore.password": password,
        "log.dirs": str(folder / "data"),
        **dict.fromkeys(single, "1"),
        "group.initial.rebalance.delay.ms": "0",
        "num.network.threads": "2",
        "num.io.threads": "4",
        "log.cleaner.dedupe.buffer.size": "2097152",
        "log.segment.bytes": "16777216",
        "auto.create.topics.enable": "false",
        # Else it waits for nine seconds after a kill, until its former self is forgotten.
        "broker.session.timeout.ms": "1000",
        "broker.heartbeat.interval.ms": "200",
        "controlled.shutdown.enable": "false",
    }


def _run(command: list[str | Path], folder: Path) -> None:
    environment = {"PATH": os.defpath, "HOME": str(folder)}
    subprocess.run(command, check=True, capture_output=True, timeout=60, cwd=folder, env=environment)


def _jars() -> Path:
    return kept("kafka", (POM,))


def _mould() -> Path:
    return kept("kafka-mould", (POM, Path(__file__)))


if __name__ == "__main__":
    try:
        install()
    except (OSError, subprocess.SubprocessError, maven.NoJavaError) as error:
        is_java = isinstance(error, maven.NoJavaError)
        why = str(error) if is_java else f"{type(error).__name__}; more stands above"
        sys.exit(f"dormouse: Kafka could not be fetched: {why}")
