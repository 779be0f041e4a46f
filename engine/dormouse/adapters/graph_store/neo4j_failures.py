"""What Neo4j and its driver say, in the engine's own words; no I/O.

While it works, whatever is not about content is a trouble that passes: whoever changed a password will put it
right. While it is opened, what a setting has wrong is told by its name.
"""

import re
from collections.abc import Iterator
from contextlib import contextmanager

from neo4j.exceptions import ConfigurationError, DriverError, Neo4jError, UnsupportedServerProduct

from dormouse.errors import DormouseError, InvalidInputError, MisconfiguredError, StoreUnavailableError

OLDEST = (5, 26)
NEEDED = "Neo4j 5.26 or newer is needed"

_WRONG_SETTINGS = {
    "Neo.ClientError.Security.": ("GRAPH__PASSWORD", "or DORMOUSE_GRAPH__USER is refused by the server"),
    "Neo.ClientError.Database.DatabaseNotFound": ("GRAPH__DATABASE", "names a database that is not there"),
}


@contextmanager
def translated() -> Iterator[None]:
    """No driver's error leaves, nor what it quotes."""
    try:
        yield
    except UnicodeEncodeError as exc:
        raise InvalidInputError("text must be valid Unicode, without lone surrogates") from exc
    except OverflowError as exc:
        raise InvalidInputError("a number does not fit into the graph") from exc
    except (Neo4jError, DriverError, OSError) as exc:  # a time-out is one of the last
        raise StoreUnavailableError(port="graph") from exc


@contextmanager
def opening_translated() -> Iterator[None]:
    try:
        yield
    except (Neo4jError, DriverError, OSError, ValueError) as exc:
        raise of_opening(exc) from exc


def of_opening(exc: Exception) -> DormouseError:
    """Names the setting: for whoever starts a process, not for its callers."""
    if isinstance(exc, UnsupportedServerProduct):
        return wrong("GRAPH__URL", f"leads to a server that is too old: {NEEDED}")
    if isinstance(exc, ConfigurationError | ValueError):
        return wrong(
            "GRAPH__URL", "is not one: write bolt://host:7687, or bolt+s:// for an encrypted connection"
        )
    for code, (setting, rule) in _WRONG_SETTINGS.items():
        if _code(exc).startswith(code):
            return wrong(setting, rule)
    return StoreUnavailableError(port="graph", setting="GRAPH__URL")


def refuse_older(agent: str) -> None:
    """`agent` is what the server calls itself, as `Neo4j/2026.08.1`."""
    told = re.fullmatch(r"Neo4j/(\d+)\.(\d+)(\..*|-.*)?", agent)
    if told is None:
        raise wrong("GRAPH__URL", f"leads to a server that does not call itself Neo4j: {NEEDED}")
    if (int(told[1]), int(told[2])) < OLDEST:
        raise wrong("GRAPH__URL", f"leads to Neo4j {told[1]}.{told[2]}: {NEEDED}")


def wrong(setting: str, rule: str) -> MisconfiguredError:
    return MisconfiguredError(f"DORMOUSE_{setting} {rule}", setting=setting)


def _code(exc: BaseException) -> str:
    return (exc.code or "") if isinstance(exc, Neo4jError) else ""
