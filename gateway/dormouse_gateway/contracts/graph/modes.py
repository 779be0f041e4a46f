"""Which tools a client is shown. Those that are not shown can still be called by name.

Source: graph contract, "Tools".
"""

import logging
from enum import StrEnum

log = logging.getLogger(__name__)


class ToolMode(StrEnum):
    """DEFAULT and MINIMAL hide the rest behind a search; HOSTED is what an OAuth endpoint serves."""

    DEFAULT = "default"
    MINIMAL = "minimal"
    ALL = "all"
    HOSTED = "hosted"


DISCOVERY = ("search_tools", "call_tool")

_MEMORY = ("remember", "recall", "forget")
_LISTED = {
    ToolMode.DEFAULT: (*_MEMORY, *DISCOVERY),
    ToolMode.MINIMAL: (*_MEMORY, *DISCOVERY),
    ToolMode.ALL: (*_MEMORY, "cognify_status"),
    ToolMode.HOSTED: (*_MEMORY, "cognify_status"),
}


def tool_mode(name: str) -> ToolMode:
    """The mode of that name; an unknown one is noted in the log and means DEFAULT."""
    wanted = name.strip().lower()
    try:
        return ToolMode(wanted) if wanted else ToolMode.DEFAULT
    except ValueError:
        valid = ", ".join(ToolMode)
        log.warning("unknown_tool_mode: falling back to 'default'; valid are %s", valid)
        return ToolMode.DEFAULT


def listed_in(mode: ToolMode) -> tuple[str, ...]:
    """Names in the order they are listed."""
    return _LISTED[mode]
