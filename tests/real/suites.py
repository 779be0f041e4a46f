"""A port's suite, unchanged, in a module of this tier: its fixtures are then this tier's."""

from collections.abc import Sequence
from importlib import import_module
from typing import Any

import pytest


def taken_over(suites: Sequence[str]) -> dict[str, Any]:
    """Every test, and every fixture of their own, by name; two of one name would hide each other."""
    pytest.register_assert_rewrite(*suites)
    found: dict[str, Any] = {}
    for suite in suites:
        for name, value in vars(import_module(suite)).items():
            is_its_own = getattr(value, "__module__", None) == suite
            if not name.startswith("test_") and type(value).__name__ != "FixtureFunctionDefinition":
                continue
            if name.startswith("test_") and not is_its_own:
                continue
            key = f"{name}__{suite.rpartition('.')[2]}" if name in found else name
            found[key] = value
    return found
