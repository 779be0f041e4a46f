"""Forgotten means gone: from every store, from the blobs, and from the bytes on disk. Source: writes §5."""

from dormouse.ids import new_session_entry_id
from dormouse.model.document import Document
from dormouse.model.job import CancelReason, JobKind, Stage
from dormouse.model.session import SessionEntry
from tests.builders import A_PRINCIPAL
from tests.contract.write_path.world import World
from tests.promises import promise

SECRET = "Zanzibarquux"
TEXT = f"Ada hid the {SECRET} under the stairs."


async def _remembered(world: World, text: str = TEXT, external_id: str | None = None) -> Document:
    receipt = await world.remember(text, external_id=external_id)
    await world.work()
    assert receipt.document is not None
    return receipt.document


@promise("P3")
async def test_a_forgotten_item_is_gone_from_every_store_and_from_the_disk(world: World) -> None:
    document = await _remembered(world)
    await _remembered(world, "Grace keeps a cat.")
    assert world.traces(SECRET) != []

    receipt = await world.forget(document.id)
    await world.work()

    (job,) = receipt.jobs
    assert (await world.job(job.id)).stage is Stage.COMPLETE
    assert [each.text for each in await world.passages()] == ["Grace keeps a cat."]
    assert await world.ports.vectors.count(await world.scope()) == 1
    assert await world.term_counts(f"{SECRET} cat") == (1, {SECRET: 0, "cat": 1})
    assert world.traces(SECRET) == []


async def test_a_forget_hides_when_it_is_accepted(world: World) -> None:
    document = await _remembered(world)

    await world.forget(document.id)

    assert await world.documents() == []


async def test_no_blob_of_the_forgotten_remains(world: World) -> None:
    document = await _remembered(world)

    await world.forget(document.id)
    await world.work()

    assert await world.blobs() == []


async def test_forgetting_what_is_gone_succeeds_with_an_empty_receipt(world: World) -> None:
    document = await _remembered(world)
    await world.forget(document.id)

    receipt = await world.forget(document.id)

    assert (receipt.jobs, receipt.session_entries) == ((), 0)


@promise("P3")
async def test_a_forget_overtakes_its_own_ingest(world: World) -> None:
    receipt = await world.remember(TEXT)
    assert receipt.document is not None

    await world.forget(receipt.document.id)
    await world.work()

    job = await world.job(receipt.job.id)
    assert (job.stage, job.cancel_reason) == (Stage.CANCELLED, CancelReason.FORGOTTEN)
    assert await world.passages() == []
    assert await world.blobs() == []
    assert world.traces(SECRET) == []


async def test_a_forget_overtakes_what_is_extracted_but_not_applied(world: World) -> None:
    receipt = await world.remember(TEXT)
    assert receipt.document is not None
    await world.extract()

    await world.forget(receipt.document.id)
    await world.work()

    assert await world.passages() == []
    assert await world.ports.vectors.count(await world.scope()) == 0
    assert await world.blobs() == []


async def test_what_is_remembered_again_after_a_forget_stays(world: World) -> None:
    document = await _remembered(world)
    await world.forget(document.id)

    again = await world.remember(TEXT)
    await world.work()

    assert again.document is not None
    assert again.document.id != document.id
    assert [each.text for each in await world.passages()] == [TEXT]
    assert await world.term_counts(SECRET) == (1, {SECRET: 1})


async def test_a_forgotten_dataset_starts_anew(world: World) -> None:
    await _remembered(world)
    await _remembered(world, "Grace keeps a cat.")
    await world.forget_dataset()

    await world.remember("Grace keeps a dog.")
    await world.work()

    assert [each.text for each in await world.passages()] == ["Grace keeps a dog."]
    assert await world.term_counts(f"{SECRET} cat dog") == (1, {SECRET: 0, "cat": 0, "dog": 1})
    assert await world.ports.vectors.count(await world.scope()) == 1
    assert world.traces(SECRET) == []


async def test_forgetting_a_dataset_cancels_what_is_on_its_way(world: World) -> None:
    receipt = await world.remember(TEXT)

    forgotten = await world.forget_dataset()
    await world.work()

    assert (await world.job(receipt.job.id)).cancel_reason is CancelReason.FORGOTTEN
    assert [job.kind for job in forgotten.jobs] == [JobKind.FORGET_DATASET]
    assert world.traces(SECRET) == []


async def test_everything_one_owns_can_be_forgotten_at_once(world: World) -> None:
    await _remembered(world)

    receipt = await world.forget_everything()
    await world.work()

    assert [(await world.job(job.id)).stage for job in receipt.jobs] == [Stage.COMPLETE]
    assert await world.passages() == []
    assert await world.forget_everything() == type(receipt)((), 0)


async def test_session_entries_that_quote_the_forgotten_go_with_it(world: World) -> None:
    document = await _remembered(world)
    async with world.ports.catalog.transaction() as tx:
        await tx.sessions.add(
            SessionEntry(
                id=new_session_entry_id(),
                owner=A_PRINCIPAL,
                session="s",
                dataset=None,
                text=TEXT,
                quotes=(document.id,),
                created_ms=tx.now_ms,
                expires_ms=tx.now_ms + 1000,
            )
        )
        await tx.commit()

    receipt = await world.forget(document.id)

    assert receipt.session_entries == 1
    async with world.ports.catalog.reading() as tx:
        assert await tx.sessions.entries(A_PRINCIPAL, "s", 10) == []


async def test_a_long_document_is_forgotten_with_all_its_revisions(world: World) -> None:
    first = f"{SECRET}. " + "It rains on the quay. " * 800
    document = await _remembered(world, first, external_id="1")
    await _remembered(world, first + " More of it.", external_id="1")

    await world.forget(document.id)
    await world.work()

    assert await world.blobs() == []
    assert (await world.term_counts(SECRET))[0] == 0
    assert world.traces(SECRET) == []
