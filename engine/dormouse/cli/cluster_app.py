"""The `dormouse topics` and `dormouse dlq` commands, of whoever runs the cluster's form: what can be asked."""

from typing import Annotated

import typer

from dormouse.cli.signature import AsJson, end

topics_app = typer.Typer(
    name="topics",
    help="Look after the cluster's topics in Kafka.",
    no_args_is_help=True,
)
dlq_app = typer.Typer(name="dlq", help="See the records that nobody could understand.", no_args_is_help=True)


@topics_app.callback()
def topics() -> None:
    """Look after the cluster's topics in Kafka (DORMOUSE_KAFKA__...)."""


@topics_app.command()
def ensure() -> None:
    """Make the topics that are missing, and compare the others.

    Ends with 1 when one differs from what is needed, and says what to do; it changes none that is there. Safe
    to repeat, and while processes run.
    """
    from dormouse.cli import topics as command

    end(command.ensure())


@dlq_app.command("list")
def listing(
    *,
    limit: Annotated[int, typer.Option(min=1, max=1000, help="Most records to show.")] = 20,
    as_json: AsJson = False,
) -> None:
    """Show where such records lie and why they were put aside, newest first.

    They are not kept themselves: nobody knows what is in them.
    """
    from dormouse.cli import dlq as command

    end(command.listing(limit, as_json=as_json))


@dlq_app.command()
def drop(*, yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False) -> None:
    """Take out the notes about all of them."""
    from dormouse.cli import dlq as command

    end(command.drop(is_confirmed=yes))
