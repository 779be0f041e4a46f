"""Recall on the real embedded stores: every script, stores that are down, and one's own fresh writes."""

import asyncio
import json
import shutil
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path
from typing import NoReturn, cast

import pytest

from dormouse.adapters.embedder.choice import EmbedderChoice
from dormouse.compose import LOCAL_PRINCIPAL, assemble, open_ports
from dormouse.engine import Engine
from dormouse.errors import EmbedderUnavailableError, StoreUnavailableError
from dormouse.model.document import Content, ContentKind
from dormouse.model.recall import RecallMode, RecallRequest, RecallResult
from dormouse.ports.bundle import Ports
from dormouse.ports.embedder import Embedder
from dormouse.ports.graph_store import GraphStore
from dormouse.ports.vector_store import VectorStore
from dormouse.settings import EngineSettings

TURNS = (
    ("Caroline", "I went to a support group for nurses yesterday."),
    ("Melanie", "Wow, that is cool!"),
    ("Caroline", "我昨天在北京吃了烤鸭"),
    ("Melanie", "The rocket party was great 🎉🚀"),
    ("Caroline", "Tôi thích ăn phở ở Hà Nội"),
    ("Melanie", "ذهبت إلى القاهرة أمس"),
)


class Down:
    """A port of which nothing answers."""

    def __init__(self, failure: Exception) -> None:
        self._failure = failure

    async def search(self, *_: object) -> NoReturn:
        raise self._failure

    nominate = passages = memories = embed_query = search


@pytest.fixture(scope="module")
def remembered(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder in which the chat is searchable and nothing runs."""
    folder = tmp_path_factory.mktemp("memory")
    asyncio.run(remember_the_chat(folder))
    return folder


@pytest.fixture
async def ports(remembered: Path, tmp_path: Path) -> AsyncIterator[Ports]:
    """On a copy of that folder."""
    shutil.copytree(remembered, tmp_path / "memory")
    async with open_ports(EngineSettings(data_dir=tmp_path / "memory")) as opened:
        yield opened


@pytest.fixture
def engine(ports: Ports) -> Engine:
    return assemble(ports)


async def remember_the_chat(folder: Path) -> None:
    async with open_ports(EngineSettings(data_dir=folder)) as opened:
        engine = assemble(opened)
        async with engine.running():
            scope = await engine.scope_of(LOCAL_PRINCIPAL)
            receipt = await engine.remember(scope, "chat", the_chat())
            scope = await engine.scope_of(LOCAL_PRINCIPAL)
            done = await engine.wait(scope, receipt.job.id, until="searchable", budget_s=60)
            assert done.stage.is_searchable


def the_chat() -> Content:
    messages = [
        {"id": f"m{i}", "session": "s", "time": "1:56 pm on 8 May, 2023", "speaker": speaker, "text": text}
        for i, (speaker, text) in enumerate(TURNS)
    ]
    return Content(body=json.dumps(messages).encode(), kind=ContentKind.CHAT)


async def ask(engine: Engine, query: str, mode: RecallMode = RecallMode.AUTO) -> RecallResult:
    scope = await engine.scope_of(LOCAL_PRINCIPAL)
    return await engine.recall(scope, RecallRequest(query, mode=mode, top_k=3))


def best(result: RecallResult) -> str | None:
    return result.hits[0].passage.external_id if result.hits else None


@pytest.mark.parametrize("mode", [RecallMode.AUTO, RecallMode.LEXICAL])
async def test_every_script_is_found(engine: Engine, mode: RecallMode) -> None:
    queries = ("Who visited the nurses' support group?", "北京烤鸭", "🚀", "ăn phở", "القاهرة")

    found = [best(await ask(engine, query, mode)) for query in queries]

    assert found == ["m0", "m2", "m3", "m4", "m5"]


async def test_a_fresh_write_is_read_before_it_is_searchable(engine: Engine) -> None:
    """Nothing runs: what was accepted is durable, and stays pending."""
    scope = await engine.scope_of(LOCAL_PRINCIPAL)
    await engine.remember(scope, "notes", Content(body=b"The spare key lies under the blue flowerpot."))

    result = await ask(engine, "Where is the spare key?")

    assert (result.hits[0].is_pending, result.hits[0].dataset_name) == (True, "notes")


async def test_what_is_forgotten_is_hidden_before_it_is_erased(engine: Engine) -> None:
    await engine.forget_everything(await engine.scope_of(LOCAL_PRINCIPAL))

    assert (await ask(engine, "nurses support group")).hits == ()


async def test_nothing_in_the_words_is_nothing_found_by_words(engine: Engine) -> None:
    assert await ask(engine, "zebra quantum", RecallMode.LEXICAL) == RecallResult("none")


async def test_without_the_embedding_model_the_words_still_answer(ports: Ports, engine: Engine) -> None:
    down = Down(EmbedderUnavailableError("the embedding model does not answer"))
    embedders = EmbedderChoice([cast("Embedder", down)])

    result = await ask(assemble(replace(ports, embedders=embedders)), "nurses support group")

    assert (best(result), result.degraded) == ("m0", ("embedder",))


async def test_without_the_vectors_a_fresh_write_is_an_honest_part(ports: Ports, engine: Engine) -> None:
    scope = await engine.scope_of(LOCAL_PRINCIPAL)
    await engine.remember(scope, "notes", Content(body=b"The spare key lies under the blue flowerpot."))
    down = cast("VectorStore", Down(StoreUnavailableError(port="vector")))

    result = await ask(assemble(replace(ports, vectors=down)), "Where is the spare key?")

    assert (len(result.hits), result.degraded) == (1, ("vector",))


@pytest.mark.parametrize("port", ["vectors", "graph"])
async def test_without_a_store_and_without_a_part_the_caller_is_told(
    ports: Ports, engine: Engine, port: str
) -> None:
    name = "vector" if port == "vectors" else "graph"
    down = Down(StoreUnavailableError(port=name))  # type: ignore[arg-type]  # one of two literals
    crippled = (
        replace(ports, vectors=cast("VectorStore", down))
        if port == "vectors"
        else replace(ports, graph=cast("GraphStore", down))
    )

    with pytest.raises(StoreUnavailableError) as told:
        await ask(assemble(crippled), "nurses support group")

    assert told.value.port == name


async def test_an_answer_quotes_the_best_memory_and_names_its_maker(engine: Engine) -> None:
    result = await ask(engine, "Who went to a support group for nurses?", RecallMode.ANSWER)

    assert result.answer_model == "extractive"
    assert "support group for nurses" in (result.answer or "")
