"""`dormouse doctor`: is everything as it must be, and if not, what to do.

Looks and never repairs. It starts no server: what only a server can tell is told when one runs.
"""

import asyncio
import json
import os
import platform
import socket
import sys
from collections.abc import AsyncIterator, Iterator, Mapping
from dataclasses import asdict
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from dormouse.adapters.data_folder import examine
from dormouse.adapters.data_folder.find import LOG_NAME, running_owner
from dormouse.adapters.data_folder.server_file import SERVER_FILE, ServerAddress, published
from dormouse.adapters.remote.rest import Endpoint, RefusedError, RestClient
from dormouse.cli import models
from dormouse.cli.finding import Finding
from dormouse.cli.status import held
from dormouse.cli.terminal import say
from dormouse.errors import DormouseError, MisconfiguredError
from dormouse.settings import ClientSettings, LLMSettings, read

DISTRIBUTION = "dormouse-memory"
LEAST_PYTHON = (3, 11)
LITTLE_SPACE_BYTES = 1_000_000_000
NO_SPACE_BYTES = 100_000_000
FULL_BYTES = 1_000_000  # whatever else is wrong then comes of it
DEFAULT_PORT = 8000
TELLING_PASSAGES = 1000  # below, what an empty folder takes would count as theirs
BLOBS_BUDGET_S = 5.0
_RESTORE = "Stop the server and restore the data folder from a backup."
_REBUILD = "Run `dormouse rebuild`: they are made anew from what was remembered."
_DERIVED = frozenset({"graph.sqlite3"})
_LANGUAGE_MODEL = "language model"
_PRIVATE = (SERVER_FILE, "catalog.sqlite3", "graph.sqlite3", "session.key")


async def doctor(*, as_json: bool) -> int:
    """Returns the exit code: 1 if anything is a problem; warnings are none."""
    findings = []
    async for finding in _findings():
        findings.append(finding)
        if not as_json:
            say(line(finding))
    problems = sum(finding.state == "problem" for finding in findings)
    if as_json:
        say(json.dumps([asdict(finding) for finding in findings], indent=2))
    else:
        say("\nall is well" if not problems else f"\n{problems} to mend")
    return 1 if problems else 0


def line(finding: Finding) -> str:
    """`[ok] Python: 3.11.2`, and the remedy below it where there is one."""
    remedy = f"\n     {finding.remedy}" if finding.remedy else ""
    return f"[{finding.state}] {finding.about}: {finding.detail}{remedy}"


async def _findings() -> AsyncIterator[Finding]:
    yield python_version(sys.version_info[:3])
    yield Finding("version", "ok", f"{version(DISTRIBUTION)} on {platform.system()} {platform.machine()}")
    try:
        settings = read(ClientSettings, os.environ)
    except MisconfiguredError as exc:
        yield Finding("settings", "problem", str(exc), "Correct or unset the variable.")
        return
    yield Finding("settings", "ok", "every DORMOUSE_ variable is known")
    async for finding in models.answering(settings.llm, settings.embedding):
        yield finding
    if settings.remote.url:
        endpoint = Endpoint(settings.remote.url, settings.remote.api_key.get_secret_value())
        yield Finding("memory", "ok", f"kept by {settings.remote.url}, nothing on this machine")
        async for finding in _served(endpoint, None, settings.llm):
            yield finding
        return
    yield await _model()
    yield _reader()
    async for finding in _local(settings.data_dir, settings.llm):
        yield finding


async def _local(folder: Path, llm: LLMSettings) -> AsyncIterator[Finding]:
    for finding in _folder(folder):
        yield finding
    # In a folder that cannot be written no database opens, which says nothing about the databases.
    opens = examine.is_writable(folder) or examine.free_bytes(folder) < FULL_BYTES
    if opens:
        yield catalog(await asyncio.to_thread(examine.databases, folder))
    yield blobs(await asyncio.to_thread(examine.damaged_blobs, folder / "blobs", budget_s=BLOBS_BUDGET_S))
    owner = await running_owner(folder)
    if owner is None and opens:  # a running server answers for its vectors itself
        yield await _vectors(folder / "vectors")
    yield _server(folder, owner)
    yield port(int(os.environ.get("DORMOUSE_PORT") or DEFAULT_PORT), owner)
    if owner:
        async for finding in _served(Endpoint(owner.url, owner.token), folder, llm):
            yield finding
    else:
        yield own_language_model(llm)


def python_version(found: tuple[int, int, int]) -> Finding:
    words = ".".join(map(str, found))
    if found < LEAST_PYTHON:
        least = ".".join(map(str, LEAST_PYTHON))
        return Finding(
            "Python", "problem", words, f"Install Python {least} or newer and install Dormouse with it."
        )
    return Finding("Python", "ok", words)


async def _model() -> Finding:
    """Loads and uses it, which checks the pinned hashes of weights and tokenizer."""
    try:
        from dormouse.adapters.embedder.onnx import MODEL, OnnxEmbedder  # noqa: PLC0415 - failing to is a finding

        embedder = await asyncio.to_thread(OnnxEmbedder)
        await embedder.embed_query("dormouse")
        await embedder.close()
    except DormouseError as exc:
        return Finding("embedding model", "problem", str(exc), "Install Dormouse again.")
    except ImportError as exc:
        return Finding("embedding model", "problem", f"{exc.name} cannot be loaded", "Install Dormouse again.")
    return Finding("embedding model", "ok", f"{MODEL}, weights and tokenizer as pinned")


def _reader() -> Finding:
    if find_spec("kreuzberg") is None:
        return Finding("documents", "problem", "kreuzberg is missing", "Install Dormouse again.")
    return Finding("documents", "ok", "text, Markdown, code, CSV and JSON; PDF, Office and mail by kreuzberg")


def own_language_model(llm: LLMSettings) -> Finding:
    """Of this environment, while no server runs that would have its own."""
    if llm.is_configured:
        words = f"{llm.model} at {llm.host}, by this environment: no server runs"
        return Finding(_LANGUAGE_MODEL, "ok", words)
    return Finding(_LANGUAGE_MODEL, "ok", "none configured in this environment; none is needed")


def language_model(used: Mapping[str, Any], llm: LLMSettings) -> Finding:
    """What the server said it uses, and how this environment differs."""
    words = f"{used['model']} at {used['endpoint']}" if used["configured"] else "none; none is needed"
    words = f"{words}, by the server"
    if used["lastError"]:
        remedy = "Look at its log, and at the DORMOUSE_LLM__ settings that it was started with."
        return Finding(_LANGUAGE_MODEL, "warning", f"{words}; its last call: {used['lastError']}", remedy)
    is_other = (used["model"], used["endpoint"]) != (llm.model, llm.host)
    if llm.is_configured and is_other:
        words = f"{words}; this environment says {llm.model} at {llm.host}"
        return Finding(_LANGUAGE_MODEL, "warning", words, "Restart the server with the settings that you want.")
    return Finding(_LANGUAGE_MODEL, "ok", words)


def _folder(folder: Path) -> Iterator[Finding]:
    if examine.free_bytes(folder) < FULL_BYTES:
        yield space(examine.free_bytes(folder))
        return
    if not examine.is_writable(folder):
        remedy = "Give yourself the right to write there, or choose another folder with DORMOUSE_DATA_DIR."
        yield Finding("data folder", "problem", f"{folder} cannot be written", remedy)
        return
    yield from _readable_by_others(folder)
    yield Finding("data folder", "ok", str(folder))
    yield space(examine.free_bytes(folder))


def _readable_by_others(folder: Path) -> Iterator[Finding]:
    if examine.is_private(folder):
        return  # nobody else gets that far
    for name in _PRIVATE:
        if not examine.is_private(folder / name):
            token = " and restart the server: others may have read its token" if name == SERVER_FILE else ""
            remedy = f"Run `chmod 600 {name}` there{token}."
            yield Finding("data folder", "problem", f"{name} can be read by others", remedy)


def space(free: int) -> Finding:
    words = f"{size(free)} free"
    if free < NO_SPACE_BYTES:
        return Finding("disk", "problem", words, "Free some space: writes are about to fail.")
    if free < LITTLE_SPACE_BYTES:
        return Finding("disk", "warning", words, "Free some space soon.")
    return Finding("disk", "ok", words)


def catalog(found: list[examine.Database]) -> Finding:
    damaged = [database for database in found if database.trouble]
    if damaged:
        names = "; ".join(f"{database.name}: {database.trouble}" for database in damaged)
        is_derived = {database.name for database in damaged} <= _DERIVED
        return Finding("databases", "problem", names, _REBUILD if is_derived else _RESTORE)
    if not found:
        return Finding("databases", "ok", "none yet; the first start makes them")
    return Finding("databases", "ok", f"{', '.join(database.name for database in found)} sound")


def blobs(found: examine.Blobs | None) -> Finding:
    if found is None:
        return Finding("contents", "problem", "blobs is a file where a folder must be", _RESTORE)
    if found.damaged:
        words = f"{found.damaged} of {found.checked} stored contents are damaged"
        remedy = "Restore the data folder from a backup, or forget what they belong to and remember it again."
        return Finding("contents", "problem", words, remedy)
    return Finding("contents", "ok", f"{found.checked} looked at, all as they were stored")


async def _vectors(folder: Path) -> Finding:
    """Opens every collection of a stopped server, as a start would."""
    from dormouse.adapters.vector_store.edge_look import trouble_of  # noqa: PLC0415 - loads the engine

    collections = examine.folders_in(folder)
    for collection in collections:
        if trouble := await trouble_of(collection):
            return Finding("vectors", "problem", f"{collection.name} {trouble}", _REBUILD)
    return Finding("vectors", "ok", "can be opened" if collections else "none yet")


def _server(folder: Path, owner: ServerAddress | None) -> Finding:
    if owner is None:
        stale = published(folder)
        detail = "none runs; commands start one when they need it"
        return Finding(
            "server", "ok", f"{detail} (process {stale.pid} ended without notice)" if stale else detail
        )
    mine = version(DISTRIBUTION)
    if owner.version != mine:
        remedy = "Run `dormouse stop`; the next command starts the installed version."
        return Finding("server", "warning", f"{owner.url} runs version {owner.version}, not {mine}", remedy)
    log = folder / LOG_NAME  # a server in the foreground has none: it logs to its terminal
    where = f", log {log}" if log.exists() else ""
    return Finding("server", "ok", f"{owner.url} (process {owner.pid}{where})")


def port(wanted: int, owner: ServerAddress | None) -> Finding:
    """Only `dormouse serve` wants this port; what commands start takes any free one."""
    about = f"port {wanted}"
    if owner and owner.url.endswith(f":{wanted}"):
        return Finding(about, "ok", "taken by this server")
    try:
        with socket.create_server(("127.0.0.1", wanted)):
            return Finding(about, "ok", "free")
    except OSError:
        remedy = "For `dormouse serve`, choose another with DORMOUSE_PORT or --port."
        return Finding(about, "warning", "taken by another program", remedy)


async def _served(endpoint: Endpoint, folder: Path | None, llm: LLMSettings) -> AsyncIterator[Finding]:
    """Whether the stores answer, what they take on disk, and which language model is asked."""

    async def located() -> Endpoint:
        return endpoint

    try:
        async with RestClient(located, patience_s=5.0) as client:
            now = await client.status()
    except (DormouseError, RefusedError) as exc:
        remedy = getattr(exc, "remediation", "") or "Look at its log, or run `dormouse stop` and try again."
        yield Finding("memory", "problem", str(exc), remedy)
        return
    if "languageModel" in now:  # a server elsewhere may be an older one
        yield language_model(now["languageModel"], llm)
    for warning in now.get("warnings", ()):
        yield Finding("memory", "warning", str(warning["message"]))
    if now["problems"]:
        words = "; ".join(str(problem["message"]) for problem in now["problems"])
        yield Finding("memory", "problem", words, "Run `dormouse stop` and try again; its log says more.")
    else:
        yield Finding("memory", "ok", _amount(now, folder))


def _amount(now: dict[str, Any], folder: Path | None) -> str:
    if folder is None:
        return held(now)
    used, passages = examine.used_bytes(folder), now["passages"]
    each = f", {size(used // passages)} per passage" if passages >= TELLING_PASSAGES else ""
    return f"{held(now)}; {size(used)} on disk{each}"


def size(count: int) -> str:
    """Bytes in the largest unit that leaves at least one, in powers of 1,000."""
    amount = float(count)
    for unit in ("B", "kB", "MB", "GB"):
        if amount < 1000:
            return f"{amount:.0f} {unit}" if unit == "B" else f"{amount:.1f} {unit}"
        amount /= 1000
    return f"{amount:.1f} TB"
