"""What a server says when it answers."""

import json

from dormouse_gateway.ready import ready_lines

URL = "http://127.0.0.1:8000"


def test_the_first_line_is_the_address_alone() -> None:
    assert ready_lines(URL, needs_key=False).splitlines()[0] == "Dormouse ready: http://127.0.0.1:8000"


def test_each_agent_is_told_how_in_its_own_words() -> None:
    text = ready_lines(URL, needs_key=False)

    assert "claude mcp add --transport http dormouse http://127.0.0.1:8000/mcp" in text
    assert '{"mcpServers": {"dormouse": {"url": "http://127.0.0.1:8000/mcp"}}}' in text
    assert """code --add-mcp '{"name":"dormouse","type":"http","url":"http://127.0.0.1:8000/mcp"}'""" in text


def test_where_a_key_is_needed_its_place_is_shown() -> None:
    text = ready_lines(URL, needs_key=True)

    assert text.count("Bearer YOUR_KEY") == 3
    (line,) = (line for line in text.splitlines() if "code --add-mcp" in line)
    assert json.loads(line.split("'")[1])["headers"] == {"Authorization": "Bearer YOUR_KEY"}
