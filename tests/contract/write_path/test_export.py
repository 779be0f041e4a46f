"""The export of real stores: the same for the same memory, and different where memories differ."""

from collections import Counter
from pathlib import Path

from dormouse.adapters.embedder.onnx import OnnxEmbedder
from dormouse.audit.compare import Likeness, content_hash, differences
from dormouse.model.export import ExportRow, RowKind
from tests.contract.write_path.world import World, opened
from tests.hand_clock import HandClock

PAGE = "# Harbour\n\nAda Lovelace moved to London in 2024.\n\n# Rota\n\nGrace Hopper works on Mondays."


async def fill(world: World) -> None:
    await world.remember(PAGE, filename="plan.md")
    await world.remember("Bob plans to visit Berlin on 3 March 2027.")
    await world.work()


def kinds(rows: list[ExportRow]) -> Counter[RowKind]:
    return Counter(row.kind for row in rows)


async def test_an_export_holds_everything_in_the_order_of_its_keys(world: World) -> None:
    await fill(world)

    rows = await world.export()

    assert [row.key for row in rows] == sorted(row.key for row in rows)
    counted = kinds(rows)
    assert (counted[RowKind.DOCUMENT], counted[RowKind.PASSAGE]) == (2, len(await world.passages()))
    assert set(counted) == set(RowKind) - {RowKind.RELATION}  # an ontology's, and there is none
    assert all(row.body["vectors"] for row in rows if row.kind is RowKind.PASSAGE)


async def test_the_same_stores_export_the_same_after_a_start(
    tmp_path: Path, clock: HandClock, embedder: OnnxEmbedder
) -> None:
    async with opened(tmp_path, clock, embedder) as world:
        await fill(world)
        before = await world.export()
    async with opened(tmp_path, clock, embedder) as again:
        after = await again.export()

    assert differences(before, after) == []
    assert content_hash(before) == content_hash(after)


async def test_another_run_of_the_same_things_is_equal_but_for_transaction_times(
    tmp_path: Path, clock: HandClock, embedder: OnnxEmbedder
) -> None:
    (tmp_path / "one").mkdir()
    (tmp_path / "other").mkdir()
    async with opened(tmp_path / "one", clock, embedder) as world:
        await world.remember("# Harbour\n\nAda Lovelace moved to Paris in 2023.", filename="plan.md")
        await world.work()
        await fill(world)
        one = await world.export()
    clock.advance(5000)
    async with opened(tmp_path / "other", clock, embedder) as world:
        await fill(world)
        other = await world.export()

    assert differences(one, other, Likeness.ANOTHER_RUN) == []
    assert differences(one, other) != []


async def test_a_lost_point_shows_in_the_export(world: World) -> None:
    await fill(world)
    before = await world.export()
    passage = (await world.passages())[0]

    await world.lose_point(passage.id)

    (difference,) = differences(before, await world.export())
    assert (difference.kind, difference.id, difference.field) == (RowKind.PASSAGE, passage.id, "vectors")
