"""What users do, as records: done to the real engine, told to the plain model, and done again to a mirror.

A new kind of deed is a record here with `datasets`, `do` and `tell`, and a line in `choose.CHOICES`.
"""

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any, Protocol

from dormouse.engine import Engine
from dormouse.ids import DatasetId, DocumentId, PrincipalId
from dormouse.model.document import Content
from dormouse.model.receipt import ForgetReceipt, Receipt
from dormouse.model.scope import Permission
from tests.contract.isolation.expected import Expected, Kept, KeptJob
from tests.contract.write_path.world import World


@dataclass(frozen=True, slots=True)
class Stage:
    """The engine of the product over real stores, and the hand that moves its loops."""

    engine: Engine
    world: World


class Deed(Protocol):
    @property
    def user(self) -> PrincipalId | None:
        """None for what the machine does by itself."""
        ...

    def datasets(self, expected: Expected) -> Collection[DatasetId]:
        """Which ones it may change, asked before it is done."""
        ...

    async def do(self, stage: Stage) -> Any:  # noqa: ANN401 - each deed's own receipt
        ...

    def tell(self, expected: Expected, receipt: Any) -> None:  # noqa: ANN401
        """What the model knows afterwards; asserts that the receipt is of the caller's own."""
        ...


@dataclass(frozen=True, slots=True)
class Remember:
    """`name` is how the owner says it; others give the id."""

    user: PrincipalId
    dataset: DatasetId
    name: str
    content: Content

    def datasets(self, expected: Expected) -> Collection[DatasetId]:
        return [self.dataset]

    async def do(self, stage: Stage) -> Receipt:
        scope = await stage.engine.scope_of(self.user)
        return await stage.engine.remember(scope, self.name or self.dataset, self.content)

    def tell(self, expected: Expected, receipt: Receipt) -> None:
        kept = expected.datasets[self.dataset]
        assert receipt.document
        assert receipt.dataset
        assert receipt.dataset.id == receipt.document.dataset == receipt.job.dataset == self.dataset
        kept.is_listed = True
        kept.documents.add(receipt.document.id)
        kept.ever.add(receipt.document.id)
        # A duplicate of what still runs answers with the job of whoever began it.
        expected.jobs.setdefault(receipt.job.id, KeptJob(receipt.job.id, self.user, self.dataset))
        expected.unsettled.add(self.dataset)


@dataclass(frozen=True, slots=True)
class ForgetItem:
    user: PrincipalId
    dataset: DatasetId
    document: DocumentId

    def datasets(self, expected: Expected) -> Collection[DatasetId]:
        return [self.dataset]

    async def do(self, stage: Stage) -> ForgetReceipt:
        scope = await stage.engine.scope_of(self.user)
        return await stage.engine.forget_item(scope, self.dataset, self.document)

    def tell(self, expected: Expected, receipt: ForgetReceipt) -> None:
        expected.datasets[self.dataset].documents.discard(self.document)
        assert receipt.session_entries == 0  # no note here quotes a document
        _note_jobs(expected, self.user, receipt, [expected.datasets[self.dataset]])


@dataclass(frozen=True, slots=True)
class ForgetDataset:
    user: PrincipalId
    dataset: DatasetId

    def datasets(self, expected: Expected) -> Collection[DatasetId]:
        return [self.dataset]

    async def do(self, stage: Stage) -> ForgetReceipt:
        scope = await stage.engine.scope_of(self.user)
        return await stage.engine.forget_dataset(scope, self.dataset)

    def tell(self, expected: Expected, receipt: ForgetReceipt) -> None:
        assert receipt.session_entries == _own_notes(expected, self.user, {self.dataset})
        expected.forget_dataset(self.dataset)
        _note_jobs(expected, self.user, receipt, [expected.datasets[self.dataset]])


@dataclass(frozen=True, slots=True)
class ForgetEverything:
    user: PrincipalId

    def datasets(self, expected: Expected) -> Collection[DatasetId]:
        return [each.id for each in expected.datasets.values() if each.owner == self.user]

    async def do(self, stage: Stage) -> ForgetReceipt:
        return await stage.engine.forget_everything(await stage.engine.scope_of(self.user))

    def tell(self, expected: Expected, receipt: ForgetReceipt) -> None:
        assert receipt.session_entries == sum(
            len(notes) for (user, _), notes in expected.notes.items() if user == self.user
        )
        own = [each for each in expected.datasets.values() if each.owner == self.user]
        for each in own:
            expected.forget_dataset(each.id)
        for (user, _), notes in expected.notes.items():
            if user == self.user:
                notes.clear()
        _note_jobs(expected, self.user, receipt, own)


@dataclass(frozen=True, slots=True)
class Note:
    """Something said in a session; with a dataset, the note goes when that is forgotten."""

    user: PrincipalId
    session: str
    text: str
    dataset: DatasetId | None

    def datasets(self, expected: Expected) -> Collection[DatasetId]:
        return []

    async def do(self, stage: Stage) -> None:
        scope = await stage.engine.scope_of(self.user)
        await stage.engine.remember_in_session(scope, self.session, self.text, dataset=self.dataset)

    def tell(self, expected: Expected, receipt: None) -> None:
        expected.notes.setdefault((self.user, self.session), []).append((self.text, self.dataset))


@dataclass(frozen=True, slots=True)
class Share:
    """`permission` None takes the grant back."""

    user: PrincipalId
    dataset: DatasetId
    to: PrincipalId
    permission: Permission | None

    def datasets(self, expected: Expected) -> Collection[DatasetId]:
        return [self.dataset]

    async def do(self, stage: Stage) -> None:
        scope = await stage.engine.scope_of(self.user)
        await stage.engine.share(scope, self.dataset, self.to, self.permission)

    def tell(self, expected: Expected, receipt: None) -> None:
        if self.permission is None:
            expected.grants.pop((self.to, self.dataset), None)
        else:
            expected.grants[self.to, self.dataset] = self.permission


@dataclass(frozen=True, slots=True)
class Work:
    """The loops of the process: extraction alone, applying alone, or both until nothing waits."""

    extracts: bool = True
    applies: bool = True
    user: None = None

    def datasets(self, expected: Expected) -> Collection[DatasetId]:
        return frozenset(expected.unsettled)

    async def do(self, stage: Stage) -> None:
        if self.extracts and self.applies:
            await stage.world.work()
        elif self.extracts:
            await stage.world.extract()
        else:
            await stage.world.apply()

    def tell(self, expected: Expected, receipt: None) -> None:
        if self.extracts and self.applies:
            expected.unsettled.clear()


@dataclass(frozen=True, slots=True)
class Tidy:
    """The upkeep of a quiet minute: segments are merged and indexes built."""

    user: None = None

    def datasets(self, expected: Expected) -> Collection[DatasetId]:
        return []

    async def do(self, stage: Stage) -> None:
        await stage.world.ports.vectors.optimise()

    def tell(self, expected: Expected, receipt: None) -> None:
        return


def _own_notes(expected: Expected, user: PrincipalId, datasets: set[DatasetId]) -> int:
    return sum(
        where in datasets for (noter, _), notes in expected.notes.items() if noter == user for _, where in notes
    )


def _note_jobs(
    expected: Expected, user: PrincipalId, receipt: ForgetReceipt, datasets: Collection[Kept]
) -> None:
    may_be = {each.id for each in datasets}
    for job in receipt.jobs:
        assert job.dataset in may_be
        expected.jobs[job.id] = KeptJob(job.id, user, job.dataset)
        expected.unsettled.add(job.dataset)
