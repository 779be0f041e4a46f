"""How a running engine is, for people who look for a fault."""

from dataclasses import dataclass

from dormouse.errors import DormouseError


@dataclass(frozen=True, slots=True)
class Health:
    """`problems` keep something from being served; with `warnings` everything is, and they say what to do."""

    problems: tuple[DormouseError, ...]
    warnings: tuple[DormouseError, ...] = ()


@dataclass(frozen=True, slots=True)
class LanguageModelUse:
    """`host` is where its endpoint is, with the port and without credentials; `last_failure` the code of what
    the last call to it ended in, empty if it was answered or none was made."""

    model: str
    host: str
    last_failure: str = ""
