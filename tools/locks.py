"""Write the lock files, and say whether they still belong to pyproject.toml.

A lock is universal (every supported system and Python in one file), exact, hashed, and names no index: it
installs from whichever one the user's pip is set to. Its first line carries the digest of the requirements it
was made from, so that staleness is found offline.
"""

import hashlib
import json
import re
import subprocess
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
DIGEST = re.compile(r"# requirements-sha256: ([0-9a-f]{64})")
PIN = re.compile(r"^([A-Za-z0-9._-]+)==(\S+)", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Lock:
    """`groups` are the dependency groups that it holds, beside the program's own requirements or without."""

    name: str
    groups: tuple[str, ...]
    has_program: bool = True

    @property
    def path(self) -> Path:
        return ROOT / self.name


RUN = Lock("requirements.lock", ("build",))
TEST = Lock("requirements-dev.lock", ("dev",))
CONFORMANCE = Lock("requirements-conformance.lock", ("conformance",), has_program=False)
POSTGRESQL = Lock("requirements-postgresql.lock", ("postgresql",), has_program=False)
LOCKS = (RUN, TEST, CONFORMANCE, POSTGRESQL)


def requirements_of(lock: Lock) -> list[str]:
    """The requirements that `lock` must satisfy, as pyproject.toml writes them."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    listed = list(project["project"]["dependencies"]) if lock.has_program else []
    for group in lock.groups:
        listed += _group(project["dependency-groups"], group)
    return sorted(listed)


def digest_of(lock: Lock) -> str:
    return hashlib.sha256(json.dumps(requirements_of(lock)).encode()).hexdigest()


def is_fresh(lock: Lock) -> bool:
    """Made from the requirements that stand in pyproject.toml now."""
    found = DIGEST.match(lock.path.read_text(encoding="utf-8"))
    return found is not None and found[1] == digest_of(lock)


def pins_of(lock: Lock) -> dict[str, set[str]]:
    """Versions by normalised name; more than one where Pythons differ."""
    pins: dict[str, set[str]] = {}
    for name, version in PIN.findall(lock.path.read_text(encoding="utf-8")):
        pins.setdefault(re.sub(r"[-_.]+", "-", name).lower(), set()).add(version)
    return pins


def write(lock: Lock) -> None:
    """Resolve anew with uv; the only step that needs a package index."""
    program = ["pyproject.toml"] if lock.has_program else []
    groups = [argument for group in lock.groups for argument in ("--group", group)]
    done = subprocess.run(
        [
            "uv", "pip", "compile", "--universal", "--python-version", "3.11", "--generate-hashes", "--quiet",
            "--no-emit-index-url", "--no-annotate", "--no-header", *program, *groups,
        ],
        cwd=ROOT, check=True, capture_output=True, text=True,
    )  # fmt: skip
    lock.path.write_text(f"# requirements-sha256: {digest_of(lock)}\n# Written by `make lock`.\n{done.stdout}")


def _group(groups: dict[str, list[Any]], name: str) -> list[str]:
    listed: list[str] = []
    for entry in groups[name]:
        listed += [entry] if isinstance(entry, str) else _group(groups, entry["include-group"])
    return listed


if __name__ == "__main__":
    for one in LOCKS:
        write(one)
