"""Forgets that wait together share the costly cleaning of files; replacing a version does not clean at all."""

from dataclasses import replace
from pathlib import Path
from typing import Any

from dormouse import compose
from dormouse.compose import LOCAL_PRINCIPAL
from dormouse.engine import Engine
from dormouse.ids import DatasetId
from dormouse.model.document import Content, ContentKind
from dormouse.model.receipt import Receipt
from dormouse.model.scope import Scope
from dormouse.settings import EngineSettings

BUDGET_S = 60.0


async def scope_of(engine: Engine) -> Scope:
    return await engine.scope_of(LOCAL_PRINCIPAL)


async def remembered(engine: Engine, text: str, name: str, dataset: str = "notes") -> Receipt:
    receipt = await engine.remember(
        await scope_of(engine), dataset, Content(body=text.encode(), kind=ContentKind.FILE, filename=name)
    )
    job = await engine.wait(await scope_of(engine), receipt.job.id, until="final", budget_s=BUDGET_S)
    assert job.stage.is_searchable, job
    return receipt


def holds(folder: Path, word: str) -> list[str]:
    return [path.name for path in folder.rglob("*") if path.is_file() and word.encode() in path.read_bytes()]


class Cleanings:
    """How often the vectors' files were cleaned, seen by the erasures that found something to erase."""

    def __init__(self, port: Any) -> None:  # noqa: ANN401  any vector store
        self._port = port
        self.met: list[int] = []

    def __getattr__(self, name: str) -> object:
        return getattr(self._port, name)

    async def erase(self, scope: Scope, fence: Any, what: Any, **flags: Any) -> None:  # noqa: ANN401
        self.met.append(await self._port.count(scope, what))
        await self._port.erase(scope, fence, what, **flags)


async def test_forgets_that_wait_together_are_cleaned_up_once(tmp_path: Path) -> None:
    async with compose.open_ports(EngineSettings(data_dir=tmp_path)) as ports:
        watched = Cleanings(ports.vectors)
        engine = compose.assemble(_with_vectors(ports, watched))
        async with engine.running():
            made = [await remembered(engine, f"Moth qxmoth{n} flew.", f"{n}.txt") for n in range(4)]
            other = await remembered(engine, "Moth qxother flew.", "o.txt", "others")
        scope = await scope_of(engine)
        jobs = [job for each in made for job in (await engine.forget_item(scope, *_ids(each))).jobs]
        assert other.dataset
        jobs += (await engine.forget_dataset(scope, other.dataset.id)).jobs
        watched.met.clear()

        async with engine.running():
            ended = [await engine.wait(scope, job.id, until="final", budget_s=BUDGET_S) for job in jobs]

        assert {job.stage.value for job in ended} == {"complete"}
        assert watched.met == [1, 0, 0, 0, 0]
        assert await ports.vectors.count(await scope_of(engine)) == 0
    for word in ("qxmoth0", "qxmoth3", "qxother"):
        assert holds(tmp_path, word) == []


async def test_a_replaced_version_is_in_no_file_once_its_item_is_forgotten(tmp_path: Path) -> None:
    async with compose.open_engine(EngineSettings(data_dir=tmp_path)) as engine, engine.running():
        await remembered(engine, "The code was qxfirst.", "code.txt")
        second = await remembered(engine, "The code is qxsecond.", "code.txt")

        receipt = await engine.forget_item(await scope_of(engine), *_ids(second))
        job = await engine.wait(await scope_of(engine), receipt.jobs[0].id, until="final", budget_s=BUDGET_S)

        assert job.stage.value == "complete"
        for word in ("qxfirst", "qxsecond"):
            assert holds(tmp_path, word) == []


async def test_forgetting_everything_erases_session_entries_from_the_files_too(tmp_path: Path) -> None:
    """Also where nothing but a session was ever remembered, so that no erasure is numbered."""
    async with compose.open_engine(EngineSettings(data_dir=tmp_path)) as engine:
        await engine.remember_in_session(await scope_of(engine), "s1", "The word of the day is qxsession.")
        assert holds(tmp_path, "qxsession")

        receipt = await engine.forget_everything(await scope_of(engine))

        assert (receipt.jobs, receipt.session_entries) == ((), 1)
        assert holds(tmp_path, "qxsession") == []


def _ids(receipt: Receipt) -> tuple[DatasetId, Any]:
    assert receipt.dataset
    assert receipt.document
    return receipt.dataset.id, receipt.document.id


def _with_vectors(ports: Any, vectors: object) -> Any:  # noqa: ANN401  the bundle with a port that watches
    return replace(ports, vectors=vectors)
