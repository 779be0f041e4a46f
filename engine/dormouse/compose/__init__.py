"""Picks the adapters and puts the engine together; the only place that knows both."""

from dormouse.compose.assembly import PATIENCE, ROLES, Role, assemble
from dormouse.compose.embedded import LOCAL_PRINCIPAL, open_engine, open_ports
from dormouse.compose.on_folder import drop_migration, request_migration, request_rebuild
from dormouse.compose.shared import open_shared_engine, open_shared_ports

__all__ = [
    "LOCAL_PRINCIPAL",
    "PATIENCE",
    "ROLES",
    "Role",
    "assemble",
    "drop_migration",
    "open_engine",
    "open_ports",
    "open_shared_engine",
    "open_shared_ports",
    "request_migration",
    "request_rebuild",
]
