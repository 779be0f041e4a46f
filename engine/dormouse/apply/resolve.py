"""Which entity a name means: spellings of one dataset meet under their folded form. Pure.

Entities never cross a dataset. Source: writes §6.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from dormouse.ids import DatasetId, EntityId, PassageId, entity_id
from dormouse.model.entity import Entity, Mention, Relation
from dormouse.model.memory import EntityDraft, Extraction
from dormouse.text.folding import folded

ANY_KIND = "thing"  # what a draft says that does not know better


@dataclass(frozen=True, slots=True)
class Resolution:
    """`by_name` leads from a folded name to its entity, for the memories that mention it."""

    entities: tuple[Entity, ...]
    mentions: tuple[Mention, ...]
    by_name: Mapping[str, EntityId]
    relations: tuple[Relation, ...] = ()

    def of(self, names: Iterable[str]) -> tuple[EntityId, ...]:
        """The entities behind these spellings, each once, in order; blank ones name nobody."""
        known = (self.by_name.get(folded(name)) for name in names)
        return tuple(dict.fromkeys(each for each in known if each is not None))


def resolve(dataset: DatasetId, extractions: Sequence[Extraction]) -> Resolution:
    """One entity per folded name; the first spelling names it, a specific kind outranks "thing"."""
    spellings: dict[str, str] = {}
    kinds: dict[str, str] = {}
    mentioned: dict[tuple[str, PassageId], None] = {}
    for extraction in extractions:
        for draft in _drafts(extraction):
            key = folded(draft.name)
            if not key:
                continue
            spellings.setdefault(key, " ".join(draft.name.split()))
            if kinds.get(key, ANY_KIND) == ANY_KIND:
                kinds[key] = draft.kind
            mentioned[key, extraction.passage] = None
    # Whatever kind one passage knows it by, it is one entity: rules know no kinds, and models disagree.
    by_name = {key: entity_id(dataset, ANY_KIND, key) for key in spellings}
    return Resolution(
        entities=tuple(Entity(by_name[key], dataset, name, key, kinds[key]) for key, name in spellings.items()),
        mentions=tuple(Mention(by_name[key], passage) for key, passage in mentioned),
        by_name=by_name,
        relations=tuple(_relations(extractions, by_name)),
    )


def _relations(extractions: Sequence[Extraction], by_name: Mapping[str, EntityId]) -> Iterable[Relation]:
    for extraction in extractions:
        for draft in extraction.relations:
            source, target = by_name.get(folded(draft.source)), by_name.get(folded(draft.target))
            if source is not None and target is not None and source != target:
                yield Relation(source, draft.name, target, extraction.passage)


def _drafts(extraction: Extraction) -> Iterable[EntityDraft]:
    yield from extraction.entities
    for memory in extraction.memories:
        for name in memory.entity_names:
            yield EntityDraft(name)
