"""The commands themselves; imported only when typer and rich are there."""

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from multiobs import __version__
from multiobs._tables import print_table
from multiobs.cli.plan import plan
from multiobs.cli.reproduce import reproduce

app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    help="Regress directly on variance, upper confidence bounds, MINVAR and other statistics.",
)


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"multiobs {__version__}")
        raise typer.Exit


@app.callback()
def common(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """Regress directly on variance, upper confidence bounds, MINVAR and other statistics."""


@app.command()
def demo(
    out: Annotated[Path, typer.Option(help="Directory for the table and the picture.")] = Path(
        "multiobs-demo"
    ),
) -> None:
    """Fit the bundled flights: how the spread of arrival delays grows over the day."""
    # Imported here: scikit-learn takes a second that --help should not.
    from multiobs.cli.demo import run

    console = Console()
    with console.status("fitting"):
        result = run(out)
    console.print(result.story, soft_wrap=True, markup=False)
    print_table(result.table)
    for sentence in result.where:
        console.print(sentence, soft_wrap=True, highlight=False, markup=False)


app.command()(reproduce)
app.command()(plan)
