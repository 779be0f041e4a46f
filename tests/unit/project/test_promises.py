import re

import pytest

from tests.promises import PROMISES, promise
from tests.promises_pending import PENDING
from tests.unit.project.tree import modules


def test_every_promise_has_a_test_or_a_reason_why_not() -> None:
    marked = {
        name
        for path in modules("tests")
        for name in re.findall(r"\bpromise\(\"(P\d+)\"\)", path.read_text(encoding="utf-8"))
    }

    assert sorted(set(PROMISES) - marked - set(PENDING)) == []


def test_only_promises_can_be_pending_and_each_has_its_reason() -> None:
    assert set(PENDING) <= set(PROMISES)
    assert all(reason.strip() for reason in PENDING.values())


def test_a_promise_that_was_never_made_cannot_be_tested() -> None:
    with pytest.raises(ValueError, match="no promise P99"):
        promise("P99")
