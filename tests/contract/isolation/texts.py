"""What is said in the isolation suites: sentences that every dataset may hold, and ones that only one holds.

Shared sentences make equal texts, equal terms and ties across datasets; a canary says where a text came from.
"""

from random import Random

from dormouse.ids import DatasetId
from dormouse.model.document import Content, ContentKind

WHO = ("Ada", "Grace", "Edsger", "Barbara")
DOES = ("moved to Lisbon", "repairs old clocks", "keeps bees behind the mill", "learns the cello")
WHEN = ("in March", "every Tuesday", "since the flood")
SHARED = tuple(f"{who} {does} {when}." for who in WHO for does in DOES for when in WHEN)
TALKS = tuple(
    f"{a}: Where does the night train to Porto leave?\n{b}: From platform {n}, at ten.\n"
    f"{a}: And who {does}?\n{b}: I do."
    for n, (a, b, does) in enumerate(zip(WHO, WHO[1:], DOES, strict=False))
)
QUERIES = (
    "Where did Ada move?",
    "Who keeps bees?",
    "old clocks on Tuesday",
    "When does the train to Porto leave?",
    "Grace and the cello since the flood",
    "mill Lisbon March",
)


def canary(dataset: DatasetId) -> str:
    """A word that stands in texts of this dataset alone."""
    return f"zq{dataset[:8]}"


def a_text(random: Random, dataset: DatasetId) -> Content:
    """A sentence of everybody, one of this dataset, several of them, or a talk."""
    shape = random.random()
    if shape < 0.15:
        return Content(body=random.choice(TALKS).encode(), kind=ContentKind.FILE, filename="talk.txt")
    if shape < 0.5:
        return Content(body=random.choice(SHARED).encode())
    sentence = random.choice(SHARED[::4])
    return Content(body=f"{sentence} The word is {canary(dataset)}.".encode())
