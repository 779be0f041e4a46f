"""`make run` on machines that lack something says in one line what, and what to do."""

import shutil
import subprocess
from pathlib import Path

import pytest

from tests.unit.project.tree import ROOT

NEEDED = ("sh", "cat", "cksum", "uname", "dirname", "rm")
TOO_OLD = 'case "$1" in -V) echo "Python 3.10.13" ;; *) exit 1 ;; esac'
WITHOUT_VENV = 'case "$2" in *ensurepip*) exit 1 ;; esac'


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A copy in a folder with a space in its name, and a PATH without any Python."""
    folder = tmp_path / "a checkout"
    (folder / "tools").mkdir(parents=True)
    (folder / "bin").mkdir()
    shutil.copy(ROOT / "tools" / "environment", folder / "tools")
    for name in ("requirements.lock", "pyproject.toml"):
        shutil.copy(ROOT / name, folder)
    for name in NEEDED:
        (folder / "bin" / name).symlink_to(shutil.which(name) or name)
    return folder


def python(checkout: Path, name: str, script: str) -> None:
    path = checkout / "bin" / name
    path.write_text(f"#!/bin/sh\n{script}\n", encoding="utf-8")
    path.chmod(0o755)


def run(checkout: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    command = [str(checkout / "tools" / "environment"), "requirements.lock"]
    given = {"PATH": str(checkout / "bin"), **environment}
    return subprocess.run(command, env=given, capture_output=True, text=True, check=False, timeout=30)


def test_without_any_python(checkout: Path) -> None:
    done = run(checkout)

    assert done.returncode == 1
    assert done.stderr.startswith("dormouse: needs Python 3.11 or newer and found none;")
    assert len(done.stderr.splitlines()) == 1


def test_with_an_older_python(checkout: Path) -> None:
    python(checkout, "python3", TOO_OLD)

    done = run(checkout)

    assert done.returncode == 1
    assert done.stderr.startswith("dormouse: needs Python 3.11 or newer and found Python 3.10.13;")
    assert len(done.stderr.splitlines()) == 1


def test_a_python_that_was_named_is_not_silently_replaced(checkout: Path) -> None:
    python(checkout, "python3.10", TOO_OLD)
    python(checkout, "python3.12", "exit 0")

    done = run(checkout, PYTHON="python3.10")

    assert done.returncode == 1
    assert done.stderr == "dormouse: python3.10 is Python 3.10.13; 3.11 or newer is needed\n"


def test_with_a_python_that_lacks_venv(checkout: Path) -> None:
    python(checkout, "python3", TOO_OLD)
    python(checkout, "python3.12", WITHOUT_VENV)

    done = run(checkout)

    assert done.returncode == 1
    assert done.stderr == (
        "dormouse: python3.12 lacks the venv module; install it (Debian and Ubuntu: apt install python3-venv)\n"
    )


def test_what_is_already_installed_is_not_looked_at_again(checkout: Path) -> None:
    key = subprocess.run(
        ["sh", "-c", "{ cat requirements.lock pyproject.toml; pwd; } | cksum"],
        cwd=checkout, capture_output=True, text=True, check=True,
    )  # fmt: skip
    (checkout / ".venv" / "bin").mkdir(parents=True)
    python(checkout, "../.venv/bin/python", "exit 1")
    (checkout / ".venv" / "requirements.lock.installed").write_text(key.stdout, encoding="utf-8")

    done = run(checkout)

    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
