"""Settings of a worker: those of the cluster's servers, and how long it takes to end."""

from pydantic import Field

from dormouse.server_settings import ServerSettings


class WorkerSettings(ServerSettings):
    """Everything that `dormouse worker` may be told."""

    health_port: int = Field(default=0, ge=0, le=65535)
    """Port on which a worker answers `/healthz` and `/readyz`, on every address; 0: none."""
