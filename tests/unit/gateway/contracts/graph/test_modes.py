"""Which tools are shown."""

import logging

import pytest

from dormouse_gateway.contracts.graph.modes import ToolMode, listed_in, tool_mode


@pytest.mark.parametrize(
    ("mode", "names"),
    [
        (ToolMode.DEFAULT, ("remember", "recall", "forget", "search_tools", "call_tool")),
        (ToolMode.MINIMAL, ("remember", "recall", "forget", "search_tools", "call_tool")),
        (ToolMode.ALL, ("remember", "recall", "forget", "cognify_status")),
        (ToolMode.HOSTED, ("remember", "recall", "forget", "cognify_status")),
    ],
)
def test_a_mode_lists_its_tools_in_the_contracts_order(mode: ToolMode, names: tuple[str, ...]) -> None:
    assert listed_in(mode) == names


@pytest.mark.parametrize(("name", "mode"), [("", "default"), (" ALL ", "all"), ("Hosted", "hosted")])
def test_modes_are_named_in_any_case(name: str, mode: str) -> None:
    assert tool_mode(name) == mode


def test_an_unknown_mode_is_noted_and_means_default(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING):
        mode = tool_mode("bogus")

    assert mode is ToolMode.DEFAULT
    assert "valid are default, minimal, all, hosted" in caplog.text
