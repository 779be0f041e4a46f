"""Grounding: what was found in a passage, in the words of an ontology. Pure.

A name that the ontology knows, in whatever spelling, becomes the ontology's own; a known name that stands in
the text counts as found, also in lower case. With each come the classes above it and what it has to do with
others. Case, spacing and a plural `s` do not matter; a name that is merely similar is somebody else's.
Source: graph contract, "remember"; retrieval, "Extraction without an LLM".
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from dormouse.model.memory import EntityDraft, Extraction, MemoryDraft, RelationDraft
from dormouse.model.ontology import Ontology, Term
from dormouse.model.passage import Passage
from dormouse.text.folding import folded

CLASS_KIND = "class"
IS_A = "is_a"
MAX_TERMS_OF_A_PASSAGE = 50
MAX_CLASSES_ABOVE = 32
MAX_NAME_WORDS = 8

_WORD = re.compile(r"\w+(?:[-'’.]\w+)*")


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """Several ontologies as one; of terms with the same spelling the first one counts."""

    terms: Mapping[str, Term] = field(default_factory=dict)
    by_name: Mapping[str, Term] = field(default_factory=dict)
    first_words: Mapping[str, int] = field(default_factory=dict)


def vocabulary(ontologies: Iterable[Ontology]) -> Vocabulary:
    """`first_words` tells how many words names that begin so have at most."""
    terms: dict[str, Term] = {}
    for ontology in ontologies:
        for term in ontology.terms:
            terms.setdefault(term.iri, term)
    by_name: dict[str, Term] = {}
    # Individuals first: "Apple" the company before Apple the kind of fruit that nobody names.
    for term in sorted(terms.values(), key=lambda each: (each.is_class, each.iri)):
        for name in (term.name, *term.names):
            by_name.setdefault(folded(name), term)
    by_name.pop("", None)
    first_words: dict[str, int] = {}
    for name in by_name:
        words = _words(name)
        if words and len(words) <= MAX_NAME_WORDS:
            first_words[words[0]] = max(first_words.get(words[0], 0), len(words))
    return Vocabulary(terms, by_name, first_words)


def ground(extraction: Extraction, text: str, known: Vocabulary) -> Extraction:
    """The same memories; entities under the ontology's names and kinds, with what it says of them."""
    if not known.terms:
        return extraction
    matched = {name: term for name in _spellings(extraction) if (term := match(name, known))}
    met = dict.fromkeys([term.iri for term in matched.values()] + [term.iri for term in found_in(text, known)])
    terms = [known.terms[iri] for iri in list(met)[:MAX_TERMS_OF_A_PASSAGE]]
    around = list(_around(terms, known))
    met_or_around = [*terms, *_ends(around, known)]
    own = [each for each in extraction.entities if each.name not in matched]
    return replace(
        extraction,
        memories=tuple(_renamed(memory, matched, known) for memory in extraction.memories),
        entities=tuple(dict.fromkeys([*own, *(_draft(term, known) for term in met_or_around)])),
        relations=tuple(dict.fromkeys([*extraction.relations, *(_relation(each, known) for each in around)])),
    )


def ground_all(
    found: Sequence[Extraction], passages: Sequence[Passage], known: Vocabulary
) -> tuple[Extraction, ...]:
    """What was found in each of these passages, in order."""
    return tuple(
        ground(extraction, passage.text, known) for extraction, passage in zip(found, passages, strict=True)
    )


def match(name: str, known: Vocabulary) -> Term | None:
    """The term that a name means, if any."""
    key = folded(name)
    return known.by_name.get(key) or known.by_name.get(key.removesuffix("s"))


def found_in(text: str, known: Vocabulary) -> Iterator[Term]:
    """Terms whose name stands in the text, longest first where several begin; no name within another."""
    words = _words(folded(text))
    at = 0
    while at < len(words):
        longest = known.first_words.get(words[at]) or known.first_words.get(words[at].removesuffix("s"), 0)
        for length in range(min(longest, len(words) - at), 0, -1):
            name = " ".join(words[at : at + length])
            term = known.by_name.get(name) or known.by_name.get(name.removesuffix("s"))
            if term:
                yield term
                at += length - 1
                break
        at += 1


def _words(text: str) -> list[str]:
    return [word.removesuffix("'s").removesuffix("’s") for word in _WORD.findall(text)]


def _spellings(extraction: Extraction) -> Iterator[str]:
    yield from (each.name for each in extraction.entities)
    for memory in extraction.memories:
        yield from memory.entity_names


def _renamed(memory: MemoryDraft, matched: Mapping[str, Term], known: Vocabulary) -> MemoryDraft:
    """Under the names of the ontology, with those that its words hold besides."""
    names = [matched[name].name if name in matched else name for name in memory.entity_names]
    found = [term.name for term in found_in(memory.quote, known)]
    return replace(memory, entity_names=tuple(dict.fromkeys([*names, *found])))


_Edge = tuple[str, str, str]  # from the term with this IRI, named so, to the term with that IRI


def _around(terms: Sequence[Term], known: Vocabulary) -> Iterator[_Edge]:
    """What individuals have to do with others, and every class above any of these, nearest first."""
    related = [
        (term.iri, name, other) for term in terms for name, other in term.relations if other in known.terms
    ]
    yield from related
    waiting = dict.fromkeys([term.iri for term in terms] + [other for _, _, other in related])
    seen = set(waiting)
    room = MAX_CLASSES_ABOVE
    while waiting and room:
        iri = next(iter(waiting))
        del waiting[iri]
        for above in known.terms[iri].broader:
            if above not in known.terms or not room:
                continue
            yield (iri, IS_A, above)
            if above not in seen:
                seen.add(above)
                waiting[above] = None
                room -= 1


def _ends(edges: Sequence[_Edge], known: Vocabulary) -> list[Term]:
    return [known.terms[iri] for source, _, target in edges for iri in (source, target)]


def _draft(term: Term, known: Vocabulary) -> EntityDraft:
    return EntityDraft(term.name, _kind(term, known))


def _kind(term: Term, known: Vocabulary) -> str:
    if term.is_class:
        return CLASS_KIND
    return next((known.terms[iri].name for iri in term.broader if iri in known.terms), "thing")


def _relation(edge: _Edge, known: Vocabulary) -> RelationDraft:
    source, name, target = edge
    return RelationDraft(known.terms[source].name, name, known.terms[target].name)
