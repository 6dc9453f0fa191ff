"""The commands themselves; imported only when typer and rich are there."""

from collections.abc import Callable
from pathlib import Path
from typing import Annotated

import typer

from multiobs._version import __version__
from multiobs.cli.catalogue import statistics
from multiobs.cli.fit import fit
from multiobs.cli.plan import plan
from multiobs.cli.predict import predict
from multiobs.cli.report import report
from multiobs.cli.reproduce import reproduce
from multiobs.cli.score import compare, score

app = typer.Typer(
    no_args_is_help=True,
    rich_markup_mode=None,  # rich with its markdown takes longer to load than the help to read
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["--help", "-h"]},
    epilog="Exit codes: 0 done, 1 the data or a value cannot be used, 2 usage, 3 a file, "
    "4 a model file, 5 the fit failed, 130 interrupted, 141 nobody reads the output.",
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
    """Regress directly on variance, upper confidence bounds, MINVAR and other statistics.

    \b
    multiobs fit sales.csv --x price --y units --statistic variance -o model.json
    multiobs predict model.json new.csv -o predicted.csv
    multiobs report sales.csv --x price --y units -o report.html
    """


@app.command()
def demo(
    out: Annotated[
        Path, typer.Option(help="Directory for the table, the picture and the report.")
    ] = Path("multiobs-demo"),
) -> None:
    """Fit the bundled flights: how the spread of arrival delays grows over the day.

    \b
    multiobs demo
    multiobs demo --out flights
    """
    # Imported here: scikit-learn takes a second that --help should not.
    from multiobs.cli.writing import check_place

    check_place(str(out / "delays.csv"))
    from multiobs.cli.demo import run
    from multiobs.cli.session import Steps, caught

    said: list[str] = []
    with Steps(8) as steps, caught(said):
        found = run(out, steps.next)
    typer.echo(f"{found.story}\n\nThe model, fitted with each of three statistics:\n")
    typer.echo("".join(f"    {line}\n" for line in found.code.splitlines()))
    typer.echo(found.table.plain() + "\n")
    for sentence in (*found.where, *said):
        typer.echo(sentence)


COMMANDS: tuple[Callable[..., None], ...] = (
    fit, predict, score, compare, report, statistics, plan, reproduce
)  # fmt: skip
for command in COMMANDS:
    app.command()(command)
