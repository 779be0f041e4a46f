"""Reads one document from standard input and writes what it found as JSON; run for each document anew.

Hostile bytes meet native parsers here, so this process holds nothing else: limited in memory and processor
time where the platform can, without the parent's secrets, and gone afterwards.
"""

import json
import sys
from typing import Any

from dormouse.adapters.apart.limits import limit_process

OUTPUT_LIMIT_CHARACTERS = 32 * 1024**2  # three times the largest input; more is an expansion

_REASONS = (  # foreign words are read here and never repeated
    ("encrypted", ("password", "encrypt")),
    ("expands", ("security limit", "exceeds limit", "exceeded limit", "too large", "bomb", "entity expansion")),
    ("unsupported", ("unsupported", "validationerror", "missingdependency", "ocr")),
)


def main() -> int:
    limit_process()
    content = sys.stdin.buffer.read()
    json.dump(_read(content, sys.argv[1]), sys.stdout)
    return 0


def _read(content: bytes, mime: str) -> dict[str, Any]:
    from kreuzberg import ExtractionConfig, extract_bytes_sync  # noqa: PLC0415  only after the limits

    # No cache: it would keep content in a folder that no forget reaches.
    config = ExtractionConfig(output_format="markdown", use_cache=False)
    try:
        result = extract_bytes_sync(content, mime, config)
    except MemoryError:
        return {"refused": "expands"}
    except Exception as exc:  # noqa: BLE001  a process boundary: every trouble becomes a reason
        return {"refused": reason_of(f"{type(exc).__name__}: {exc}")}
    if len(result.content) > OUTPUT_LIMIT_CHARACTERS:
        return {"refused": "expands"}
    return {"markdown": result.content, **_metadata(dict(result.metadata))}


def reason_of(words: str) -> str:
    lowered = words.lower()
    return next((reason for reason, marks in _REASONS if any(mark in lowered for mark in marks)), "damaged")


def _metadata(found: dict[str, Any]) -> dict[str, str]:
    core = found.get("core_properties")
    core = core if isinstance(core, dict) else {}
    title = found.get("title") or found.get("subject") or core.get("title")
    created = found.get("created_at") or core.get("created")
    return {"title": str(title or ""), "created": str(created or "")}


if __name__ == "__main__":
    sys.exit(main())
