"""Limits of a process that reads foreign bytes; called by itself, before the library is loaded."""

import contextlib
import sys

MEMORY_LIMIT_BYTES = 2 * 1024**3
CPU_LIMIT_S = 30
FILE_LIMIT_BYTES = 64 * 1024**2  # the PDF library unpacks itself once


def limit_process() -> None:
    """Windows has no such limits; the parent's clock and kill stand there alone."""
    if sys.platform == "win32":
        return
    import resource  # noqa: PLC0415  not on every platform

    for kind, limit in (
        (resource.RLIMIT_AS, MEMORY_LIMIT_BYTES),
        (resource.RLIMIT_CPU, CPU_LIMIT_S),
        (resource.RLIMIT_FSIZE, FILE_LIMIT_BYTES),
        (resource.RLIMIT_CORE, 0),
    ):
        with contextlib.suppress(ValueError, OSError):  # a lower limit from outside stays
            resource.setrlimit(kind, (limit, limit))
