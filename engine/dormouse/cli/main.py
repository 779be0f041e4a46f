"""The `dormouse` command: what can be asked, and how it ends.

Only signatures and help stand here; what a command does is imported when it runs, so that help answers at
once. Other packages add commands by the entry point group `dormouse.commands`.
"""

import os
import sys
from importlib.metadata import entry_points, version
from pathlib import Path
from typing import Annotated, NoReturn

import typer

from dormouse.cli.cluster_app import dlq_app, topics_app
from dormouse.cli.jobs_app import jobs_app
from dormouse.cli.ontology_app import ontology_app
from dormouse.cli.signature import AsJson, end
from dormouse.errors import DataFolderBusyError, DormouseError

DISTRIBUTION = "dormouse-memory"
COMMANDS = "dormouse.commands"
CLIENTS = frozenset({"aiokafka", "asyncpg", "neo4j", "qdrant_client"})  # of servers; the laptop form has none
EXIT_BUSY = 75  # EX_TEMPFAIL of sysexits.h; whoever starts a server tells a lost race by it

app = typer.Typer(
    name="dormouse",
    help="Shared, long-term memory for AI agents.\n\n"
    "Commands talk to the one server that holds the memory of this machine and start it if none runs. "
    "With DORMOUSE_REMOTE__URL set they talk to that server instead.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,  # plain help answers four times as fast and reads the same in a pipe
    context_settings={"help_option_names": ["-h", "--help"]},
)

app.add_typer(jobs_app)
app.add_typer(ontology_app)
app.add_typer(topics_app)
app.add_typer(dlq_app)

Dataset = Annotated[str, typer.Option("--dataset", "-d", help="Name of the dataset.")]


def _say_version(is_wanted: bool) -> None:  # noqa: FBT001 - typer's signature
    if is_wanted:
        typer.echo(f"dormouse {version(DISTRIBUTION)}")
        raise typer.Exit


@app.callback()
def dormouse(
    data_dir: Annotated[
        str,
        typer.Option("--data-dir", help="Folder that holds the memory.", show_default="DORMOUSE_DATA_DIR"),
    ] = "",
    *,
    show_version: Annotated[  # noqa: ARG001 - its callback acts before this
        bool,
        typer.Option("--version", help="Print the version and end.", is_eager=True, callback=_say_version),
    ] = False,
) -> None:
    if data_dir:
        # Into the environment: servers that a command starts must see it too.
        os.environ["DORMOUSE_DATA_DIR"] = str(Path(data_dir).expanduser().absolute())


@app.command(no_args_is_help=True)
def remember(  # noqa: PLR0913 - its options
    paths: Annotated[
        list[str], typer.Argument(metavar="PATH...", help="Files, folders, or - for standard input.")
    ],
    *,
    dataset: Dataset = "main_dataset",
    name: Annotated[str, typer.Option(help="Name of the item; for one file or standard input.")] = "",
    kind: Annotated[str, typer.Option(help="How to read it: file (by its type), text or chat.")] = "",
    external_id: Annotated[str, typer.Option(help="Your own id of the item; a new version replaces it.")] = "",
    occurred_at: Annotated[str, typer.Option(help="When it was written: ISO 8601 with an offset.")] = "",
    ontologies: Annotated[
        list[str] | None,
        typer.Option("--ontology", help="Key of an ontology to ground in; repeatable."),
    ] = None,
    background: Annotated[
        bool, typer.Option("--background", help="Do not wait until it is searchable.")
    ] = False,
    prune: Annotated[
        bool, typer.Option("--prune", help="Forget what has no file in these folders any more; asks first.")
    ] = False,
) -> None:
    """Remember files, folders, or text from standard input.

    Repeating the command is cheap: what is already there is not read again. Hidden and generated folders
    are left out; other files that cannot be read are named.
    """
    from dormouse.cli import remember as command

    if (name or external_id) and len(paths) > 1:
        raise typer.BadParameter("--name and --external-id are for a single item")
    fields = {"datasetName": dataset, "kind": kind, "external_id": external_id, "occurred_at": occurred_at}
    given: dict[str, str | list[str]] = {key: value for key, value in fields.items() if value}
    if ontologies:
        given["ontology_key"] = ontologies
    end(command.remember(paths, given, name=name, waits=not background, prunes=prune))


@app.command(no_args_is_help=True)
def recall(
    query: Annotated[str, typer.Argument(help="What to look for, in plain words.")],
    *,
    datasets: Annotated[
        list[str] | None, typer.Option("--dataset", "-d", help="Look only here; repeatable.")
    ] = None,
    top_k: Annotated[int, typer.Option("--top-k", "-k", min=1, max=100, help="Most memories to show.")] = 5,
    session: Annotated[str, typer.Option(help="Look in this session first.")] = "",
    search_type: Annotated[str, typer.Option(help="CHUNKS, CHUNKS_LEXICAL or another named kind.")] = "",
    as_json: AsJson = False,
) -> None:
    """Find what is remembered, with its source and date."""
    from dormouse.cli import recall as command

    body: dict[str, object] = {"query": query, "top_k": top_k}
    optional = {"datasets": datasets, "session_id": session, "search_type": search_type}
    end(command.recall({**body, **{key: value for key, value in optional.items() if value}}, as_json=as_json))


@app.command(no_args_is_help=True)
def forget(
    item: Annotated[str, typer.Argument(help="Name, id or external id of one item of the dataset.")] = "",
    *,
    dataset: Annotated[str, typer.Option("--dataset", "-d", help="The item's dataset, or all of it.")] = "",
    everything: Annotated[bool, typer.Option("--everything", help="All that you own.")] = False,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
) -> None:
    """Forget an item, a dataset or all, for good; asks first.

    When it returns, it is gone from every store, index and log.
    """
    from dormouse.cli import forget as command

    if everything == bool(dataset) or (everything and item):
        raise typer.BadParameter("give --dataset (with an item, or without one for all of it) or --everything")
    end(command.forget(dataset, item, everything=everything, is_confirmed=yes))


@app.command(no_args_is_help=True)
def suppress(
    dataset: Annotated[str, typer.Argument(help="Name of the dataset.")],
    item: Annotated[str, typer.Argument(help="Name, id or external id of one of its items.")],
) -> None:
    """Hide an item from every recall, without forgetting it.

    `dormouse restore` brings it back as it was.
    """
    from dormouse.cli import suppress as command

    end(command.suppress(dataset, item))


@app.command(no_args_is_help=True)
def restore(
    dataset: Annotated[str, typer.Argument(help="Name of the dataset.")],
    item: Annotated[str, typer.Argument(help="Name, id or external id of one of its items.")],
) -> None:
    """Show an item again that was suppressed."""
    from dormouse.cli import suppress as command

    end(command.restore(dataset, item))


@app.command(no_args_is_help=True)
def items(
    dataset: Annotated[str, typer.Argument(help="Name of the dataset.")], *, as_json: AsJson = False
) -> None:
    """Show the items of a dataset, by name."""
    from dormouse.cli import items as command

    end(command.listing(dataset, as_json=as_json))


@app.command()
def status(*, as_json: AsJson = False) -> None:
    """Show the server of this memory and how much it holds."""
    from dormouse.cli import status as command

    end(command.status(as_json=as_json))


@app.command()
def export(
    *,
    datasets: Annotated[
        list[str] | None, typer.Option("--dataset", "-d", help="Only this dataset; repeatable.")
    ] = None,
    output: Annotated[str, typer.Option("--output", "-o", help="File to write; standard output else.")] = "",
    vectors: Annotated[
        bool, typer.Option("--vectors", help="With vectors and term counts, to compare two memories.")
    ] = False,
) -> None:
    """Write out everything that is remembered, as JSON Lines.

    Documents with their passages in reading order, memories with their quotes and times, and the entities
    they mention. The last line says how many lines came before it; without it the export is not whole.
    """
    from dormouse.cli import export as command

    target = str(Path(output).expanduser()) if output else ""
    end(command.export(datasets or [], target, has_vectors=vectors))


@app.command()
def audit(*, as_json: AsJson = False) -> None:
    """Compare all stores row by row; changes nothing.

    Ends with 1 when any differ. It reads everything, so a large memory takes a while.
    """
    from dormouse.cli import audit as command

    end(command.audit(as_json=as_json))


@app.command()
def doctor(
    *,
    repair: Annotated[bool, typer.Option("--repair", help="Put right where the stores differ.")] = False,
    as_json: AsJson = False,
) -> None:
    """Look for trouble, and say what to do about it.

    Checks the installation, the settings, the data folder and the server. With --repair, what an audit finds is
    put right where that can be, from what was extracted.
    """
    if repair:
        from dormouse.cli import audit as repairs

        end(repairs.repair(as_json=as_json))
    from dormouse.cli import doctor as command

    end(command.doctor(as_json=as_json))


@app.command()
def rebuild(
    *,
    graph: Annotated[bool, typer.Option("--graph", help="The graph only.")] = False,
    vectors: Annotated[bool, typer.Option("--vectors", help="The vectors only.")] = False,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
) -> None:
    """Make graph and vectors anew from what was remembered.

    For files that are lost, damaged or of another version, also when the server does not start. Nothing is
    read or embedded again; a rebuild that was interrupted goes on.
    """
    from dormouse.cli import rebuild as command
    from dormouse.model.rebuild import DerivedStore

    chosen = {DerivedStore.GRAPH: graph, DerivedStore.VECTORS: vectors}
    stores = [store for store, is_chosen in chosen.items() if is_chosen or not (graph or vectors)]
    end(command.rebuild(stores, is_confirmed=yes))


@app.command()
def migrate() -> None:
    """Make or update the catalog's tables in PostgreSQL.

    For the cluster's form: DORMOUSE_DATABASE__URL names the database. Safe to repeat, and while processes of
    this version run. The laptop form does this by itself.
    """
    from dormouse.cli import migrate as command

    end(command.migrate())


@app.command()
def migrate_embedding(
    *,
    drop: Annotated[bool, typer.Option("--drop", help="Give up the one that is under way.")] = False,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
) -> None:
    """Embed everything with the model that is configured now.

    Recalls are answered with the former model until it is through; one that was interrupted goes on.
    """
    from dormouse.cli import rebuild as command

    end(command.drop_migration() if drop else command.migrate(is_confirmed=yes))


@app.command()
def stop() -> None:
    """End the server of this data folder.

    Calls under way get their answer; work that is not done is taken up at the next start.
    """
    from dormouse.cli import stop as command

    end(command.stop())


def main() -> NoReturn:
    """The process's boundary: every error ends as one line that says what to do, never as a trace."""
    _add_commands()
    try:
        app(prog_name="dormouse")
    except DormouseError as exc:
        _fail(str(exc), EXIT_BUSY if isinstance(exc, DataFolderBusyError) else 1)
    except BrokenPipeError:
        sys.stderr.close()  # the reader of a pipe has seen enough
        sys.exit(0)
    except Exception as exc:
        if os.environ.get("DORMOUSE_LOG_LEVEL", "").lower() == "debug":
            raise
        _fail(_words_of(exc), 1)
    sys.exit(0)


def _add_commands() -> None:
    for entry in entry_points(group=COMMANDS):
        command = entry.load()
        if isinstance(command, typer.Typer):
            app.add_typer(command, name=entry.name)
        else:
            app.command(entry.name)(command)


def _fail(message: str, code: int) -> NoReturn:
    typer.echo(f"Error: {message}", err=True)
    sys.exit(code)


def _words_of(error: Exception) -> str:
    """A refusal by the server has words of its own; of anything else only the kind is told."""
    while isinstance(error, ExceptionGroup):
        error = error.exceptions[0]
    if isinstance(error, DormouseError):
        return str(error)
    if isinstance(error, OSError) and error.strerror and error.filename:
        return f"{error.filename}: {error.strerror.lower()}"
    if isinstance(error, ModuleNotFoundError) and error.name in CLIENTS:
        return f"this needs {error.name}: install dormouse-memory[distributed]"
    remediation = getattr(error, "remediation", None)
    if remediation is not None:
        return f"{error}\n{remediation}".strip()
    return f"something went wrong ({type(error).__name__}); DORMOUSE_LOG_LEVEL=debug shows where"


if __name__ == "__main__":
    main()
