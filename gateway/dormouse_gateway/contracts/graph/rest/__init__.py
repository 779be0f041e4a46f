"""The graph contract over REST, `/api/v1`."""

from dormouse_gateway.contracts.graph.rest.routes import rest_routes

__all__ = ["rest_routes"]
