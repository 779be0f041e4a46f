"""Java programs from Maven artifacts, each pinned by a POM, and a Java that is new enough to run them."""

import os
import re
import shutil
import subprocess
from pathlib import Path

DEADLINE_S = 600.0


class NoJavaError(Exception):
    """Neither in JAVA_HOME, nor on the PATH, nor where Linux distributions put it."""

    def __init__(self, oldest: int) -> None:
        super().__init__(f"Java {oldest} or newer is needed: set JAVA_HOME to one")


def java(oldest: int) -> Path | None:
    """The newest program that runs version `oldest`."""
    homes = [Path(os.environ["JAVA_HOME"])] if os.environ.get("JAVA_HOME") else []
    if on_path := shutil.which("java"):
        homes.append(Path(on_path).resolve().parents[1])
    homes += sorted(Path("/usr/lib/jvm").glob("*"))
    found = [(version, home / "bin" / "java") for home in homes if (version := _version(home)) >= oldest]
    return max(found, key=lambda each: each[0])[1] if found else None


def fetch(pom: Path, folder: Path) -> None:
    """Everything that runs what the POM names, from whichever repository Maven is set to."""
    copy = ("dependency:copy-dependencies", "-DincludeScope=runtime", f"-DoutputDirectory={folder}")
    subprocess.run(["mvn", "-B", "-q", "-f", pom, *copy], check=True, timeout=DEADLINE_S)


def class_path(jars: Path) -> str:
    """In one order: an archive of loaded classes belongs to it."""
    return os.pathsep.join(map(str, sorted(jars.glob("*.jar"))))


def _version(home: Path) -> int:
    try:
        told = re.search(r'JAVA_VERSION="(\d+)', (home / "release").read_text(encoding="utf-8"))
    except OSError:
        return 0
    return int(told[1]) if told else 0
