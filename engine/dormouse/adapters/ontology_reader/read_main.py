"""Reads one ontology from standard input and writes its terms as JSON; run for each file anew.

Classes are what is declared or used as one, individuals what is an instance of a class. Blank nodes have no
name, so restrictions and unions make no terms; nothing is inferred but the order of classes.
"""

import json
import re
import sys
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

from dormouse.adapters.apart.limits import limit_process
from dormouse.model.ontology import MAX_STATEMENTS, MAX_TERMS

if TYPE_CHECKING:
    from rdflib import Graph, URIRef

MAX_NAMES = 50  # of a term
MAX_RELATIONS = 50
MAX_NAME_CHARACTERS = 200
MAX_ENTITY_CHARACTERS = 1000

# Protégé abbreviates namespaces by entities, so plain ones are read; others could fetch or multiply.
_ENTITY = re.compile(r"<!ENTITY\s+(?:%\s*)?\S+\s+(?:(SYSTEM|PUBLIC)\b|\"([^\"]*)\"|'([^']*)')", re.IGNORECASE)
_EXTERNAL = re.compile(r"<!DOCTYPE\s+[^\[>]*\b(?:SYSTEM|PUBLIC)\b", re.IGNORECASE)
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")


def main() -> int:
    limit_process()
    content = sys.stdin.buffer.read()
    json.dump(read(content, sys.argv[1]), sys.stdout)
    return 0


def read(content: bytes, form: str) -> dict[str, Any]:
    """The terms, or one word for why there are none."""
    if form == "xml" and is_hostile(content):
        return {"refused": "external"}
    from rdflib import Graph  # noqa: PLC0415  only after the limits

    graph = Graph(bind_namespaces="none")
    try:
        graph.parse(data=content, format=form)
    except MemoryError:
        return {"refused": "expands"}
    except Exception as exc:  # noqa: BLE001  a process boundary: every trouble becomes a reason
        return {"refused": "expands" if "amplification" in str(exc) else "damaged"}
    if len(graph) > MAX_STATEMENTS:
        return {"refused": "too_many"}
    terms = list(_terms(graph))
    if len(terms) > MAX_TERMS:
        return {"refused": "too_many"}
    return {"terms": terms} if terms else {"refused": "empty"}


def is_hostile(content: bytes) -> bool:
    """Whether the document's head asks for other files, or builds entities out of entities."""
    encoding = "utf-16" if content[:2] in {b"\xff\xfe", b"\xfe\xff"} else "utf-8"
    text = content.decode(encoding, "replace")
    if _EXTERNAL.search(text):
        return True
    declared = _ENTITY.findall(text)
    values = [double or single for _, double, single in declared]
    return (
        any(external for external, _, _ in declared)
        or any("&" in value or "%" in value or len(value) > MAX_ENTITY_CHARACTERS for value in values)
        or len(re.findall(r"<!ENTITY", text, re.IGNORECASE)) != len(declared)
    )


def _terms(graph: "Graph") -> Iterator[dict[str, Any]]:
    from rdflib import OWL, RDF, RDFS, URIRef  # noqa: PLC0415  only after the limits

    declared = {*graph.subjects(RDF.type, OWL.Class), *graph.subjects(RDF.type, RDFS.Class)}
    declared |= {*graph.subjects(RDFS.subClassOf), *graph.objects(None, RDFS.subClassOf)}
    classes = {each for each in declared if isinstance(each, URIRef) and each not in {OWL.Thing, OWL.Nothing}}
    typed = {subject for each in classes for subject in graph.subjects(RDF.type, each)}
    typed |= set(graph.subjects(RDF.type, OWL.NamedIndividual))
    individuals = {each for each in typed if isinstance(each, URIRef)} - classes
    for each in sorted(classes | individuals):
        is_class = each in classes
        above = graph.objects(each, RDFS.subClassOf if is_class else RDF.type)
        yield {
            "iri": str(each),
            "name": _name(graph, each),
            "names": _names(graph, each),
            "is_class": is_class,
            "broader": sorted(str(one) for one in above if one in classes and one != each),
            "relations": [] if is_class else _relations(graph, each, individuals),
        }


def _relations(graph: "Graph", individual: "URIRef", individuals: set[Any]) -> list[tuple[str, str]]:
    from rdflib import OWL, RDF, RDFS, URIRef  # noqa: PLC0415  only after the limits

    found = {
        (_name(graph, predicate), str(other))
        for predicate, other in graph.predicate_objects(individual)
        if other in individuals
        and isinstance(predicate, URIRef)
        and not any(predicate in space for space in (OWL, RDF, RDFS))
    }
    return sorted(found)[:MAX_RELATIONS]


def _name(graph: "Graph", term: "URIRef") -> str:
    """Its label, English or without a language first; else the end of its IRI."""
    from rdflib import RDFS, SKOS  # noqa: PLC0415  only after the limits

    labels = [*graph.objects(term, SKOS.prefLabel), *graph.objects(term, RDFS.label)]
    ranked = sorted((_rank(label), _clean(str(label))) for label in labels)
    return next((label for _, label in ranked if label), _clean(_fragment(term).replace("_", " ")))


def _rank(label: Any) -> int:  # noqa: ANN401  whatever stands as a label
    language = str(getattr(label, "language", None) or "")
    return 0 if language in {"", "en"} else 1 if language.startswith("en") else 2


def _names(graph: "Graph", term: "URIRef") -> list[str]:
    from rdflib import RDFS, SKOS  # noqa: PLC0415  only after the limits

    labels: Iterable[Any] = (
        label for kind in (SKOS.prefLabel, RDFS.label, SKOS.altLabel) for label in graph.objects(term, kind)
    )
    fragment = _fragment(term)
    spaced = fragment.replace("_", " ").replace("-", " ")
    given = {_clean(name) for name in (*map(str, labels), fragment, spaced, _CAMEL.sub(" ", spaced))}
    return sorted(name for name in given if name)[:MAX_NAMES]


def _fragment(term: "URIRef") -> str:
    return re.split(r"[#/:]", str(term).rstrip("#/"))[-1]


def _clean(name: str) -> str:
    return " ".join(name.split())[:MAX_NAME_CHARACTERS]


if __name__ == "__main__":
    sys.exit(main())
