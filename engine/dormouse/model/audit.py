"""What an audit found: drift between catalog, blobs, graph and vectors, by kind. Source: writes §7."""

from dataclasses import dataclass
from enum import StrEnum

from dormouse.ids import DatasetId, DocumentId

MOST_EXAMPLES = 5


class Drift(StrEnum):
    """Stable codes; `REMEDIES` says what each means for whoever reads them."""

    PASSAGE_MISSING = "passage_missing"
    PASSAGE_UNKNOWN = "passage_unknown"
    PASSAGE_CHANGED = "passage_changed"
    MEMORY_MISSING = "memory_missing"
    GRAPH_STRAY = "graph_stray"
    POINT_MISSING = "point_missing"
    POINT_UNKNOWN = "point_unknown"
    POINT_CHANGED = "point_changed"
    POINT_SHOWN = "point_shown"
    POINT_HIDDEN = "point_hidden"
    TERMS_WRONG = "terms_wrong"
    LEFTOVER = "leftover"
    BLOB_MISSING = "blob_missing"
    BLOB_DAMAGED = "blob_damaged"
    BLOB_UNNAMED = "blob_unnamed"
    CHANGE_WAITING = "change_waiting"
    CHANGES_MISNUMBERED = "changes_misnumbered"

    @property
    def is_repairable(self) -> bool:
        return self not in _BEYOND_REPAIR


_BEYOND_REPAIR = frozenset(
    {Drift.BLOB_MISSING, Drift.BLOB_DAMAGED, Drift.CHANGE_WAITING, Drift.CHANGES_MISNUMBERED}
)
_LOST = "cannot be made anew: restore a backup of the data folder, or forget the item and remember it again"

REMEDIES = {
    Drift.PASSAGE_MISSING: "a repair writes it again from what was extracted",
    Drift.PASSAGE_UNKNOWN: "nothing that was remembered says so; a repair removes it",
    Drift.PASSAGE_CHANGED: "a repair writes it again from what was extracted",
    Drift.MEMORY_MISSING: "a repair writes it again from what was decided",
    Drift.GRAPH_STRAY: "memories, entities or mentions of nothing; a repair removes them",
    Drift.POINT_MISSING: "searches by meaning miss it; a repair writes it again",
    Drift.POINT_UNKNOWN: "a vector of nothing; a repair removes it",
    Drift.POINT_CHANGED: "a repair writes it again",
    Drift.POINT_SHOWN: "suppressed, and still searched; a repair hides it",
    Drift.POINT_HIDDEN: "not suppressed, and not searched; a repair shows it",
    Drift.TERMS_WRONG: "search by words weighs wrongly; a repair counts again",
    Drift.LEFTOVER: "of something forgotten; a repair removes it from stores and files",
    Drift.BLOB_MISSING: _LOST,
    Drift.BLOB_DAMAGED: _LOST,
    Drift.BLOB_UNNAMED: "nothing names it; it is removed by itself within a day, or by a repair",
    Drift.CHANGE_WAITING: "accepted long ago and not applied; `dormouse doctor` and the log say why",
    Drift.CHANGES_MISNUMBERED: "the catalog is older than its changes: restore a backup of the data folder",
}


@dataclass(frozen=True, slots=True)
class Finding:
    """`count` of one kind in one item, one dataset (`document` None) or the workspace (both None).

    `examples` are ids of passages, memories or terms, or keys of blobs; never content.
    """

    drift: Drift
    count: int
    dataset: DatasetId | None = None
    document: DocumentId | None = None
    examples: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class AuditReport:
    """`unsettled` datasets were written to all the while, so nothing is said of them; ask again."""

    findings: tuple[Finding, ...]
    datasets: int
    documents: int
    passages: int
    unsettled: tuple[DatasetId, ...] = ()

    @property
    def is_sound(self) -> bool:
        return not self.findings
