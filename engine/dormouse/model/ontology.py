"""An ontology: the names that a user's field has for its kinds and things, and how they hang together."""

from dataclasses import dataclass

from dormouse.ids import BlobKey, PrincipalId, WorkspaceId

MAX_SIZE_BYTES = 5 * 1024 * 1024
MAX_STATEMENTS = 50_000
MAX_TERMS = 20_000
MAX_OF_A_USER = 100


@dataclass(frozen=True, slots=True)
class Term:
    """A class or an individual. `name` is what it is called, `names` are all spellings it is known by.

    `broader` are the classes that it is a kind or an instance of, `relations` what an individual has to do
    with others: the property's name and the other's IRI.
    """

    iri: str
    name: str
    names: tuple[str, ...]
    is_class: bool
    broader: tuple[str, ...] = ()
    relations: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Ontology:
    """Terms by IRI, in that order."""

    terms: tuple[Term, ...]


@dataclass(frozen=True, slots=True)
class OntologyRow:
    """One that a user uploaded, under the user's own `key`; `blob` holds the file and its terms."""

    workspace: WorkspaceId
    owner: PrincipalId
    key: str
    filename: str
    description: str
    size_bytes: int
    blob: BlobKey
    created_ms: int
