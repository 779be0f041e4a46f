"""`python -m load.bench.bare`: the least a server could do for the same requests, on the same stack.

FastAPI over uvicorn, one process. `/echo` answers with what it read, `/rows` after it committed one row that
survives a loss of power, in a thread as FastAPI runs whatever blocks.
"""

import os
import sqlite3
import threading
from pathlib import Path

import uvicorn
from fastapi import FastAPI
from pydantic import BaseModel
from starlette.types import ASGIApp

from load.bench.processes import BARE_READY


class Note(BaseModel):
    text: str


def application(folder: Path) -> FastAPI:
    rows = sqlite3.connect(folder / "rows.sqlite3", isolation_level=None, check_same_thread=False)
    for statement in (
        "PRAGMA journal_mode=WAL",
        "PRAGMA synchronous=FULL",
        "CREATE TABLE IF NOT EXISTS notes (id INTEGER PRIMARY KEY, text TEXT NOT NULL)",
    ):
        rows.execute(statement)
    turn = threading.Lock()
    app = FastAPI()

    @app.post("/echo")
    async def echo(note: Note) -> Note:
        return note

    @app.post("/rows")
    def add(note: Note) -> dict[str, int]:
        with turn:
            return {"id": rows.execute("INSERT INTO notes (text) VALUES (?)", (note.text,)).lastrowid or 0}

    return app


class _Announced(uvicorn.Server):
    async def startup(self, sockets: object = None) -> None:
        await super().startup(sockets)  # type: ignore[arg-type]  # handed through as it came
        port = self.servers[0].sockets[0].getsockname()[1]
        print(f"{BARE_READY}http://127.0.0.1:{port}", flush=True)


def serve_announced(app: ASGIApp) -> None:
    """On a free port, told on standard output; until SIGTERM."""
    _Announced(uvicorn.Config(app, port=0, log_config=None, access_log=False, server_header=False)).run()


def main() -> None:
    serve_announced(application(Path(os.environ["DORMOUSE_DATA_DIR"])))


if __name__ == "__main__":
    main()
