"""Whether catalog, graph, vectors and term counts tell the same story about a stopped server's folder."""

from dormouse.access import lookup
from dormouse.ids import PrincipalId
from dormouse.model.change import Erasure
from dormouse.ports.bundle import Ports

LOCAL = PrincipalId("local")


async def disagreements(ports: Ports) -> list[str]:
    """One line for each; empty when all agree and nothing is left to do."""
    workspace = await ports.directory.workspace_of(LOCAL)
    found: list[str] = []
    async with ports.catalog.reading() as tx:
        scope = await lookup.scope_of(tx, LOCAL, workspace)
        if waiting := await tx.changes.unapplied_count(workspace):
            found.append(f"{waiting} changes are not applied")
        datasets = await tx.datasets.owned_by(workspace, LOCAL)
        documents = {each.id: await tx.documents.listing(each.id, limit=1000) for each in datasets}
        counted = {each.id: (await tx.terms.counts([each.id], [])).passages for each in datasets}
    for dataset in datasets:
        alone = scope.narrowed_to([dataset.id])
        in_graph = (await ports.graph.count(alone)).passages
        in_vectors = await ports.vectors.count(alone)
        of_documents = 0
        for document in documents[dataset.id]:
            where = Erasure(dataset.id, document=document.id)
            passages = (await ports.graph.count(alone, where)).passages
            points = await ports.vectors.count(alone, where)
            of_documents += passages
            if passages != points or not passages:
                found.append(f"{document.name}: {passages} passages, {points} points")
        if len({in_graph, in_vectors, of_documents, counted[dataset.id]}) > 1:
            found.append(
                f"{dataset.name}: graph {in_graph}, vectors {in_vectors}, "
                f"documents {of_documents}, term statistics {counted[dataset.id]}"
            )
    return found
