"""The lock files belong to pyproject.toml and install from any index. Nothing here needs a network."""

import re

import pytest
from packaging.requirements import Requirement

from tools.locks import LOCKS, RUN, TEST, Lock, is_fresh, pins_of, requirements_of

each_lock = pytest.mark.parametrize("lock", LOCKS, ids=[lock.name for lock in LOCKS])


@each_lock
def test_a_lock_was_made_from_todays_requirements(lock: Lock) -> None:
    assert is_fresh(lock), "run `make lock`"


@each_lock
def test_every_requirement_is_pinned_to_a_version_that_it_allows(lock: Lock) -> None:
    pins = pins_of(lock)
    for requirement in map(Requirement, requirements_of(lock)):
        name = re.sub(r"[-_.]+", "-", requirement.name).lower()
        assert name in pins, f"{name} is missing"
        assert all(requirement.specifier.contains(version) for version in pins[name]), name


@each_lock
def test_every_pin_has_hashes(lock: Lock) -> None:
    entries = re.split(r"\n(?=[A-Za-z0-9])", lock.path.read_text(encoding="utf-8").split("\n", 2)[2])

    assert all("--hash=sha256:" in entry for entry in entries if entry.strip())


@each_lock
def test_a_lock_names_no_index_and_no_place(lock: Lock) -> None:
    text = lock.path.read_text(encoding="utf-8")

    assert not re.search(r"--(index-url|extra-index-url|find-links|trusted-host)|://|file:|@ ", text)


def test_tests_run_on_the_versions_that_users_get() -> None:
    tested = pins_of(TEST)

    assert {name: tested.get(name) for name in pins_of(RUN)} == pins_of(RUN)
