"""Derived memories on the real stores: after searchable, once, and gone with what they are from.

Source: writes §4.
"""

from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest

from dormouse import compose
from dormouse.adapters.embedder.onnx import OnnxEmbedder
from dormouse.errors import ModelRefusedError, ModelUnavailableError
from dormouse.ids import PassageId
from dormouse.ingest.enrich import PATIENCE_MS, EnrichLimits, end_without_model
from dormouse.jobs.lease import LEASE_MS
from dormouse.model.interval import END_MS
from dormouse.model.job import CancelReason, Job, Stage
from dormouse.model.memory import MemoryVersion
from dormouse.model.passage import Passage, PassageKind
from dormouse.ports.extractor import Window, WindowExtraction
from dormouse.ports.graph_store import MemoryQuery
from dormouse.write_path import write_path
from tests.contract.write_path.scripted_deriver import ScriptedDeriver
from tests.contract.write_path.world import World, after_leases_ran_out, opened
from tests.hand_clock import HandClock
from tests.promises import promise

TEXT = "Ada hid the Zanzibarquux under the stairs."


def chapter(number: int) -> str:
    return " ".join(f"Sentence {n} of chapter {number} tells of thing {number * 100 + n}." for n in range(60))


CHAPTERS = "\n\n".join(map(chapter, range(6)))


class KilledError(BaseException):
    """No handler of errors may take it for one."""


@pytest.fixture
def deriver() -> ScriptedDeriver:
    return ScriptedDeriver()


@pytest.fixture
async def world(
    tmp_path: Path, clock: HandClock, embedder: OnnxEmbedder, deriver: ScriptedDeriver
) -> AsyncIterator[World]:
    async with opened(tmp_path, clock, embedder, deriver=deriver) as found:
        yield found


async def memories_of(world: World) -> list[MemoryVersion]:
    """Believed now."""
    ids = [each.id for each in await world.passages()]
    query = MemoryQuery(ids, known_at_ms=END_MS - 1)
    return list(await world.ports.graph.memories(await world.scope(), query))


async def derived_of(world: World) -> list[Passage]:
    ids = [PassageId(each.memory) for each in await memories_of(world)]
    found = await world.ports.graph.passages(await world.scope(), ids)
    return [each for each in found if each.kind is PassageKind.DERIVED]


async def searchable(world: World, text: str = TEXT, external_id: str | None = None) -> Job:
    receipt = await world.remember(text, external_id=external_id)
    await world.extract()
    await world.apply()
    return await world.job(receipt.job.id)


@promise("P2")
async def test_a_job_is_searchable_before_anybody_is_asked(world: World, deriver: ScriptedDeriver) -> None:
    job = await searchable(world)

    assert job.stage is Stage.SEARCHABLE
    assert deriver.asked == []


async def test_derived_memories_replace_what_rules_found_and_the_job_is_complete(world: World) -> None:
    job = await searchable(world)
    (before,) = await memories_of(world)

    await world.work()

    ended = await world.job(job.id)
    (after,) = await memories_of(world)
    assert (ended.stage, ended.enrichment_failure) == (Stage.COMPLETE, None)
    assert (before.derived_by, after.derived_by) == ("", "scripted/1")
    assert after.content == f"Derived: {TEXT}"
    assert after.passage == before.passage
    counts = ended.counts
    assert (counts.windows, counts.windows_done, counts.derived) == (1, 1, 1)
    assert (counts.model_calls, counts.tokens_in, counts.tokens_out) == (1, 100, 50)
    assert (counts.dropped_no_quote, counts.dropped_malformed, counts.repaired_quotes) == (1, 2, 1)
    assert (counts.parts_applied, counts.done) == (1, 1)


async def test_a_derived_memory_is_indexed_under_its_own_words_and_counted_nowhere(world: World) -> None:
    await searchable(world)
    counted = await world.term_counts("Zanzibarquux stairs")
    await world.work()

    (derived,) = await derived_of(world)
    (source,) = await world.passages()
    assert (derived.previous, derived.document) == ((source.id,), source.document)
    assert (derived.text, derived.occurred_ms) == (f"Derived: {TEXT}", source.occurred_ms)
    assert await world.term_counts("Zanzibarquux stairs") == counted
    counts = await world.ports.graph.count(await world.scope())
    assert (counts.passages, counts.derived) == (2, 1)
    assert await world.ports.vectors.count(await world.scope()) == 2


async def test_a_passage_of_which_nothing_was_said_keeps_what_it_had(
    world: World, deriver: ScriptedDeriver
) -> None:
    deriver.word = lambda _passage: None
    await searchable(world)
    before = await memories_of(world)

    await world.work()

    assert await memories_of(world) == before


@promise("P3")
async def test_forgetting_takes_what_was_derived_with_it(world: World) -> None:
    job = await searchable(world)
    await world.work()
    assert job.document is not None

    await world.forget(job.document)
    await world.work()

    assert await world.ports.vectors.count(await world.scope()) == 0
    counts = await world.ports.graph.count(await world.scope())
    assert (counts.passages, counts.versions, counts.entities) == (0, 0, 0)
    assert world.traces("Zanzibarquux") == []


@promise("P3")
@pytest.mark.parametrize("what", ["item", "dataset", "everything"])
async def test_a_forget_while_the_model_thinks_leaves_nothing(
    world: World, deriver: ScriptedDeriver, what: str
) -> None:
    job = await searchable(world)
    assert job.document is not None

    async def forget(_passage: object = None) -> None:
        assert job.document is not None
        if what == "item":
            await world.forget(job.document)
        elif what == "dataset":
            await world.forget_dataset()
        else:
            await world.forget_everything()

    real = deriver.derive

    async def thinking(window: Window) -> WindowExtraction:
        await forget()
        await world.apply()
        return await real(window)

    deriver.derive = thinking  # type: ignore[method-assign]
    await world.enrich()
    await world.work()

    ended = await world.job(job.id)
    assert (ended.stage, ended.cancel_reason) == (Stage.CANCELLED, CancelReason.FORGOTTEN)
    assert await world.ports.vectors.count(await world.scope()) == 0
    assert world.traces("Zanzibarquux") == []


async def test_an_update_while_the_model_thinks_ends_the_old_jobs_enrichment_only(
    world: World, deriver: ScriptedDeriver
) -> None:
    job = await searchable(world, external_id="note")
    real = deriver.derive

    async def thinking(window: Window) -> WindowExtraction:
        deriver.derive = real  # type: ignore[method-assign]
        await world.remember("Ada moved the key.", external_id="note")
        return await real(window)

    deriver.derive = thinking  # type: ignore[method-assign]
    await world.enrich()

    ended = await world.job(job.id)
    assert (ended.stage, ended.cancel_reason) == (Stage.COMPLETE, None)
    assert ended.enrichment_failure is not None
    assert ended.enrichment_failure.code == "superseded"
    assert [each.text for each in await world.passages()] == [TEXT]

    await world.work()

    assert [each.text for each in await world.passages()] == ["Ada moved the key."]
    assert [each.content for each in await memories_of(world)] == ["Derived: Ada moved the key."]
    assert await world.ports.vectors.count(await world.scope()) == 2


async def test_an_update_copies_what_was_derived_from_windows_that_did_not_change(
    world: World, deriver: ScriptedDeriver
) -> None:
    await searchable(world, CHAPTERS, external_id="book")
    await world.work()
    asked = len(deriver.asked)
    contents = {each.content for each in await memories_of(world)}
    assert asked > 2

    job = await searchable(world, CHAPTERS + "\n\nAn epilogue was added later.", external_id="book")
    await world.work()

    ended = await world.job(job.id)
    fresh = len(deriver.asked) - asked
    assert 0 < fresh <= 2
    assert ended.counts.windows_copied == ended.counts.windows - fresh
    assert ended.counts.model_calls == fresh
    now = {each.content for each in await memories_of(world)}
    assert len(contents - now) <= 1  # the passage before the epilogue may have been cut anew
    passages = await world.passages()
    assert {each.derived_by for each in await memories_of(world)} == {"scripted/1"}
    assert await world.ports.vectors.count(await world.scope()) == 2 * len(passages)


async def test_another_wish_is_another_extraction(world: World, deriver: ScriptedDeriver) -> None:
    await searchable(world, TEXT, external_id="note")
    await world.work()
    deriver.version = "scripted/2"
    await searchable(world, TEXT + "\n\nMore.", external_id="note")
    await world.work()

    assert len(deriver.asked) == 2
    assert {each.derived_by for each in await memories_of(world)} == {"scripted/2"}


async def test_a_successor_asks_for_no_window_twice(
    world: World, deriver: ScriptedDeriver, clock: HandClock
) -> None:
    await searchable(world, CHAPTERS)
    real = deriver.derive

    async def dying(window: Window) -> WindowExtraction:
        if len(deriver.asked) == 2:
            raise KilledError  # as a process that is killed: nothing it would do afterwards is done
        return await real(window)

    deriver.derive = dying  # type: ignore[method-assign]
    one_at_a_time = write_path(
        world.ports, holder="dying", patience=compose.PATIENCE, limits=EnrichLimits(slots=1)
    )
    assert one_at_a_time.enricher is not None
    with pytest.raises(BaseExceptionGroup):
        await one_at_a_time.enricher.enrich_next()
    deriver.derive = real  # type: ignore[method-assign]
    after_leases_ran_out(clock)
    await world.work()

    windows = [tuple(each.id for each in window.passages) for window in deriver.asked]
    assert len(windows) == len(set(windows)) > 2


async def test_a_budget_leaves_the_rest_as_rules_found_it_and_says_so(
    world: World, deriver: ScriptedDeriver
) -> None:
    path = write_path(
        world.ports, holder="thrifty", patience=compose.PATIENCE, limits=EnrichLimits(job_tokens=320)
    )
    assert path.enricher is not None
    job = await searchable(world, CHAPTERS)

    await path.enricher.enrich_next()
    await world.apply()

    ended = await world.job(job.id)
    assert ended.stage is Stage.COMPLETE
    assert ended.enrichment_failure is not None
    assert ended.enrichment_failure.code == "llm_budget_spent"
    assert len(deriver.asked) == ended.counts.windows_done == 2
    assert {each.derived_by for each in await memories_of(world)} == {"", "scripted/1"}


async def test_a_refusal_ends_it_at_once_and_the_job_is_complete(
    world: World, deriver: ScriptedDeriver
) -> None:
    deriver.failure = ModelRefusedError("the model's endpoint refuses the key")
    job = await searchable(world)

    await world.work()

    ended = await world.job(job.id)
    assert ended.stage is Stage.COMPLETE
    assert ended.enrichment_failure is not None
    assert (ended.enrichment_failure.code, ended.enrichment_failure.stage) == (
        "model_refused",
        Stage.ENRICHING,
    )
    assert len(deriver.asked) == 1


async def test_trouble_that_passes_is_waited_for_and_ends_after_a_day(
    world: World, deriver: ScriptedDeriver, clock: HandClock
) -> None:
    deriver.failure = ModelUnavailableError("away", retry_after_s=30)
    job = await searchable(world)
    await world.enrich()

    parked = await world.job(job.id)
    assert (parked.stage, parked.parked_reason) == (Stage.ENRICHING, "model_unavailable")
    assert parked.next_attempt_ms == clock.now_ms() + 30_000

    clock.advance(PATIENCE_MS + LEASE_MS)
    await world.enrich()

    ended = await world.job(job.id)
    assert ended.enrichment_failure is not None
    assert (ended.stage, ended.enrichment_failure.code) == (Stage.COMPLETE, "model_unavailable")


async def test_an_error_nobody_foresaw_is_tried_a_few_times(world: World, deriver: ScriptedDeriver) -> None:
    deriver.failure = KeyError("?")
    job = await searchable(world)

    await world.work()

    ended = await world.job(job.id)
    assert ended.enrichment_failure is not None
    assert (ended.stage, ended.enrichment_failure.code) == (Stage.COMPLETE, "internal")
    assert len(deriver.asked) == 8


async def test_a_start_without_a_model_ends_what_waited_for_one(world: World) -> None:
    job = await searchable(world)

    await end_without_model(world.ports.catalog)

    ended = await world.job(job.id)
    assert ended.enrichment_failure is not None
    assert (ended.stage, ended.enrichment_failure.code) == (Stage.COMPLETE, "llm_not_configured")


async def test_an_update_by_rules_alone_does_not_take_back_what_was_derived(
    world: World, deriver: ScriptedDeriver
) -> None:
    await searchable(world, TEXT, external_id="note")
    await world.work()
    without = write_path(replace(world.ports, deriver=None), holder="w", patience=compose.PATIENCE)
    world.path = without
    await searchable(world, f"{TEXT}\n\nGrace keeps a cat.", external_id="note")

    texts = {each.text for each in await world.passages()}
    assert TEXT not in texts or any(each.derived_by for each in await memories_of(world))
