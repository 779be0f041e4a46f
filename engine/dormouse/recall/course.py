"""What one recall has learned so far, handed from stage to stage."""

from dataclasses import dataclass, field

from dormouse.errors import StoreUnavailableError
from dormouse.ids import DatasetId
from dormouse.model.recall import RecallMode, RecallRequest
from dormouse.model.scope import Scope
from dormouse.ports.embedder import Embedder
from dormouse.recall.understand import Understanding, understand


@dataclass(slots=True)
class Course:
    scope: Scope
    request: RecallRequest
    now_ms: int
    dataset_names: dict[DatasetId, str] = field(default_factory=dict)
    degraded: list[str] = field(default_factory=list)
    failure: StoreUnavailableError | None = None
    embedder: Embedder | None = None  # that made the query's vectors
    _understood: Understanding | None = None

    @property
    def understanding(self) -> Understanding:
        """Worked out when first asked for: most of a millisecond, in which the model can begin already."""
        if self._understood is None:
            at_ms = self.request.at_ms
            self._understood = understand(self.request.query, self.now_ms if at_ms is None else at_ms)
        return self._understood

    def lacks(self, part: str, failure: StoreUnavailableError | None = None) -> None:
        if part not in self.degraded:
            self.degraded.append(part)
        self.failure = self.failure or failure

    @property
    def is_lexical(self) -> bool:
        return self.request.mode is RecallMode.LEXICAL
