"""A stand-in for a Qdrant server: its gRPC interface over the same engine, for what the adapter calls.

No package registry has the real server. This one is made of the client's own messages and qdrant-edge, and
is held to recorded answers of a real one (`tests/real/recorded`). `python -m tests.real.vector_server.main
--folder F --port P`; with `--api-key` it wants that key with each call.
"""

import argparse
import signal
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import grpc
from qdrant_client import grpc as messages
from qdrant_client.grpc.collections_service_pb2_grpc import add_CollectionsServicer_to_server
from qdrant_client.grpc.points_service_pb2_grpc import add_PointsServicer_to_server
from qdrant_client.grpc.qdrant_pb2_grpc import QdrantServicer, add_QdrantServicer_to_server
from qdrant_client.grpc.snapshots_service_pb2_grpc import add_SnapshotsServicer_to_server

from tests.real.vector_server.collections_service import Collections, Snapshots
from tests.real.vector_server.points_service import Points
from tests.real.vector_server.shelf import Shelf

THREADS = 4
VERSION = "1.18.3"  # whose answers it is held to


class Root(QdrantServicer):
    def __init__(self, version: str) -> None:
        self._version = version

    def HealthCheck(self, request: Any, context: grpc.ServicerContext) -> Any:
        return messages.HealthCheckReply(title="stand-in over qdrant-edge", version=self._version)


class KeyCheck(grpc.ServerInterceptor):
    def __init__(self, key: str) -> None:
        self._key = key

    def intercept_service(self, continuation: Callable[[Any], Any], details: Any) -> Any:
        if dict(details.invocation_metadata).get("api-key") == self._key:
            return continuation(details)
        return grpc.unary_unary_rpc_method_handler(_refuse)


def _refuse(_request: Any, context: grpc.ServicerContext) -> None:
    context.abort(grpc.StatusCode.UNAUTHENTICATED, "Invalid API key or JWT")


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--folder", type=Path, required=True)
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("--api-key", default="")
    parser.add_argument("--version", default=VERSION)
    parser.add_argument("--most-bytes", type=int, default=-1, help="of what it is sent in a call")
    given = parser.parse_args()
    shelf = Shelf(given.folder)
    checks = [KeyCheck(given.api_key)] if given.api_key else []
    sizes = [("grpc.max_receive_message_length", given.most_bytes), ("grpc.max_send_message_length", -1)]
    server = grpc.server(ThreadPoolExecutor(THREADS), interceptors=checks, options=sizes)
    add_QdrantServicer_to_server(Root(given.version), server)
    add_CollectionsServicer_to_server(Collections(shelf), server)
    add_PointsServicer_to_server(Points(shelf), server)
    add_SnapshotsServicer_to_server(Snapshots(shelf), server)
    if not server.add_insecure_port(f"127.0.0.1:{given.port}"):
        raise SystemExit("the port is taken")
    server.start()
    is_ended = threading.Event()
    signal.signal(signal.SIGTERM, lambda *_: is_ended.set())
    is_ended.wait()
    server.stop(grace=1).wait()
    shelf.close()


if __name__ == "__main__":
    main()
