"""The facade: everything a gateway, a worker or a program may ask of the memory engine.

Every method that touches memory takes the caller's `Scope`, which only `scope_of` makes.
"""

from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import AbstractAsyncContextManager
from typing import Literal

from dormouse.ids import DatasetId, DocumentId, JobId, PrincipalId
from dormouse.model.dataset import Dataset, DatasetSummary
from dormouse.model.document import Content, Document
from dormouse.model.job import Job, JobStep, Stage
from dormouse.model.receipt import ForgetReceipt, IdempotencyKey, Receipt
from dormouse.model.recall import RecallRequest, RecallResult
from dormouse.model.scope import Permission, Scope
from dormouse.model.session import SessionEntry

Progress = Callable[[Job], Awaitable[None]]


class Engine:
    # --- who may what ---
    async def scope_of(self, principal: PrincipalId) -> Scope: ...
    async def dataset_named(self, scope: Scope, name_or_id: str, *, permission: Permission) -> Dataset:
        """Own datasets first, then shared ones if unambiguous. Raises NotFoundError (also for foreign ones),
        ForbiddenError if readable but not writable, InvalidInputError if the name is ambiguous."""
    async def datasets(self, scope: Scope) -> Sequence[DatasetSummary]: ...
    async def documents(self, scope: Scope, dataset: DatasetId, *, after: DocumentId | None = None, limit: int = 100) -> Sequence[Document]: ...
    async def share(self, scope: Scope, dataset: DatasetId, principal: PrincipalId, permission: Permission | None) -> None: ...

    # --- writing: durable when it returns ---
    async def remember(self, scope: Scope, dataset: str, content: Content, *, idempotency: IdempotencyKey | None = None) -> Receipt:
        """`dataset` is a name (made if new) or the id of a writable one."""
    async def remember_in_session(self, scope: Scope, session: str, text: str, *, dataset: str | None = None) -> SessionEntry: ...
    async def forget_item(self, scope: Scope, dataset: DatasetId, document: DocumentId) -> ForgetReceipt: ...
    async def forget_dataset(self, scope: Scope, dataset: DatasetId) -> ForgetReceipt: ...
    async def forget_everything(self, scope: Scope) -> ForgetReceipt: ...

    # --- receipts ---
    async def job(self, scope: Scope, job: JobId) -> Job: ...
    async def job_steps(self, scope: Scope, job: JobId) -> Sequence[JobStep]: ...
    async def jobs(self, scope: Scope, *, datasets: Sequence[DatasetId] = (), stages: Sequence[Stage] = (), before: tuple[int, JobId] | None = None, limit: int = 50) -> Sequence[Job]: ...
    async def wait(self, scope: Scope, job: JobId, *, until: Literal["searchable", "final"], budget_s: float, progress: Progress | None = None) -> Job:
        """The job once it got there, or as it stands when the budget ends. Cancelling the wait never
        touches the job. `progress` is called on every change of its counts or stage."""
    async def retry(self, scope: Scope, job: JobId) -> Job: ...

    # --- reading ---
    async def recall(self, scope: Scope, request: RecallRequest) -> RecallResult: ...

    # --- running ---
    def running(self) -> AbstractAsyncContextManager[None]:
        """Workers, appliers and sweeper in this process, until the block ends; ending drains them."""
    async def check_ready(self) -> None:
        """Raises UnavailableError with the part that is not ready."""
