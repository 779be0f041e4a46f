"""Which deed comes next: drawn from a seeded source, among those that the model allows."""

from collections.abc import Callable
from dataclasses import replace
from random import Random

from dormouse.ids import PrincipalId
from dormouse.model.scope import Permission
from tests.contract.isolation.deeds import (
    Deed,
    ForgetDataset,
    ForgetEverything,
    ForgetItem,
    Note,
    Remember,
    Share,
    Tidy,
    Work,
)
from tests.contract.isolation.expected import USERS, Expected, Kept
from tests.contract.isolation.texts import SHARED, a_text

SESSIONS = ("today", "plans")  # of the same names for everybody
EXTERNAL_IDS = (None, None, None, "first", "second")

Choice = Callable[[Random, Expected, PrincipalId], Deed | None]


def remember(random: Random, expected: Expected, user: PrincipalId) -> Deed | None:
    seen = {each.name for each in expected.readable(user) if each.is_listed}
    # A name that only a shared dataset ever had means that one; what was one's own once stays one's own.
    gone = [
        each for each in _own(expected, user) if not each.is_listed and (each.ever or each.name not in seen)
    ]
    open_to = [*_writable(expected, user), *gone]
    if not open_to:
        return None
    kept = random.choice(open_to)
    content = a_text(random, kept.id)
    external_id = random.choice(EXTERNAL_IDS) if not content.filename else None
    name = kept.name if kept.owner == user and random.random() < 0.8 else ""
    if not kept.is_listed:
        name = kept.name  # an id makes no dataset
    return Remember(user, kept.id, name, replace(content, external_id=external_id))


def forget_item(random: Random, expected: Expected, user: PrincipalId) -> Deed | None:
    full = [each for each in _deletable(expected, user) if each.documents]
    if not full:
        return None
    kept = random.choice(full)
    return ForgetItem(user, kept.id, random.choice(sorted(kept.documents)))


def forget_dataset(random: Random, expected: Expected, user: PrincipalId) -> Deed | None:
    listed = _deletable(expected, user)
    return ForgetDataset(user, random.choice(listed).id) if listed else None


def forget_everything(random: Random, expected: Expected, user: PrincipalId) -> Deed:
    return ForgetEverything(user)


def note(random: Random, expected: Expected, user: PrincipalId) -> Deed:
    listed = _writable(expected, user)
    bound = random.choice(listed).id if listed and random.random() < 0.6 else None
    return Note(user, random.choice(SESSIONS), random.choice(SHARED), bound)


def share(random: Random, expected: Expected, user: PrincipalId) -> Deed | None:
    listed = [each for each in _own(expected, user) if each.is_listed]
    if not listed:
        return None
    other = random.choice([each for each in USERS if each != user])
    return Share(user, random.choice(listed).id, other, random.choice([*Permission, None, None]))


def work(random: Random, expected: Expected, user: PrincipalId) -> Deed:
    shape = random.random()
    return Work() if shape < 0.7 else Work(extracts=shape < 0.85, applies=shape >= 0.85)


def tidy(random: Random, expected: Expected, user: PrincipalId) -> Deed:
    return Tidy()


CHOICES: dict[Choice, int] = {
    remember: 34,
    forget_item: 7,
    forget_dataset: 4,
    forget_everything: 1,
    note: 8,
    share: 12,
    work: 15,
    tidy: 1,
}


def next_deed(random: Random, expected: Expected) -> Deed:
    while True:
        (choice,) = random.choices(list(CHOICES), list(CHOICES.values()))
        deed = choice(random, expected, random.choice(USERS))
        if deed is not None:
            return deed


def _own(expected: Expected, user: PrincipalId) -> list[Kept]:
    return [each for each in expected.datasets.values() if each.owner == user]


def _writable(expected: Expected, user: PrincipalId) -> list[Kept]:
    return [each for each in expected.datasets.values() if each.is_listed and expected.may_write(user, each.id)]


def _deletable(expected: Expected, user: PrincipalId) -> list[Kept]:
    return [each for each in _writable(expected, user) if expected.may_delete(user, each.id)]
