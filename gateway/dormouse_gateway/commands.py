"""The commands that the gateway adds to `dormouse`: `serve`, `mcp` and `keys`.

What they do is imported when they run, so that help answers at once.
"""

import gc
import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from collections.abc import Coroutine

keys = typer.Typer(
    rich_markup_mode=None,
    help="Make, list and revoke API keys.\n\nA server that others can reach needs them.",
    no_args_is_help=True,
)

KeysFile = Annotated[
    str,
    typer.Option(
        "--file", help="File of the keys.", show_default="DORMOUSE_API_KEYS_FILE, else in the data folder"
    ),
]


def serve(
    *,
    host: Annotated[str, typer.Option(help="Address to listen on.", show_default="127.0.0.1")] = "",
    port: Annotated[
        int | None,
        typer.Option(min=0, max=65535, help="Port to listen on; 0 takes a free one.", show_default="8000"),
    ] = None,
    tool_mode: Annotated[
        str,
        typer.Option(help="Tools that are listed: default, minimal, all or hosted.", show_default="default"),
    ] = "",
    idle_exit_s: Annotated[float, typer.Option(min=0, hidden=True)] = 0,
) -> None:
    """Serve the memory over MCP and REST until it is stopped.

    It owns the data folder: other commands and agents of this machine find it there. Any address other than
    loopback needs API keys (`dormouse keys create`).
    """
    # A start makes a million objects that stay: looking for garbage among them takes a fifth of its time.
    gc.disable()
    from dormouse_gateway.serving import serve_folder

    given = {"host": host or None, "port": port, "tool_mode": tool_mode or None}
    overrides = {name: value for name, value in given.items() if value is not None}
    _run(serve_folder(dict(os.environ), overrides, idle_exit_s=idle_exit_s or None))


def mcp() -> None:
    """Connect an agent over standard input and output.

    This is what an agent's configuration starts. It starts the server if none runs, and another one if that
    ends. Several agents share one memory.
    """
    from dormouse_gateway.relaying import relay

    _run(relay(dict(os.environ)))


@keys.command("create")
def create_key(
    user: Annotated[str, typer.Option(help="Whom the key speaks for; each user has a memory of their own.")],
    *,
    name: Annotated[str, typer.Option(help="What the key is for, to tell it from others.")] = "",
    file: KeysFile = "",
) -> None:
    """Make a key and show it, once."""
    from dormouse.clock import SystemClock
    from dormouse_gateway.auth.api_keys import KeyFile

    path = _keys_path(file)
    key, secret = KeyFile(path).create(user, name, SystemClock().now_ms())
    typer.echo(secret)
    typer.echo(f"Key {key.id} for {user}. It is not shown again.", err=True)
    if not file and not os.environ.get("DORMOUSE_API_KEYS_FILE"):
        typer.echo(f"Start the server with DORMOUSE_API_KEYS_FILE={path} for it to count.", err=True)


@keys.command("list")
def list_keys(*, file: KeysFile = "") -> None:
    """List keys by id; what they are is not kept."""
    from datetime import UTC, datetime

    from dormouse_gateway.auth.api_keys import KeyFile

    for key in KeyFile(_keys_path(file)).listing():
        made = datetime.fromtimestamp(key.created_ms / 1000, UTC)
        typer.echo(f"{key.id}  {made:%Y-%m-%d %H:%M}  {key.user}  {key.name}".rstrip())


@keys.command("revoke")
def revoke_key(key_id: Annotated[str, typer.Argument(metavar="ID")], *, file: KeysFile = "") -> None:
    """End a key; a running server notices at its next request."""
    from dormouse_gateway.auth.api_keys import KeyFile

    key = KeyFile(_keys_path(file)).revoke(key_id)
    typer.echo(f"Revoked key {key.id} of {key.user}.")


def _keys_path(file: str) -> Path:
    from dormouse.settings import read
    from dormouse_gateway.settings import GatewaySettings

    if file:
        return Path(file).expanduser()
    settings = read(GatewaySettings, os.environ)
    return settings.api_keys_file or settings.data_dir / "api-keys.json"


def _run(work: "Coroutine[object, object, None]") -> None:
    """A server that is interrupted has ended as it was asked to."""
    import asyncio

    try:
        asyncio.run(work)
    except KeyboardInterrupt:
        raise typer.Exit(0) from None
