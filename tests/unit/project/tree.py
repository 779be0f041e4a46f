"""What the repository holds, found without git, so that an exported copy can be tested too."""

from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
PACKAGES = ("engine", "gateway", "ingest-worker", "operator")
FOLDERS = (*PACKAGES, "tests", "tools", "load", "docs", ".ci")
_CACHES = {"__pycache__", ".mypy_cache", ".ruff_cache", ".pytest_cache", ".hypothesis"}
_TEXTS = {".py", ".md", ".toml", ".json", ".jsonl", ".txt", ".ini", ".cfg", ".yaml", ".yml", ".sh", ".mako", ""}


def files(*folders: str) -> Iterator[Path]:
    for folder in folders:
        for path in sorted((ROOT / folder).rglob("*")):
            if path.is_file() and not _CACHES & set(path.parts):
                yield path


def modules(*folders: str) -> Iterator[Path]:
    return (path for path in files(*folders) if path.suffix == ".py")


def texts() -> Iterator[Path]:
    """Everything that people read or write, generated locks included."""
    at_root = (path for path in sorted(ROOT.iterdir()) if path.is_file() and path.suffix != ".orig")
    for path in (*at_root, *files(*FOLDERS)):
        if path.suffix in _TEXTS or path.suffix == ".lock":
            yield path


def named(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()
