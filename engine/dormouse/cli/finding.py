"""What a look at an installation finds."""

from dataclasses import dataclass
from typing import Literal

State = Literal["ok", "warning", "problem"]


@dataclass(frozen=True, slots=True)
class Finding:
    """`remedy` says what to do; empty when all is well."""

    about: str
    state: State
    detail: str
    remedy: str = ""
