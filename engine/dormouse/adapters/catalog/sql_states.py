"""What PostgreSQL says, in the engine's own words, by the code of the SQL standard."""

from dormouse.errors import (
    CatalogUnavailableError,
    ConflictError,
    DormouseError,
    InvalidInputError,
    MisconfiguredError,
    NotFoundError,
)

SETTING = "DATABASE__URL"
SILENT = "the catalog's server does not answer"
STOPPING = "the catalog's server is starting or stopping"
CROWDED = (
    "the catalog's server has no connection left: raise its max_connections, or lower "
    "DORMOUSE_DATABASE__CONNECTIONS"
)
CROSSED = "another write came between; nothing was stored"
SLOW = "the catalog's server took too long"
FULL = "the disk of the catalog's server is full; free some space"
STANDBY = "the catalog's server takes no writes: it is a standby"
REFUSED = "the catalog refused a statement"
UNFIT = "a text or number does not fit into the catalog"
UNPREPARED = "holds a catalog of another version, or none: run `dormouse migrate`"

# By the whole code first, then by its class, the first two characters.
_UNAVAILABLE = {
    "08": SILENT,
    "57": STOPPING,
    "53": CROWDED,
    "40": CROSSED,
    "25006": STANDBY,
    "53100": FULL,
    "55P03": CROSSED,
    "57014": SLOW,
    "25P03": SLOW,
}
_WRONG_SETTING = {
    "28": "has a user or password that the server refuses",
    "3D000": "names a database that is not there",
    "3F000": "names a database without the schema of its user",
    "42501": "has a user without the right to this database's tables",
    "42P01": UNPREPARED,
    "42703": UNPREPARED,
}


def unprepared() -> MisconfiguredError:
    return _wrong_setting(UNPREPARED)


def of_state(code: str) -> DormouseError:
    """The engine's error for a five-character SQLSTATE."""
    if code.startswith("23"):
        return _broken_rule(code)
    if code.startswith("22"):
        return InvalidInputError(UNFIT)
    for known in (code, code[:2]):
        if known in _WRONG_SETTING:
            return _wrong_setting(_WRONG_SETTING[known])
        if known in _UNAVAILABLE:
            return CatalogUnavailableError(_UNAVAILABLE[known])
    return CatalogUnavailableError(REFUSED)


def _broken_rule(code: str) -> DormouseError:
    if code == "23503":
        return NotFoundError("what this belongs to does not exist")
    return ConflictError("something of this name exists already")


def _wrong_setting(rule: str) -> MisconfiguredError:
    return MisconfiguredError(f"DORMOUSE_{SETTING} {rule}", setting=SETTING)
