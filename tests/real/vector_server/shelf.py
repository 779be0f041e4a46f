"""Every collection, alias and snapshot below one folder.

Snapshots lie beside the collections and stay when theirs is deleted, as on the real server.
"""

import hashlib
import json
import re
import shutil
import tarfile
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from urllib.parse import quote, unquote
from uuid import uuid4

import grpc

from tests.real.vector_server.refusals import RefusalError, invalid, unknown
from tests.real.vector_server.stored import Stored


class Shelf:
    def __init__(self, folder: Path) -> None:
        self._collections, self._snapshots = folder / "collections", folder / "snapshots"
        self._aliases_file = folder / "aliases.json"
        for each in (self._collections, self._snapshots):
            each.mkdir(parents=True, exist_ok=True)
        self.turn = threading.RLock()
        self.aliases: dict[str, str] = {}
        if self._aliases_file.exists():
            self.aliases = json.loads(self._aliases_file.read_text("utf-8"))
        whole = [each for each in self._collections.iterdir() if not each.name.startswith(".")]
        self._opened = {unquote(each.name): Stored(each) for each in whole}

    def names(self) -> list[str]:
        return list(self._opened)

    def find(self, name: str) -> Stored | None:
        with self.turn:
            return self._opened.get(self.aliases.get(name, name))

    def get(self, name: str) -> Stored:
        found = self.find(name)
        if found is None:
            raise unknown(f"Collection `{name}` doesn't exist!")
        return found

    def create(self, request: Any) -> None:
        name = request.collection_name
        _check_name(name)
        with self.turn:
            if name in self.aliases:
                raise invalid(
                    f"Wrong input: Can't create collection with name {name}. "
                    "Alias with the same name already exists"
                )
            if name in self._opened:
                raise _exists(name)
            self._opened[name] = Stored.create(self._collections / _file_name(name), request)

    def delete(self, name: str) -> bool:
        with self.turn:
            stored = self._opened.pop(name, None)
            if stored is None:
                return False
            self._keep({alias: target for alias, target in self.aliases.items() if target != name})
            stored.close()
            shutil.rmtree(stored.folder)
            return True

    def alias(self, alias: str, collection: str) -> None:
        """Moves one that is there."""
        with self.turn:
            if collection not in self._opened:
                raise unknown(f"Collection `{collection}` doesn't exist!")
            if alias in self._opened:
                raise _exists(alias)
            self._keep({**self.aliases, alias: collection})

    def unalias(self, alias: str) -> None:
        with self.turn:
            self._keep({each: target for each, target in self.aliases.items() if each != alias})

    def rename_alias(self, old: str, new: str) -> None:
        with self.turn:
            if old not in self.aliases:
                raise unknown(f"Alias {old} does not exists!")
            self._keep({new if each == old else each: target for each, target in self.aliases.items()})

    def snapshots(self, name: str) -> list[Path]:
        self.get(name)
        return sorted(self._snapshots_of(name).glob("*.snapshot"))

    def snapshots_of_all(self) -> list[Path]:
        return sorted(self._snapshots.glob("*.snapshot"))

    def snapshot(self, name: str) -> Path:
        return _snapshot([self.get(name)], self._snapshots_of(name))

    def snapshot_all(self) -> Path:
        return _snapshot(list(self._opened.values()), self._snapshots)

    def delete_snapshot(self, name: str, snapshot: str) -> None:
        _unlink(snapshot, self.snapshots(name))

    def delete_snapshot_of_all(self, snapshot: str) -> None:
        _unlink(snapshot, self.snapshots_of_all())

    def close(self) -> None:
        for stored in self._opened.values():
            stored.close()

    def _snapshots_of(self, name: str) -> Path:
        return self._snapshots / _file_name(self.aliases.get(name, name))

    def _keep(self, aliases: dict[str, str]) -> None:
        draft = self._aliases_file.with_suffix(".new")
        draft.write_text(json.dumps(aliases), "utf-8")
        draft.replace(self._aliases_file)
        self.aliases = aliases


def _snapshot(collections: Sequence[Stored], folder: Path) -> Path:
    folder.mkdir(exist_ok=True)
    path = folder / f"{uuid4().hex}.snapshot"
    with tarfile.open(path, "w:gz", compresslevel=1) as archive:
        for stored in collections:
            with stored.turn:
                stored.shard.flush()
                archive.add(stored.folder, stored.folder.name)
    return path


def _unlink(snapshot: str, among: Sequence[Path]) -> None:
    found = [path for path in among if path.name == snapshot]
    if not found:
        raise unknown(f"Snapshot {snapshot} not found")
    found[0].unlink()


def checksum_of(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def _file_name(name: str) -> str:
    return quote(name, safe="").replace(".", "%2E")


def _check_name(name: str) -> None:
    if not 1 <= len(name) <= 255:
        rule = f'value "{name}" invalid, must be from 1 to 255 characters'
        raise invalid(f"Validation error in body: [collection_name: {rule}]")
    if found := re.search("[/:]", name):
        rule = f'collection name cannot contain "{found[0]}" char'
        raise invalid(f"Validation error in body: [collection_name: {rule}]")


def _exists(name: str) -> RefusalError:
    return RefusalError(grpc.StatusCode.ALREADY_EXISTS, f"Wrong input: Collection `{name}` already exists!")
