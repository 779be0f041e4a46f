"""Identifiers and how they are derived: deterministic, so that a replay names the same things.

Everything derived from content is a uuid5 under one namespace of ours. A document's id contains the
generations it was accepted under: what is remembered again after a forget is a new document.
Source: writes §2 and §5.
"""

import hashlib
from typing import NewType
from uuid import UUID, uuid4, uuid5

WorkspaceId = NewType("WorkspaceId", str)
PrincipalId = NewType("PrincipalId", str)
DatasetId = NewType("DatasetId", str)
DocumentId = NewType("DocumentId", str)
PassageId = NewType("PassageId", str)
JobId = NewType("JobId", str)
EntityId = NewType("EntityId", str)
MemoryId = NewType("MemoryId", str)
VersionId = NewType("VersionId", str)
SessionEntryId = NewType("SessionEntryId", str)
BlobKey = NewType("BlobKey", str)
TermId = NewType("TermId", int)

NAMESPACE = UUID("7d0a4f5e-9a39-5d0b-8f0e-3a9c6b1f2d44")


def sha256_hex(content: bytes) -> str:
    """The content address used for blobs, deduplication and idempotency."""
    return hashlib.sha256(content).hexdigest()


def dataset_id(owner: PrincipalId, name: str) -> DatasetId:
    """Stable over forget and re-creation: grants and clients may hold it."""
    return DatasetId(str(uuid5(NAMESPACE, f"dataset\0{owner}\0{name}")))


def document_id(dataset: DatasetId, identity: str, dataset_generation: int, item_generation: int) -> DocumentId:
    """`identity` is the key of `dedupe.identity_of`; both generations are those at acceptance."""
    name = f"document\0{dataset}\0{identity}\0{dataset_generation}\0{item_generation}"
    return DocumentId(str(uuid5(NAMESPACE, name)))


def passage_id(document: DocumentId, text_sha256: str, occurrence: int) -> PassageId:
    """`occurrence` counts equal texts inside one document from 0."""
    return PassageId(str(uuid5(NAMESPACE, f"passage\0{document}\0{text_sha256}\0{occurrence}")))


def entity_id(dataset: DatasetId, kind: str, folded_name: str) -> EntityId:
    """Entities belong to one dataset: a name shared by two datasets is two entities."""
    return EntityId(str(uuid5(NAMESPACE, f"entity\0{dataset}\0{kind}\0{folded_name}")))


def memory_id(passage: PassageId, kind: str, claim: str, occurrence: int) -> MemoryId:
    """A lexical memory is named by its passage and its own words."""
    return MemoryId(str(uuid5(NAMESPACE, f"memory\0{passage}\0{kind}\0{claim}\0{occurrence}")))


def derived_memory_id(passage: PassageId, kind: str, claim: str) -> MemoryId:
    """A memory that a model derived: never the same as a lexical one, whatever its words. Its passage in the
    index has the same id, so that hiding or forgetting the one names the other."""
    return MemoryId(str(uuid5(NAMESPACE, f"derived\0{passage}\0{kind}\0{claim}")))


def version_id(memory: MemoryId, number: int) -> VersionId:
    return VersionId(str(uuid5(NAMESPACE, f"version\0{memory}\0{number}")))


def ontology_id(owner: PrincipalId, key: str) -> JobId:
    """Also the prefix of its blob, which no job has then."""
    return JobId(str(uuid5(NAMESPACE, f"ontology\0{owner}\0{key}")))


def new_job_id() -> JobId:
    return JobId(str(uuid4()))


def new_session_entry_id() -> SessionEntryId:
    return SessionEntryId(str(uuid4()))
