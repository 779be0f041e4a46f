"""The command that the worker adds to `dormouse`; what it does is imported when it runs."""

import os
from typing import Annotated

import typer


def worker(
    *,
    role: Annotated[str, typer.Option(help="What it does: extract, apply or all.", show_default="all")] = "all",
) -> None:
    """Do the work of the cluster's form until it is stopped.

    Run as many as it takes, beside `dormouse serve`. The first signal lets what is under way finish its step,
    a second one does not wait; nothing is lost either way.
    """
    import asyncio

    from dormouse_worker.settings import WorkerSettings
    from dormouse_worker.work import roles_of, work

    roles = roles_of(role)
    from dormouse.observability.process import observed
    from dormouse.settings import read

    settings = read(WorkerSettings, os.environ)
    with observed(settings, "dormouse-worker"):
        asyncio.run(work(settings, roles, on_ready=typer.echo))
