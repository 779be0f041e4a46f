"""What the signatures of commands share: options they all have, and how a command ends."""

from collections.abc import Coroutine
from typing import Annotated, Any, NoReturn

import typer

EXIT_INTERRUPTED = 130

AsJson = Annotated[bool, typer.Option("--json", help="Print JSON for programs.")]


def end(work: Coroutine[Any, Any, int]) -> NoReturn:
    """With the exit code that the work returns."""
    import asyncio

    try:
        code = asyncio.run(work)
    except KeyboardInterrupt:
        typer.echo("Interrupted. What was accepted stays; run the same command again to go on.", err=True)
        raise typer.Exit(EXIT_INTERRUPTED) from None
    raise typer.Exit(code)
