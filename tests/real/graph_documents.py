"""Documents as they are written to the graph, each in one transaction."""

from dormouse.model.entity import Mention
from dormouse.model.passage import Passage
from dormouse.ports.graph_store import GraphRows, GraphStore
from tests.builders import a_passage
from tests.contract.ports.store_samples import MINE, a_document_id, a_version, an_entity

WRITTEN = 20  # passages of a document


def a_document(number: int, passages: int = WRITTEN) -> GraphRows:
    """Each passage mentions the same entity, as those of other documents do."""
    document, ada = a_document_id(str(number)), an_entity()
    made = tuple(a_passage(f"{number}, {n}.", order=n, document=document) for n in range(passages))
    versions = tuple(a_version(each, f"Claim of {each.text}", entities=(ada.id,)) for each in made)
    return GraphRows(made, (ada,), tuple(Mention(ada.id, each.id) for each in made), versions)


async def held(store: GraphStore, number: int) -> list[Passage]:
    return list(await store.passages_of(MINE, a_document_id(str(number))))
