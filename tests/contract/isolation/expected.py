"""The plain model: who owns what, who was let in, and whose every id is. No store, no score, no clock."""

from dataclasses import dataclass, field

from dormouse.ids import DatasetId, DocumentId, JobId, PrincipalId, dataset_id
from dormouse.model.scope import Permission

USERS = (PrincipalId("ada"), PrincipalId("grace"), PrincipalId("edsger"))
NAMES = ("notes", "work", "family")  # the same ones for everybody: a name alone says nothing


@dataclass(slots=True)
class Kept:
    """A dataset. `documents` are live; `ever` are all that ever were, whose ids stay this dataset's."""

    id: DatasetId
    owner: PrincipalId
    name: str
    is_listed: bool = False
    documents: set[DocumentId] = field(default_factory=set)
    ever: set[DocumentId] = field(default_factory=set)


@dataclass(frozen=True, slots=True)
class KeptJob:
    id: JobId
    principal: PrincipalId
    dataset: DatasetId


def _three_each() -> dict[DatasetId, Kept]:
    made = (Kept(dataset_id(owner, name), owner, name) for owner in USERS for name in NAMES)
    return {each.id: each for each in made}


@dataclass(slots=True)
class Expected:
    datasets: dict[DatasetId, Kept] = field(default_factory=_three_each)
    grants: dict[tuple[PrincipalId, DatasetId], Permission] = field(default_factory=dict)
    jobs: dict[JobId, KeptJob] = field(default_factory=dict)
    notes: dict[tuple[PrincipalId, str], list[tuple[str, DatasetId | None]]] = field(default_factory=dict)
    unsettled: set[DatasetId] = field(default_factory=set)

    def may_read(self, user: PrincipalId, dataset: DatasetId) -> bool:
        return self.datasets[dataset].owner == user or (user, dataset) in self.grants

    def may_write(self, user: PrincipalId, dataset: DatasetId) -> bool:
        return self.may_delete(user, dataset) or self.grants.get((user, dataset)) is Permission.WRITE

    def may_delete(self, user: PrincipalId, dataset: DatasetId) -> bool:
        return self.datasets[dataset].owner == user or self.grants.get((user, dataset)) is Permission.DELETE

    def readable(self, user: PrincipalId) -> list[Kept]:
        return [each for each in self.datasets.values() if self.may_read(user, each.id)]

    def foreign(self, user: PrincipalId) -> list[Kept]:
        return [each for each in self.datasets.values() if not self.may_read(user, each.id)]

    def may_see(self, user: PrincipalId, job: JobId) -> bool:
        """One's own jobs stay one's own, whoever closed the dataset since."""
        kept = self.jobs[job]
        return kept.principal == user or self.may_read(user, kept.dataset)

    def concerned(self, dataset: DatasetId) -> set[PrincipalId]:
        """Whoever may notice that something happened to the dataset: its readers and its writers of once."""
        writers = {job.principal for job in self.jobs.values() if job.dataset == dataset}
        noters = {
            user for (user, _), notes in self.notes.items() if any(where == dataset for _, where in notes)
        }
        return {user for user in USERS if self.may_read(user, dataset)} | writers | noters

    def forget_dataset(self, dataset: DatasetId) -> None:
        kept = self.datasets[dataset]
        kept.documents.clear()
        kept.is_listed = False
        self.grants = {key: given for key, given in self.grants.items() if key[1] != dataset}
        for notes in self.notes.values():
            notes[:] = [note for note in notes if note[1] != dataset]
