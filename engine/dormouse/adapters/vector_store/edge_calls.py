"""What crosses the pipe between the server and the process that holds the vectors.

Plain values only (`rows`). A frame is a length (8 bytes, big-endian) and a pickle, both ways; the pipe is
private to parent and child.
"""

import pickle
import struct
from typing import IO, Any, NamedTuple

LENGTH = struct.Struct(">Q")


class DamagedVectorsError(Exception):
    """Files of the vectors are missing or cannot be read."""


class Footprint(NamedTuple):
    points: int
    segments_bytes: int
    log_bytes: int


def read_frame(stream: IO[bytes]) -> Any:  # noqa: ANN401 whatever the other side sent
    """Raises EOFError when the other side is gone."""
    head = stream.read(LENGTH.size)
    if len(head) < LENGTH.size:
        raise EOFError
    size = LENGTH.unpack(head)[0]
    body = stream.read(size)
    if len(body) < size:
        raise EOFError
    return pickle.loads(body)  # noqa: S301 from our own child or parent, over a pipe nobody else has


def write_frame(stream: IO[bytes], value: object) -> None:
    body = pickle.dumps(value, protocol=pickle.HIGHEST_PROTOCOL)
    stream.write(LENGTH.pack(len(body)))
    stream.write(body)
    stream.flush()
