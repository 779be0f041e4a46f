"""Ties tests to the promises that the project makes; `tests/unit/project/test_promises.py` counts them."""

import pytest

PROMISES = {
    "P1": "An acknowledged write always ends as complete, failed with a reason, or cancelled.",
    "P2": "What was written is searchable within two seconds on the path without a language model.",
    "P3": "Forgotten means gone from every store, index, cache and history, and provably so.",
    "P4": "Graph and vectors never drift apart unnoticed.",
    "P5": "What a caller may not read never influences what the caller sees, scores and order included.",
    "P6": "A sleeping workspace wakes on the first call, and no write is lost.",
    "P7": "One trace runs from the call through the pipeline to the stores.",
    "P8": "Any replica serves any request; killing a process loses nothing that was acknowledged.",
    "P9": "The main job works offline without a language model's key.",
}


def promise(name: str) -> pytest.MarkDecorator:
    """Marks a test as evidence for one of `PROMISES`."""
    if name not in PROMISES:
        raise ValueError(f"there is no promise {name}")
    return pytest.mark.promise(name)
