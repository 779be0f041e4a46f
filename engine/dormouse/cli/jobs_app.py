"""The `dormouse jobs` commands: what can be asked."""

from typing import Annotated

import typer

from dormouse.cli.signature import AsJson, end

jobs_app = typer.Typer(name="jobs", help="Show what became of what was handed over, newest first.")

Job = Annotated[str, typer.Argument(metavar="JOB", help="Id of a job.")]


@jobs_app.callback(invoke_without_command=True)
def jobs(
    context: typer.Context,
    *,
    datasets: Annotated[
        list[str] | None, typer.Option("--dataset", "-d", help="Of this dataset; repeatable.")
    ] = None,
    stages: Annotated[list[str] | None, typer.Option("--stage", help="In this stage; repeatable.")] = None,
    limit: Annotated[int, typer.Option(min=1, max=200, help="Most jobs to show.")] = 20,
    as_json: AsJson = False,
) -> None:
    """Show what became of what was handed over, newest first."""
    if context.invoked_subcommand is not None:
        return
    from dormouse.cli import jobs as command

    end(command.listing(datasets or [], stages or [], limit, as_json=as_json))


@jobs_app.command()
def failed(
    *,
    datasets: Annotated[
        list[str] | None, typer.Option("--dataset", "-d", help="Of this dataset; repeatable.")
    ] = None,
    limit: Annotated[int, typer.Option(min=1, max=200, help="Most jobs to show.")] = 20,
    as_json: AsJson = False,
) -> None:
    """Show those that failed, with the reason."""
    from dormouse.cli import jobs as command

    end(command.listing(datasets or [], ["failed"], limit, as_json=as_json))


@jobs_app.command()
def show(job: Job, *, as_json: AsJson = False) -> None:
    """Show one job in full."""
    from dormouse.cli import jobs as command

    end(command.show(job, as_json=as_json))


@jobs_app.command()
def retry(job: Job, *, as_json: AsJson = False) -> None:
    """Try again what failed, or what a language model could not derive, as a new job."""
    from dormouse.cli import jobs as command

    end(command.retry(job, as_json=as_json))


@jobs_app.command()
def cancel(job: Job, *, as_json: AsJson = False) -> None:
    """Cancel your own job before its content is searchable."""
    from dormouse.cli import jobs as command

    end(command.cancel(job, as_json=as_json))
