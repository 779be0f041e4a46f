"""Stands in for a language model behind its port: one memory for each passage, worded as by nothing else."""

from collections.abc import Callable

from dormouse.model.interval import END_MS, Interval
from dormouse.model.memory import Basis, Claim, EntityDraft, Extraction, MemoryDraft, MemoryKind, SourceKind
from dormouse.model.passage import Passage
from dormouse.ports.extractor import ModelUsage, Window, WindowExtraction


def word(passage: Passage) -> MemoryDraft | None:
    return a_draft(f"Derived: {passage.text}", passage)


def a_draft(content: str, passage: Passage, claim: Claim | None = None) -> MemoryDraft:
    return MemoryDraft(
        kind=MemoryKind.FACT,
        content=content,
        quote=passage.text,
        source=SourceKind.STATED,
        confidence=0.9,
        valid=Interval(passage.occurred_ms or 0, END_MS),
        valid_basis=Basis.ASSERTED,
        entity_names=(),
        claim=claim,
    )


class ScriptedDeriver:
    """`failure` is raised instead of an answer, `before` runs first; `asked` are the windows it was given."""

    def __init__(self, version: str = "scripted/1") -> None:
        self.version = version
        self.asked: list[Window] = []
        self.word: Callable[[Passage], MemoryDraft | None] = word
        self.failure: Exception | None = None
        self.usage = ModelUsage(1, 100, 50)

    def estimated_tokens(self, window: Window) -> int:
        return 150

    async def derive(self, window: Window) -> WindowExtraction:
        self.asked.append(window)
        if self.failure is not None:
            raise self.failure
        extractions = []
        for passage in window.passages:
            draft = self.word(passage)
            memories = (draft,) if draft else ()
            entities = tuple(EntityDraft(name) for each in memories for name in each.entity_names)
            extractions.append(Extraction(passage.id, memories, entities))
        return WindowExtraction(tuple(extractions), self.usage, {"no_quote": 1, "strange": 2}, repaired=1)
