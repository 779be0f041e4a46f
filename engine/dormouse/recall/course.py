"""What one recall has learned so far, handed from stage to stage."""

from dataclasses import dataclass, field

from dormouse.errors import StoreUnavailableError
from dormouse.ids import DatasetId
from dormouse.model.recall import RecallMode, RecallRequest
from dormouse.model.scope import Scope
from dormouse.ports.embedder import Embedder
from dormouse.recall.understand import Understanding


@dataclass(slots=True)
class Course:
    scope: Scope
    request: RecallRequest
    understanding: Understanding
    now_ms: int
    dataset_names: dict[DatasetId, str] = field(default_factory=dict)
    degraded: list[str] = field(default_factory=list)
    failure: StoreUnavailableError | None = None
    embedder: Embedder | None = None  # that made the query's vectors

    def lacks(self, part: str, failure: StoreUnavailableError | None = None) -> None:
        if part not in self.degraded:
            self.degraded.append(part)
        self.failure = self.failure or failure

    @property
    def is_lexical(self) -> bool:
        return self.request.mode is RecallMode.LEXICAL
