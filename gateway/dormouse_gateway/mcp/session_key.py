"""The key that signs session ids: kept in the data folder, so that clients keep their names over a restart."""

import os
import secrets
from pathlib import Path

KEY_FILE = "session.key"
KEY_BYTES = 32


def session_key(folder: Path) -> bytes:
    """Read, or made once with mode 0600. Only the owner of the folder calls this."""
    path = folder / KEY_FILE
    try:
        key = path.read_bytes()
    except FileNotFoundError:
        key = b""
    return key if len(key) == KEY_BYTES else _made(path)


def _made(path: Path) -> bytes:
    key = secrets.token_bytes(KEY_BYTES)
    draft = path.with_suffix(".new")
    draft.unlink(missing_ok=True)
    handle = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(handle, "wb") as stream:
        stream.write(key)
        stream.flush()
        os.fsync(stream.fileno())
    draft.replace(path)
    return key
