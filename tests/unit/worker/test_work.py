import asyncio

import pytest

from dormouse.errors import InvalidInputError, MisconfiguredError
from dormouse_worker.settings import WorkerSettings
from dormouse_worker.work import roles_of, work


def test_a_role_is_one_loop_or_all() -> None:
    assert roles_of("apply") == {"apply"}
    assert roles_of("all") == {"apply", "extract"}


def test_an_unknown_role_is_refused_with_those_there_are() -> None:
    with pytest.raises(InvalidInputError, match="one of all, apply, extract"):
        roles_of("transform")


def test_a_laptop_has_no_workers() -> None:
    with pytest.raises(MisconfiguredError, match="DORMOUSE_PROFILE=distributed"):
        asyncio.run(work(WorkerSettings(), roles_of("all"), on_ready=lambda _line: None))
