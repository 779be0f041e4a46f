"""What the catalog's suites put in before they look."""

from dataclasses import replace

from dormouse import ids
from dormouse.model.dataset import Dataset
from dormouse.model.document import Document
from dormouse.model.job import Job
from dormouse.ports.catalog.transaction import Catalog, CatalogTransaction
from tests.builders import A_PRINCIPAL, A_WORKSPACE, a_document, a_job, a_revision


async def a_stored_dataset(catalog: Catalog, name: str = "main_dataset") -> Dataset:
    async with catalog.transaction() as tx:
        await tx.workspaces.ensure(A_WORKSPACE, "Local")
        dataset = await tx.datasets.ensure(A_WORKSPACE, A_PRINCIPAL, name)
        await tx.commit()
    return dataset


async def store_document(tx: CatalogTransaction, text: str, document: Document | None = None) -> Document:
    """The document with its first revision and the job that brought it."""
    document = document or a_document(f"text\0{text}")
    job = a_job(id=ids.new_job_id(), dataset=document.dataset, document=document.id)
    await tx.documents.save(document)
    await tx.jobs.add(job)
    await tx.revisions.add(a_revision(document.id, text=text, job=job.id))
    return document


async def store_job(catalog: Catalog, job: Job | None = None, *, size_bytes: int = 0) -> Job:
    job = job or a_job(id=ids.new_job_id(), document=None)
    job = replace(job, counts=replace(job.counts, size_bytes=size_bytes))
    async with catalog.transaction() as tx:
        await tx.jobs.add(job)
        await tx.commit()
    return job
