"""Two hundred operations of three users on nine datasets; `make test-isolation` does ten thousand."""

from pathlib import Path

from tests.contract.isolation.episode import Episode, staged
from tests.contract.isolation.memoised import MemoisedEmbedder
from tests.promises import promise

SEED = 1


@promise("P5")
async def test_nobody_notices_what_is_none_of_their_business(
    tmp_path: Path, embedder: MemoisedEmbedder
) -> None:
    async with staged(tmp_path / "one", embedder) as stage:
        episode = Episode(stage, SEED)

        await episode.run(200)

        await episode.reflect(tmp_path / "mirror", embedder)
