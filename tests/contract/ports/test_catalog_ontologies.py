from dataclasses import replace

from dormouse.ids import BlobKey
from dormouse.model.ontology import OntologyRow
from dormouse.ports.catalog.transaction import Catalog
from tests.builders import A_PRINCIPAL, A_WORKSPACE, ANOTHER_PRINCIPAL, NOW_MS

ROW = OntologyRow(A_WORKSPACE, A_PRINCIPAL, "k", "o.ttl", "d", 5, BlobKey("w/o/1"), NOW_MS)


async def test_ontologies_are_their_owners_alone_and_listed_by_key(catalog: Catalog) -> None:
    first = replace(ROW, key="a")
    foreign = replace(ROW, owner=ANOTHER_PRINCIPAL)
    async with catalog.transaction() as tx:
        await tx.workspaces.ensure(A_WORKSPACE, "w")
        assert [await tx.ontologies.add(row) for row in (ROW, first, foreign)] == [True, True, True]

        assert await tx.ontologies.owned_by(A_PRINCIPAL) == [first, ROW]
        assert await tx.ontologies.owned_by(ANOTHER_PRINCIPAL) == [foreign]


async def test_a_key_that_is_taken_stays_as_it_is(catalog: Catalog) -> None:
    async with catalog.transaction() as tx:
        await tx.workspaces.ensure(A_WORKSPACE, "w")
        await tx.ontologies.add(ROW)

        assert await tx.ontologies.add(replace(ROW, filename="other.ttl")) is False
        assert await tx.ontologies.owned_by(A_PRINCIPAL) == [ROW]


async def test_removing_tells_what_was_there(catalog: Catalog) -> None:
    async with catalog.transaction() as tx:
        await tx.workspaces.ensure(A_WORKSPACE, "w")
        await tx.ontologies.add(ROW)

        assert await tx.ontologies.remove(ANOTHER_PRINCIPAL, "k") is None
        assert await tx.ontologies.remove(A_PRINCIPAL, "k") == ROW
        assert await tx.ontologies.remove(A_PRINCIPAL, "k") is None


async def test_blobs_that_a_row_names_are_known(catalog: Catalog) -> None:
    async with catalog.transaction() as tx:
        await tx.workspaces.ensure(A_WORKSPACE, "w")
        await tx.ontologies.add(ROW)

        assert await tx.ontologies.named_blobs([ROW.blob, BlobKey("w/o/2")]) == {ROW.blob}
