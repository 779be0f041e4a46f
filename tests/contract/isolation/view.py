"""Everything that one user can see, as one value: compared before and after what is none of their business."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from random import Random

from dormouse.engine import Engine
from dormouse.ids import DatasetId, PrincipalId
from dormouse.jobs.standing import Standing
from dormouse.model.dataset import DatasetSummary
from dormouse.model.document import Item
from dormouse.model.job import Job
from dormouse.model.recall import Hit, RecallMode, RecallRequest
from tests.contract.isolation.choose import SESSIONS
from tests.contract.isolation.expected import Expected
from tests.contract.isolation.texts import QUERIES, WHO, canary

MOST = 10_000
OF_NOTES = " ".join(WHO)  # somebody is named in every note
_ID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")


@dataclass(frozen=True, slots=True)
class Found:
    """A recall's answer, scores to the last bit; a note's id is by chance, so its words stand for it."""

    outcome: str
    hits: tuple[Hit, ...]
    notes: tuple[tuple[str, DatasetId | None, float], ...]
    progress: tuple[int | None, int | None]
    degraded: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class View:
    """`jobs` are the caller's own, `jobs_there` everybody's in what the caller may read."""

    datasets: tuple[DatasetSummary, ...]
    items: tuple[Item, ...]
    standings: Mapping[DatasetId, Standing]
    jobs: tuple[Job, ...]
    jobs_there: tuple[Job, ...]
    recalls: tuple[Found, ...]


@dataclass(frozen=True, slots=True)
class Questions:
    """What a run asks again and again: of everything, of the datasets of everybody by id, and of a session."""

    of_all: str
    of_named: str
    mode: RecallMode
    session: str

    @classmethod
    def drawn(cls, random: Random) -> "Questions":
        of_all, of_named = random.sample(QUERIES, 2)
        mode = random.choice((RecallMode.AUTO, RecallMode.LEXICAL))
        return cls(of_all, of_named, mode, random.choice(SESSIONS))


async def view_of(engine: Engine, expected: Expected, user: PrincipalId, questions: Questions) -> View:
    scope = await engine.scope_of(user)
    datasets = await engine.datasets(scope)
    items = [item for each in datasets for item in await engine.items(scope, each.dataset.id, limit=MOST)]
    everybodys = frozenset(expected.datasets)
    named = RecallRequest(questions.of_named, mode=questions.mode, datasets=everybodys, top_k=5)
    of_notes = RecallRequest(OF_NOTES, mode=RecallMode.LEXICAL, session=questions.session, top_k=100)
    return View(
        datasets=tuple(datasets),
        items=tuple(items),
        standings=dict(await engine.standings(scope, everybodys)),
        jobs=tuple(await engine.jobs(scope, limit=MOST)),
        jobs_there=tuple(await engine.jobs(scope, datasets=list(everybodys), limit=MOST)),
        recalls=(
            await found_by(engine, user, RecallRequest(questions.of_all)),
            await found_by(engine, user, named),
            await found_by(engine, user, of_notes),
        ),
    )


async def found_by(engine: Engine, user: PrincipalId, request: RecallRequest) -> Found:
    result = await engine.recall(await engine.scope_of(user), request)
    return Found(
        result.outcome,
        result.hits,
        tuple((each.entry.text, each.entry.dataset, each.score) for each in result.session_hits),
        (result.completed, result.total),
        result.degraded,
    )


def check_view(view: View, expected: Expected, user: PrincipalId, questions: Questions) -> None:
    """The view holds what the model says is the user's to see, whole where the model knows it, and no more."""
    listed = {each.id: each for each in expected.readable(user) if each.is_listed}
    assert {
        each.dataset.id: (each.dataset.name, each.dataset.owner, each.documents) for each in view.datasets
    } == {id_: (kept.name, kept.owner, len(kept.documents)) for id_, kept in listed.items()}
    live = {document for kept in listed.values() for document in kept.documents}
    assert {each.document.id for each in view.items} == live
    assert set(view.standings) <= {each.id for each in expected.readable(user)}
    assert {each.id for each in view.jobs} == {
        each.id for each in expected.jobs.values() if each.principal == user
    }
    assert {each.id for each in view.jobs_there} == {
        each.id for each in expected.jobs.values() if expected.may_read(user, each.dataset)
    }
    hits = [hit for each in view.recalls for hit in each.hits]
    assert {hit.passage.document for hit in hits} <= live
    assert {(hit.passage.dataset, hit.dataset_name) for hit in hits} <= {
        (id_, kept.name) for id_, kept in listed.items()
    }
    notes = {text for text, _ in expected.notes.get((user, questions.session), ())}
    assert {text for each in view.recalls for text, _, _ in each.notes} == notes
    check_words(repr(view), expected, user)


def check_words(said: str, expected: Expected, user: PrincipalId) -> None:
    """No id and no word of a dataset that the user may not read; one's own jobs name what they were about."""
    own = [job.dataset for job in expected.jobs.values() if job.principal == user]
    own += [
        where for (noter, _), notes in expected.notes.items() if noter == user for _, where in notes if where
    ]
    seen = set(_ID.findall(said))
    for kept in expected.foreign(user):
        jobs = {job.id for job in expected.jobs.values() if job.dataset == kept.id and job.principal != user}
        assert not seen & jobs
        assert canary(kept.id) not in said
        if kept.id not in own:
            assert not seen & (kept.ever | {kept.id})
