"""What a tier fetches or builds once is kept in one folder, keyed by the pins it was made from.

`DORMOUSE_TEST_CACHE` names the folder; without it, it is in the user's cache directory.
"""

import hashlib
import os
import shutil
import sys
import sysconfig
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

VARIABLE = "DORMOUSE_TEST_CACHE"


def cache_folder() -> Path:
    if named := os.environ.get(VARIABLE):
        return Path(named)
    usual = Path.home() / ("Library/Caches" if sys.platform == "darwin" else ".cache")
    return Path(os.environ.get("XDG_CACHE_HOME") or usual) / "dormouse-tests"


def kept(name: str, pins: Sequence[Path]) -> Path:
    """Where `name` lies once it was made from `pins` for this kind of machine; it may not exist yet."""
    digest = hashlib.sha256(sysconfig.get_platform().encode())
    for path in pins:
        digest.update(path.read_bytes())
    return cache_folder() / f"{name}-{digest.hexdigest()[:16]}"


def fill(folder: Path, build: Callable[[Path], None]) -> None:
    """Let `build` fill a draft, and show it under its name only when it is whole."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    draft = Path(tempfile.mkdtemp(dir=folder.parent, prefix=f".{folder.name}-"))
    try:
        build(draft)
        if not folder.exists():  # whoever was quicker made the same
            draft.rename(folder)
    finally:
        shutil.rmtree(draft, ignore_errors=True)
