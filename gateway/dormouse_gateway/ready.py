"""What a server says when it answers: its address on a line of its own, then how to add it to an agent."""

import json

PLACEHOLDER = "YOUR_KEY"


def ready_lines(url: str, *, needs_key: bool) -> str:
    """The first line is read by programs and never changes: `Dormouse ready: http://HOST:PORT`."""
    mcp = f"{url}/mcp"
    bearer = {"Authorization": f"Bearer {PLACEHOLDER}"}
    entry: dict[str, object] = {"url": mcp, **({"headers": bearer} if needs_key else {})}
    cursor = json.dumps({"mcpServers": {"dormouse": entry}})
    code = json.dumps({"name": "dormouse", "type": "http", **entry}, separators=(",", ":"))
    header = f' --header "Authorization: {bearer["Authorization"]}"' if needs_key else ""
    lines = [
        f"Dormouse ready: {url}",
        "",
        "Add it to your agent:",
        f"  Claude Code       claude mcp add --transport http dormouse {mcp}{header}",
        f"  Cursor            {cursor}   (in ~/.cursor/mcp.json)",
        f"  VS Code           code --add-mcp '{code}'",
        "",
    ]
    return "\n".join(lines)
