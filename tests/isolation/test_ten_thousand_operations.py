"""Ten thousand operations, in runs that each begin with empty stores; a run is repeated by its seed alone.

`DORMOUSE_TEST_SEED` chooses other runs than the usual ones: they begin with the seed it names.
"""

import os
from pathlib import Path

import pytest

from tests.contract.isolation.episode import Episode, staged
from tests.contract.isolation.memoised import MemoisedEmbedder
from tests.promises import promise

FIRST_SEED = int(os.environ.get("DORMOUSE_TEST_SEED", "100"))
RUNS = 20
OPERATIONS = 10_000 // RUNS


@promise("P5")
@pytest.mark.parametrize("seed", range(FIRST_SEED, FIRST_SEED + RUNS))
async def test_nobody_notices_what_is_none_of_their_business(
    tmp_path: Path, embedder: MemoisedEmbedder, seed: int
) -> None:
    print(f"seed {seed}")  # noqa: T201 - shown with a failure
    async with staged(tmp_path / "one", embedder) as stage:
        episode = Episode(stage, seed)

        await episode.run(OPERATIONS)

        await episode.reflect(tmp_path / "mirror", embedder)
