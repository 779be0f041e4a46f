"""Write docs/openapi.json from what the routes say of themselves.

Run by `make docs`; a test fails when the page differs from what this returns.
"""

import json
from importlib.metadata import version
from pathlib import Path
from typing import NoReturn

from starlette.types import Receive, Scope, Send

from dormouse_gateway.application import public_routes
from dormouse_gateway.owner import DISTRIBUTION
from dormouse_gateway.settings import GatewaySettings
from dormouse_gateway.web.openapi import document

PAGE = Path(__file__).resolve().parent.parent / "docs" / "openapi.json"


def page() -> str:
    """The whole page, ending in a newline."""
    routes = public_routes(_unserved, GatewaySettings(), _never_called)
    return json.dumps(document(routes, version(DISTRIBUTION)), indent=1, ensure_ascii=False) + "\n"


def _unserved() -> NoReturn:
    raise AssertionError("a page is written without an engine")


async def _never_called(scope: Scope, receive: Receive, send: Send) -> None:  # noqa: ARG001 - the protocol
    raise AssertionError("a page is written without requests")


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
