"""The `dormouse ontology` commands: what can be asked; what each does is imported when it runs."""

from pathlib import Path
from typing import Annotated

import typer

from dormouse.cli.signature import AsJson, end

ontology_app = typer.Typer(
    name="ontology", help="Keep ontologies: the names and kinds of a field.", no_args_is_help=True
)

Key = Annotated[str, typer.Argument(metavar="KEY", help="What you call the ontology.")]


@ontology_app.command(no_args_is_help=True)
def add(
    key: Key,
    file: Annotated[
        Path,
        typer.Argument(
            metavar="FILE",
            help="RDF/XML (.owl, .rdf, .xml), Turtle (.ttl) or N-Triples (.nt).",
            exists=True,
            dir_okay=False,
            readable=True,
        ),
    ],
    *,
    description: Annotated[str, typer.Option(help="A few words of your own about it.")] = "",
    as_json: AsJson = False,
) -> None:
    """Upload an ontology under a key of your own.

    Remember with it by `dormouse remember --ontology KEY`. To replace one, delete it first.
    """
    from dormouse.cli import ontology as command

    end(command.add(key, file, description, as_json=as_json))


@ontology_app.command("list")
def listing(*, as_json: AsJson = False) -> None:
    """Show your ontologies, by key."""
    from dormouse.cli import ontology as command

    end(command.listing(as_json=as_json))


@ontology_app.command(no_args_is_help=True)
def show(key: Key) -> None:
    """Print an ontology as it was uploaded."""
    from dormouse.cli import ontology as command

    end(command.show(key))


@ontology_app.command(no_args_is_help=True)
def delete(key: Key, *, yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False) -> None:
    """Delete an ontology; asks first.

    What was remembered with it keeps its names and kinds.
    """
    from dormouse.cli import ontology as command

    end(command.delete(key, is_confirmed=yes))
