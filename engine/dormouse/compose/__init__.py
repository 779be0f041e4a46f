"""Picks the adapters and puts the engine together; the only place that knows both."""

from dormouse.compose.assembly import PATIENCE, assemble
from dormouse.compose.embedded import LOCAL_PRINCIPAL, open_engine, open_ports
from dormouse.compose.on_folder import drop_migration, request_migration, request_rebuild

__all__ = [
    "LOCAL_PRINCIPAL",
    "PATIENCE",
    "assemble",
    "drop_migration",
    "open_engine",
    "open_ports",
    "request_migration",
    "request_rebuild",
]
