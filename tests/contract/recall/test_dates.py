"""A question that names a time is answered from that time, whatever else is nearer by its words."""

import json
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from dormouse.compose import LOCAL_PRINCIPAL, assemble, open_ports
from dormouse.engine import Engine
from dormouse.model.document import Content, ContentKind
from dormouse.model.recall import RecallRequest
from dormouse.settings import EngineSettings

FIRST = datetime(2025, 1, 3, 9, tzinfo=UTC)
DAYS = 260
DEEDS = ("baked bread", "fixed the boiler", "went sailing", "painted the fence", "met the choir")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("dates")


@pytest.fixture
async def engine(folder: Path) -> AsyncIterator[Engine]:
    """A year of one talk, a line a day, each as like a question about any day as the others."""
    async with open_ports(EngineSettings(data_dir=folder)) as ports:
        made = assemble(ports)
        async with made.running():
            scope = await made.scope_of(LOCAL_PRINCIPAL)
            messages = [
                {
                    "id": f"d{day}",
                    "session": "s",
                    "time": (FIRST + timedelta(days=day)).isoformat(),
                    "speaker": "Maya" if day % 2 else "Tom",
                    "text": f"I {DEEDS[day % 5]} and {DEEDS[day % 3]}.",
                }
                for day in range(DAYS)
            ]
            content = Content(body=json.dumps(messages).encode(), kind=ContentKind.CHAT)
            receipt = await made.remember(scope, "talk", content)
            scope = await made.scope_of(LOCAL_PRINCIPAL)
            await made.wait(scope, receipt.job.id, until="searchable", budget_s=120)
            yield made


async def months_of(engine: Engine, question: str, asked: datetime) -> list[int]:
    scope = await engine.scope_of(LOCAL_PRINCIPAL)
    request = RecallRequest(question, top_k=8, at_ms=int(asked.timestamp() * 1000))
    found = await engine.recall(scope, request)
    times = [hit.passage.occurred_ms for hit in found.hits]
    return [datetime.fromtimestamp(each / 1000, UTC).month for each in times if each is not None]


@pytest.mark.parametrize(
    ("question", "month"),
    [
        ("What did Maya say in March 2025?", 3),
        ("What happened in April?", 4),
        ("What did Tom do in May 2025?", 5),
        ("What did we do last month?", 8),
    ],
)
async def test_the_named_month_comes_first(engine: Engine, question: str, month: int) -> None:
    found = await months_of(engine, question, datetime(2025, 9, 25, 9, tzinfo=UTC))

    assert found[:4] == 4 * [month]
