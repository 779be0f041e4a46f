"""A seeded plan of writes, and what must be true of memory after them."""

import json
import random
from dataclasses import dataclass, field
from typing import Literal

DeedKind = Literal["note", "file", "chat", "suppress", "restore", "forget_item", "forget_dataset"]
WEIGHTS: dict[DeedKind, int] = {
    "note": 28,
    "file": 25,
    "chat": 15,
    "suppress": 8,
    "restore": 4,
    "forget_item": 15,
    "forget_dataset": 5,
}
DATASETS = ("alpha", "beta", "gamma")
FILE_NAMES = tuple(f"plans/page-{number}.md" for number in range(6))


@dataclass(frozen=True, slots=True)
class Deed:
    """`token` is a made-up word that stands in this deed's content and nowhere else."""

    number: int
    kind: DeedKind
    dataset: str
    token: str
    name: str = ""
    body: str = ""
    target: str | None = None


@dataclass(frozen=True, slots=True)
class Item:
    token: str
    dataset: str
    document: str
    name: str


@dataclass(slots=True)
class Expected:
    """`live` by token; `hidden` are documents that nothing shows for now, and `gone` tokens that nothing may
    ever show again."""

    live: dict[str, Item] = field(default_factory=dict)
    hidden: set[str] = field(default_factory=set)
    gone: set[str] = field(default_factory=set)
    jobs: list[str] = field(default_factory=list)

    def done(self, deed: Deed, document: str | None) -> None:
        """What the acknowledged deed means from now on."""
        if document:
            self.remembered(deed, document)
        elif deed.kind in ("suppress", "restore"):
            assert deed.target
            (self.hidden.add if deed.kind == "suppress" else self.hidden.discard)(deed.target)
        else:
            self.forgot(deed)

    def remembered(self, deed: Deed, document: str) -> None:
        """A file of a name that was there replaces it; its former words are history, not forgotten."""
        for token, item in list(self.live.items()):
            if deed.name and (item.dataset, item.name) == (deed.dataset, deed.name):
                del self.live[token]
        self.live[deed.token] = Item(deed.token, deed.dataset, document, deed.name)

    def forgot(self, deed: Deed) -> None:
        for token, item in list(self.live.items()):
            if item.dataset == deed.dataset and deed.target in (None, item.document):
                del self.live[token]
                self.gone.add(token)
                self.hidden.discard(item.document)


def next_deed(number: int, dice: random.Random, expected: Expected) -> Deed:
    kind = dice.choices(list(WEIGHTS), list(WEIGHTS.values()))[0]
    token = f"zyx{dice.getrandbits(40):010x}"
    dataset = dice.choice(DATASETS)
    if kind in ("forget_item", "suppress", "restore"):
        here = [item.document for item in expected.live.values() if item.dataset == dataset]
        if kind == "restore":
            here = [document for document in here if document in expected.hidden]
        if here:
            return Deed(number, kind, dataset, token, target=dice.choice(here))
        kind = "note"
    if kind == "file":
        name = dice.choice(FILE_NAMES)
        return Deed(number, kind, dataset, token, name=name, body=_page(dice, token))
    return Deed(number, kind, dataset, token, body=_chat(dice, token) if kind == "chat" else _note(dice, token))


def _note(dice: random.Random, token: str) -> str:
    day = dice.randint(1, 28)
    return f"On {day} March 2026 the harbour office moved crate {token} to dock {dice.randint(1, 90)}."


def _page(dice: random.Random, token: str) -> str:
    filler = " ".join(_note(dice, f"number {n}") for n in range(dice.randint(1, 60)))
    return f"# Plan\n\nThe keeper of {token} signs every page.\n\n{filler}\n"


def _chat(dice: random.Random, token: str) -> str:
    said = ["How are the crates?", f"The password of the week is {token}.", "Noted.", "See you on Friday."]
    turns = [
        {
            "speaker": "Ann" if n % 2 else "Bob",
            "text": text,
            "time": f"2026-03-{dice.randint(10, 28)}T10:0{n}:00Z",
        }
        for n, text in enumerate(said)
    ]
    return json.dumps(turns)
