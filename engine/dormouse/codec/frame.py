"""A blob is a tag, a compressed JSON header and raw bytes; the same content always gives the same bytes.

Deterministic bytes matter: a blob's key is its hash, so a repeated step writes the same blob again.
"""

import struct
import zlib

_PREFIX = struct.Struct("<4sI")
_LEVEL = 6


def pack(tag: bytes, header: bytes, payload: bytes = b"") -> bytes:
    """`tag` is four bytes that name kind and version."""
    compressed = zlib.compress(header, _LEVEL)
    return _PREFIX.pack(tag, len(compressed)) + compressed + payload


def unpack(tag: bytes, blob: bytes) -> tuple[bytes, memoryview]:
    """Header and payload; raises `ValueError` for a blob of another kind or version."""
    found, length = _PREFIX.unpack_from(blob)
    if found != tag:
        raise ValueError("a blob of another kind or version")
    start = _PREFIX.size + length
    return zlib.decompress(blob[_PREFIX.size : start]), memoryview(blob)[start:]
