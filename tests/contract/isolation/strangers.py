"""Asking for what is somebody else's, and for what never was: the two answers must be the same."""

from collections.abc import Awaitable, Callable
from random import Random
from uuid import UUID

from dormouse.engine import Engine
from dormouse.errors import DormouseError
from dormouse.ids import DatasetId, DocumentId, JobId, PrincipalId
from dormouse.model.document import Content
from dormouse.model.recall import RecallRequest
from dormouse.model.scope import Permission, Scope
from tests.contract.isolation.expected import Expected
from tests.contract.isolation.texts import QUERIES

Question = Callable[[Engine, Scope, str], Awaitable[object]]

# What may be asked with the id of a dataset, and leaves everything as it is. Add the new ones here.
OF_A_DATASET: tuple[Question, ...] = (
    lambda engine, scope, id_: engine.dataset_named(scope, id_, permission=Permission.READ),
    lambda engine, scope, id_: engine.dataset_named(scope, id_, permission=Permission.WRITE),
    lambda engine, scope, id_: engine.items(scope, DatasetId(id_)),
    lambda engine, scope, id_: engine.standings(scope, [DatasetId(id_)]),
    lambda engine, scope, id_: engine.share(scope, DatasetId(id_), scope.principal, Permission.READ),
    lambda engine, scope, id_: engine.share(scope, DatasetId(id_), scope.principal, None),
    lambda engine, scope, id_: engine.forget_dataset(scope, DatasetId(id_)),
    lambda engine, scope, id_: engine.forget_item(scope, DatasetId(id_), DocumentId(id_)),
    lambda engine, scope, id_: engine.remember(scope, id_, Content(b"An id never becomes a name.")),
    lambda engine, scope, id_: engine.jobs(scope, datasets=[DatasetId(id_)]),
    lambda engine, scope, id_: engine.recall(
        scope, RecallRequest(QUERIES[0], datasets=frozenset([DatasetId(id_)]))
    ),
)
OF_A_JOB: tuple[Question, ...] = (
    lambda engine, scope, id_: engine.job(scope, JobId(id_)),
    lambda engine, scope, id_: engine.job_steps(scope, JobId(id_)),
    lambda engine, scope, id_: engine.wait(scope, JobId(id_), until="final", budget_s=0.0),
    lambda engine, scope, id_: engine.retry(scope, JobId(id_)),
    lambda engine, scope, id_: engine.cancel(scope, JobId(id_)),
)


def _of_a_document(own: DatasetId, foreign: DatasetId) -> tuple[Question, ...]:
    """Looked for in one's own dataset, and in the one where it lies."""
    return (
        lambda engine, scope, id_: engine.forget_item(scope, own, DocumentId(id_)),
        lambda engine, scope, id_: engine.forget_item(scope, foreign, DocumentId(id_)),
        lambda engine, scope, id_: engine.items(scope, foreign, after=DocumentId(id_)),
        lambda engine, scope, id_: engine.suppress_item(scope, own, DocumentId(id_)),
        lambda engine, scope, id_: engine.suppress_item(scope, foreign, DocumentId(id_)),
        lambda engine, scope, id_: engine.restore_item(scope, own, DocumentId(id_)),
        lambda engine, scope, id_: engine.restore_item(scope, foreign, DocumentId(id_)),
        lambda engine, scope, id_: engine.item(scope, own, DocumentId(id_)),
        lambda engine, scope, id_: engine.item(scope, foreign, DocumentId(id_)),
        lambda engine, scope, id_: engine.original(scope, own, DocumentId(id_)),
        lambda engine, scope, id_: engine.original(scope, foreign, DocumentId(id_)),
    )


async def ask_about_strangers(engine: Engine, expected: Expected, user: PrincipalId, random: Random) -> int:
    """Returns how many pairs were asked."""
    scope = await engine.scope_of(user)
    kept = random.choice(expected.foreign(user))
    asked: list[tuple[Question, str]] = [(question, kept.id) for question in OF_A_DATASET]
    jobs = [job.id for job in expected.jobs.values() if not expected.may_see(user, job.id)]
    if jobs:
        asked += [(question, random.choice(jobs)) for question in OF_A_JOB]
    own = [each.id for each in expected.readable(user) if each.is_listed and expected.may_write(user, each.id)]
    if own and kept.ever:
        document = random.choice(sorted(kept.ever))
        asked += [(question, document) for question in _of_a_document(random.choice(own), kept.id)]
    for question, foreign in asked:
        unknown = str(UUID(int=random.getrandbits(128), version=UUID(foreign).version))
        assert await _said(engine, scope, question, foreign) == await _said(engine, scope, question, unknown)
    return len(asked)


async def _said(engine: Engine, scope: Scope, question: Question, id_: str) -> str:
    """The answer or the error in words, without the caller's own."""
    try:
        said = repr(await question(engine, scope, id_))
    except DormouseError as error:
        fields = {name: value for name, value in vars(error).items() if not name.startswith("__")}
        said = repr((type(error), error.code, error.retryable, str(error), fields))
    return said.replace(id_, "<asked>")
