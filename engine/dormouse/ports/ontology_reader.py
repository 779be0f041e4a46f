"""An ontology's file to its terms, under limits of memory and time; nothing is fetched from anywhere."""

from typing import Protocol

from dormouse.model.ontology import Ontology


class OntologyReader(Protocol):
    async def read(self, content: bytes, filename: str) -> Ontology:
        """Raises `UnreadableDocumentError` for what is no ontology, asks for other files, or expands."""
        ...
