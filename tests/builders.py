"""Records for tests: every builder defaults what a test does not care about."""

from collections.abc import Iterable

import numpy as np
from hypothesis import strategies as st

from dormouse import ids
from dormouse.model.change import Change, ChangeKind
from dormouse.model.dataset import Dataset
from dormouse.model.document import Content, ContentKind, Document, Revision
from dormouse.model.job import CancelReason, Job, JobCounts, JobFailure, JobKind, Stage
from dormouse.model.passage import TOKEN_VECTOR_BYTES, Passage, PassageKind, PassageVectors, Point
from dormouse.model.scope import Grant, Permission, Principal, Scope
from dormouse.model.session import TTL_MS, SessionEntry

NOW_MS = 1_767_614_400_000  # 2026-01-05T12:00:00Z
A_WORKSPACE = ids.WorkspaceId("local")
A_PRINCIPAL = ids.PrincipalId("ada")
ANOTHER_PRINCIPAL = ids.PrincipalId("grace")
A_DATASET = ids.dataset_id(A_PRINCIPAL, "main_dataset")
ANOTHER_DATASET = ids.dataset_id(ANOTHER_PRINCIPAL, "main_dataset")
A_DOCUMENT = ids.document_id(A_DATASET, "text\0hello", 0, 0)
A_JOB = ids.JobId("00000000-0000-4000-8000-000000000001")


def a_principal(id: str = A_PRINCIPAL) -> Principal:  # noqa: A002 - the record's own field name
    return Principal(id=ids.PrincipalId(id), name=id.title(), created_ms=NOW_MS)


def a_grant(
    dataset: ids.DatasetId = ANOTHER_DATASET,
    permission: Permission = Permission.READ,
    principal: ids.PrincipalId = A_PRINCIPAL,
) -> Grant:
    return Grant(principal=principal, dataset=dataset, permission=permission, granted_ms=NOW_MS)


def a_scope(
    readable: Iterable[ids.DatasetId] = (A_DATASET,),
    writable: Iterable[ids.DatasetId] | None = None,
    *,
    principal: ids.PrincipalId = A_PRINCIPAL,
) -> Scope:
    """Everything readable is writable unless `writable` is given, and everything writable deletable."""
    may_read = frozenset(readable)
    may_write = may_read if writable is None else frozenset(writable)
    return Scope(
        principal=principal, workspace=A_WORKSPACE, readable=may_read, writable=may_write, deletable=may_write
    )


def a_dataset(
    name: str = "main_dataset",
    *,
    owner: ids.PrincipalId = A_PRINCIPAL,
    generation: int = 0,
    listed: bool = True,
) -> Dataset:
    return Dataset(
        id=ids.dataset_id(owner, name),
        workspace=A_WORKSPACE,
        owner=owner,
        name=name,
        generation=generation,
        listed=listed,
        created_ms=NOW_MS,
        updated_ms=NOW_MS,
    )


def a_content(
    text: str = "Ada lives in London.", *, filename: str = "", kind: ContentKind | None = None
) -> Content:
    kind = kind or (ContentKind.FILE if filename else ContentKind.TEXT)
    return Content(body=text.encode(), kind=kind, filename=filename)


def a_document(
    identity: str = "text\0hello",
    *,
    dataset: ids.DatasetId = A_DATASET,
    owner: ids.PrincipalId = A_PRINCIPAL,
    name: str = "hello.txt",
    external_id: str | None = None,
    newest_revision: int = 1,
    searchable_revision: int = 1,
) -> Document:
    return Document(
        id=ids.document_id(dataset, identity, 0, 0),
        workspace=A_WORKSPACE,
        dataset=dataset,
        owner=owner,
        identity=identity,
        name=name,
        external_id=external_id,
        dataset_generation=0,
        item_generation=0,
        newest_revision=newest_revision,
        searchable_revision=searchable_revision,
        created_ms=NOW_MS,
        updated_ms=NOW_MS,
    )


def a_revision(
    document: ids.DocumentId = A_DOCUMENT,
    number: int = 1,
    *,
    text: str = "Ada lives in London.",
    job: ids.JobId = A_JOB,
    is_failed: bool = False,
) -> Revision:
    body = text.encode()
    return Revision(
        document=document,
        number=number,
        job=job,
        content_sha256=ids.sha256_hex(body),
        kind=ContentKind.TEXT,
        filename="",
        size_bytes=len(body),
        inline=body,
        blob=None,
        occurred_ms=None,
        offset_minutes=None,
        zone="UTC",
        is_failed=is_failed,
        created_ms=NOW_MS,
    )


def a_job(
    stage: Stage = Stage.ACCEPTED,
    *,
    id: ids.JobId = A_JOB,  # noqa: A002 - the record's own field name
    kind: JobKind = JobKind.REMEMBER,
    dataset: ids.DatasetId | None = A_DATASET,
    document: ids.DocumentId | None = A_DOCUMENT,
    principal: ids.PrincipalId = A_PRINCIPAL,
    revision: int = 1,
    accepted_ms: int = NOW_MS,
    done: int = 0,
    total: int = 0,
) -> Job:
    """`done` of `total` passages are applied. A failed job comes with its failure, a cancelled one with why."""
    failure = JobFailure("unreadable_document", "the file is not what its name says", False, Stage.EXTRACTING)
    return Job(
        id=id,
        workspace=A_WORKSPACE,
        principal=principal,
        kind=kind,
        dataset=dataset,
        document=document,
        revision=revision,
        stage=stage,
        accepted_ms=accepted_ms,
        updated_ms=accepted_ms,
        finished_ms=accepted_ms if stage.is_final else None,
        searchable_ms=accepted_ms if stage.is_searchable else None,
        counts=JobCounts(passages=total, done=done),
        failure=failure if stage is Stage.FAILED else None,
        cancel_reason=CancelReason.FORGOTTEN if stage is Stage.CANCELLED else None,
    )


def some_jobs(max_size: int = 6) -> st.SearchStrategy[list[Job]]:
    """Jobs of every stage, with counts that make sense."""
    counts = st.integers(0, 50).flatmap(lambda total: st.tuples(st.integers(0, total), st.just(total)))
    one = st.builds(
        lambda stage, count, key: a_job(stage, id=ids.JobId(str(key)), done=count[0], total=count[1]),
        st.sampled_from(Stage),
        counts,
        st.uuids(version=4),
    )
    return st.lists(one, max_size=max_size)


def a_change(
    seq: int = 1,
    *,
    kind: ChangeKind = ChangeKind.UPSERT,
    job: ids.JobId = A_JOB,
    part: int = 0,
    dataset: ids.DatasetId = A_DATASET,
    document: ids.DocumentId | None = A_DOCUMENT,
    generation: int = 0,
    revision: int = 1,
    is_last_part: bool = True,
) -> Change:
    return Change(
        workspace=A_WORKSPACE,
        seq=seq,
        job=job,
        part=part,
        kind=kind,
        dataset=dataset,
        document=document,
        generation=generation,
        revision=revision,
        blob=None,
        change_set=None,
        is_last_part=is_last_part,
    )


def a_passage(
    text: str = "Ada lives in London.",
    *,
    order: int = 0,
    dataset: ids.DatasetId = A_DATASET,
    document: ids.DocumentId = A_DOCUMENT,
    kind: PassageKind = PassageKind.CHUNK,
    session: str = "",
    heading: str = "",
    speaker: str = "",
    role: str = "",
    language: str = "en",
    occurred_ms: int | None = None,
    revision: int = 1,
    previous: tuple[ids.PassageId, ...] = (),
) -> Passage:
    return Passage(
        id=ids.passage_id(document, ids.sha256_hex(text.encode()), order),
        workspace=A_WORKSPACE,
        dataset=dataset,
        document=document,
        dataset_generation=0,
        first_revision=revision,
        last_revision=revision,
        kind=kind,
        order=order,
        session=session,
        text=text,
        heading=heading,
        previous=previous,
        speaker=speaker,
        role=role,
        language=language,
        occurred_ms=occurred_ms,
        document_name="hello.txt",
    )


def some_vectors(*, seed: int = 0, dimension: int = 384, tokens: int = 3) -> PassageVectors:
    """Random directions that `seed` fixes, and one term."""
    random = np.random.default_rng(seed)
    dense = random.standard_normal(dimension)
    return PassageVectors(
        terms={ids.TermId(seed + 1): 1.0},
        window_terms={},
        dense=(dense / np.linalg.norm(dense)).astype(np.float16),
        tokens=random.bytes(tokens * TOKEN_VECTOR_BYTES),
    )


def a_point(passage: Passage | None = None, vectors: PassageVectors | None = None) -> Point:
    passage = passage or a_passage()
    return Point.of(passage, vectors or some_vectors(seed=passage.order))


def a_session_entry(
    text: str = "Ada asked about trains.",
    *,
    session: str = "s1",
    owner: ids.PrincipalId = A_PRINCIPAL,
    created_ms: int = NOW_MS,
    quotes: tuple[ids.DocumentId, ...] = (),
) -> SessionEntry:
    return SessionEntry(
        id=ids.new_session_entry_id(),
        owner=owner,
        session=session,
        dataset=None,
        text=text,
        quotes=quotes,
        created_ms=created_ms,
        expires_ms=created_ms + TTL_MS,
    )
