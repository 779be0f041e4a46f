"""What filled a shard, in a file beside it, and names that survive a power cut."""

import json
import os
from pathlib import Path
from typing import NamedTuple


class CollectionRecord(NamedTuple):
    """What filled the shard, written beside it once it is made; without it the shard was never complete."""

    model: str
    dimension: int

    @classmethod
    def read(cls, path: Path) -> "CollectionRecord | None":
        if not path.exists():
            return None
        stored = json.loads(path.read_text("utf-8"))
        return cls(stored["model"], stored["dimension"])

    def write(self, path: Path) -> None:
        draft = path.with_suffix(".new")
        with draft.open("w", encoding="utf-8") as file:
            json.dump(self._asdict(), file)
            file.flush()
            os.fsync(file.fileno())
        draft.replace(path)
        sync_folder(path.parent)


def sync_folder(folder: Path) -> None:
    """Names live in folders. Windows has no such call."""
    if os.name != "nt":
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
