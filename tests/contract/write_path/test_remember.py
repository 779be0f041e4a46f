"""What was remembered becomes searchable, once. Source: writes §1 to §4."""

import pytest

from dormouse.errors import IdempotencyConflictError
from dormouse.model.document import INLINE_LIMIT_BYTES
from dormouse.model.job import CancelReason, Stage
from dormouse.model.receipt import IdempotencyKey
from dormouse.ports.graph_store import MemoryQuery
from dormouse.ports.vector_store import PointFilter, TermArm
from dormouse.text.terms import terms
from tests.builders import a_content
from tests.contract.write_path.world import World
from tests.promises import promise

# Short turns: more than a part holds of them, and quick to embed.
LONG = "\n".join(
    f"{('Ada', 'Grace')[number % 2]}: Message {number} tells of the harbour and of rain that fell on its quay."
    for number in range(230)
)


@promise("P1")
async def test_a_note_becomes_searchable_and_its_receipt_says_so(world: World) -> None:
    receipt = await world.remember("Ada moved to London in May.")

    await world.work()

    job = await world.job(receipt.job.id)
    assert (job.stage, job.counts.done, job.counts.passages) == (Stage.COMPLETE, 1, 1)
    async with world.ports.catalog.reading() as tx:
        steps = [step.stage for step in await tx.jobs.steps(job.id)]
    assert steps == [
        Stage.ACCEPTED,
        Stage.EXTRACTING,
        Stage.APPLYING,
        Stage.SEARCHABLE,
        Stage.COMPLETE,
    ]


async def test_every_store_holds_what_became_searchable(world: World) -> None:
    await world.remember("Ada moved to London in May.")

    await world.work()

    scope = await world.scope()
    (passage,) = await world.passages()
    assert passage.text == "Ada moved to London in May."
    arm = TermArm(dict.fromkeys(terms("moved", "en"), 1.0))
    ((hit,),) = await world.ports.vectors.search(scope, [arm], PointFilter())
    assert hit.passage == passage.id
    query = MemoryQuery([passage.id], known_at_ms=world.clock.now_ms())
    assert [each.quote for each in await world.ports.graph.memories(scope, query)] != []
    assert await world.term_counts("London moved") == (1, {"London": 1, "moved": 1})


async def test_inline_text_lies_beside_its_job_once_it_is_searchable(world: World) -> None:
    receipt = await world.remember("Ada moved to London in May.")
    assert receipt.document is not None

    await world.work()

    async with world.ports.catalog.reading() as tx:
        revision = await tx.revisions.get(receipt.document.id, 1)
    assert revision is not None
    assert revision.blob is not None
    assert revision.inline is None
    assert await world.ports.blobs.get(revision.blob) == b"Ada moved to London in May."


async def test_a_long_document_is_a_blob_and_comes_in_parts(world: World) -> None:
    receipt = await world.remember(LONG, filename="harbour.txt")
    assert len(LONG) > INLINE_LIMIT_BYTES

    await world.work()

    job = await world.job(receipt.job.id)
    assert job.stage is Stage.COMPLETE
    assert job.counts.parts > 1
    assert (job.counts.parts_applied, job.counts.done) == (job.counts.parts, job.counts.passages)
    assert len(await world.passages()) == job.counts.passages
    assert (await world.term_counts("harbour"))[0] == job.counts.passages


async def test_the_same_content_costs_nothing(world: World) -> None:
    first = await world.remember("Ada moved to London in May.")
    await world.work()
    embedded, blobs = len(world.embedder.embedded), await world.blobs()

    second = await world.remember("Ada moved to London in May.")
    await world.work()

    assert second.job.is_duplicate
    assert second.job.stage is Stage.COMPLETE
    assert second.document is not None
    assert first.document is not None
    assert second.document.id == first.document.id
    assert (len(world.embedder.embedded), await world.blobs()) == (embedded, blobs)


async def test_a_large_duplicate_is_not_stored_again(world: World) -> None:
    text = "It rains on the quay. " * 1000
    await world.remember(text)
    blobs = await world.blobs()

    await world.remember(text)

    assert await world.blobs() == blobs


async def test_a_duplicate_of_what_is_in_work_is_the_running_job(world: World) -> None:
    """A false "complete" would end a wait before anything can be found."""
    first = await world.remember("Ada moved to London in May.")

    second = await world.remember("Ada moved to London in May.")

    assert second.job.id == first.job.id
    assert not second.job.stage.is_final


async def test_two_external_ids_with_one_content_are_two_documents(world: World) -> None:
    await world.remember("Ada moved to London in May.", external_id="1")
    await world.remember("Ada moved to London in May.", external_id="2")

    await world.work()

    assert {each.external_id for each in await world.documents()} == {"1", "2"}


async def test_an_idempotency_key_gives_the_same_receipt(world: World) -> None:
    first = await world.remember("Ada moved to London in May.", external_id="1", key="k")
    await world.work()

    second = await world.remember("Ada moved to London in May.", external_id="1", key="k")

    assert second.job.id == first.job.id


async def test_an_idempotency_key_with_another_body_is_a_conflict(world: World) -> None:
    first = await world.remember("Ada moved to London in May.", key="k")
    assert first.dataset is not None

    with pytest.raises(IdempotencyConflictError):
        await world.path.acceptor.remember(
            await world.scope(), first.dataset, a_content("Other."), IdempotencyKey("remember", "k", "other")
        )


async def test_an_update_redoes_only_what_changed(world: World) -> None:
    first = await world.remember(LONG, filename="harbour.txt")
    await world.work()
    before = {each.id: each for each in await world.passages()}
    world.embedder.embedded.clear()

    second = await world.remember(
        LONG.replace("Message 7 tells", "Message seven speaks"), filename="harbour.txt"
    )
    await world.work()

    job = await world.job(second.job.id)
    after = {each.id: each for each in await world.passages()}
    assert job.stage is Stage.COMPLETE
    assert second.document is not None
    assert first.document is not None
    assert (second.document.id, second.document.newest_revision) == (first.document.id, 2)
    assert 0 < len(world.embedder.embedded) < 10
    assert job.counts.unchanged == job.counts.passages - len(world.embedder.embedded)
    assert not any("Message 7 tells" in each.text for each in after.values())
    assert {after[each].first_revision for each in before.keys() & after.keys()} == {1}
    assert {each.last_revision for each in after.values()} == {2}
    assert await world.ports.vectors.count(await world.scope()) == len(after)


async def test_an_update_moves_the_term_statistics(world: World) -> None:
    await world.remember("Ada moved to London.", external_id="1")
    await world.work()

    await world.remember("Ada moved to Paris.", external_id="1")
    await world.work()

    assert await world.term_counts("moved London Paris") == (1, {"moved": 1, "London": 0, "Paris": 1})


@promise("P1")
async def test_a_newer_revision_cancels_what_it_supersedes(world: World) -> None:
    first = await world.remember("Ada moved to London.", external_id="1")
    second = await world.remember("Ada moved to Paris.", external_id="1")

    await world.work()

    job = await world.job(first.job.id)
    assert (job.stage, job.cancel_reason) == (Stage.CANCELLED, CancelReason.SUPERSEDED)
    assert (await world.job(second.job.id)).stage is Stage.COMPLETE
    assert [each.text for each in await world.passages()] == ["Ada moved to Paris."]


async def test_a_revision_superseded_half_way_leaves_nothing(world: World) -> None:
    await world.remember(LONG, external_id="1")
    await world.extract()
    await world.apply_some(1)

    await world.remember("Ada moved to Paris.", external_id="1")
    await world.work()

    assert [each.text for each in await world.passages()] == ["Ada moved to Paris."]
    assert await world.ports.vectors.count(await world.scope()) == 1
    assert await world.term_counts("harbour Paris") == (1, {"harbour": 0, "Paris": 1})


async def test_an_unreadable_document_fails_with_its_reason(world: World) -> None:
    receipt = await world.remember("%PDF-1.7 not really", filename="a.pdf")

    await world.work()

    job = await world.job(receipt.job.id)
    assert job.stage is Stage.FAILED
    assert job.failure is not None
    assert (job.failure.code, job.failure.retryable) == ("unreadable_document", False)


async def test_a_failed_content_may_be_sent_again(world: World) -> None:
    first = await world.remember("%PDF-1.7 not really", filename="a.pdf")
    await world.work()

    second = await world.remember("%PDF-1.7 not really", filename="a.pdf")

    assert second.job.id != first.job.id
    assert not second.job.is_duplicate


async def test_a_retry_is_a_new_job_that_names_the_failed_one(world: World) -> None:
    first = await world.remember("%PDF-1.7 not really", filename="a.pdf")
    await world.work()

    retried = await world.path.acceptor.retry(await world.scope(), first.job.id)

    assert retried.job.retry_of == first.job.id
    assert retried.job.revision == 2
