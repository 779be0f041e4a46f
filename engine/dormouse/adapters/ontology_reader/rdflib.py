"""Ontologies through rdflib, each in a process of its own: a parser that loops or expands ends with it.

Imports are named in the file and never followed. The format is told by the bytes, for `.owl` may be any.
"""

import json

from pydantic import TypeAdapter, ValidationError

from dormouse.adapters.apart.process import Bounds, run_apart
from dormouse.errors import UnreadableDocumentError
from dormouse.model.ontology import MAX_STATEMENTS, MAX_TERMS, Ontology, Term

WALL_LIMIT_S = 60.0  # on a busy machine; the process itself ends after 30 s of its processor
_OUTPUT_LIMIT_BYTES = 64 * 1024 * 1024
_MODULE = "dormouse.adapters.ontology_reader.read_main"
_BEGIN_OF_XML = (b"<?xml", b"<rdf:", b"<!", b"\xff\xfe", b"\xfe\xff")
_FORMATS = {"owl": None, "rdf": None, "xml": None, "ttl": "turtle", "nt": "nt"}  # None: the bytes tell

_MESSAGES = {
    "format": "ontology_file must be RDF/XML, Turtle or N-Triples, named .owl, .rdf, .xml, .ttl or .nt",
    "damaged": "ontology_file is damaged or is not what its name says",
    "external": "ontology_file asks for other files, or builds entities out of entities; neither is read",
    "expands": "ontology_file was refused because reading it takes more memory or time than an ontology may",
    "too_many": f"ontology_file may hold {MAX_STATEMENTS:,} statements, {MAX_TERMS:,} classes and individuals",
    "empty": "ontology_file declares no class and no individual",
}


class RdflibOntologyReader:
    """`wall_limit_s` bounds one file's reading."""

    def __init__(self, *, wall_limit_s: float = WALL_LIMIT_S) -> None:
        self._wall_limit_s = wall_limit_s

    async def read(self, content: bytes, filename: str) -> Ontology:
        form = form_of(content, filename)
        if form is None:
            raise _unreadable("format")
        try:
            exit_code, output = await run_apart(
                _MODULE, form, content, Bounds(self._wall_limit_s, _OUTPUT_LIMIT_BYTES)
            )
        except TimeoutError:
            raise _unreadable("expands") from None
        if exit_code != 0 or not output:
            raise _unreadable("expands" if exit_code <= 0 else "damaged")
        return _understood(output)


def form_of(content: bytes, filename: str) -> str | None:
    """The parser's name for it, or None for what is not read."""
    suffix = filename.rpartition(".")[2].lower()
    if suffix not in _FORMATS:
        return None
    head = content[:512].removeprefix(b"\xef\xbb\xbf").lstrip()
    return _FORMATS[suffix] or ("xml" if head.startswith(_BEGIN_OF_XML) else "turtle")


def _understood(output: bytes) -> Ontology:
    try:
        answer = json.loads(output)
        if "refused" in answer:
            raise _unreadable(answer["refused"])
        return Ontology(TypeAdapter(tuple[Term, ...]).validate_python(answer["terms"]))
    except (ValueError, KeyError, ValidationError) as exc:
        raise _unreadable("damaged") from exc


def _unreadable(reason: str) -> UnreadableDocumentError:
    return UnreadableDocumentError(_MESSAGES[reason], field="ontology_file")
