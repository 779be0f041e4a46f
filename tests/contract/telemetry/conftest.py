import threading
from collections.abc import Iterator

import pytest

from tests.contract.telemetry.collector import Collector


@pytest.fixture(scope="module")
def collector() -> Iterator[Collector]:
    server = Collector()
    thread = threading.Thread(target=server.serve_forever, args=(0.05,), name="collector")
    thread.start()
    yield server
    server.shutdown()
    thread.join()
    server.server_close()
