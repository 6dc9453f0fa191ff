"""The command ``multiobs statistics``: the catalogue."""

import typer

from multiobs.cli import options
from multiobs.cli.session import print_json


def statistics(json: options.Json = False) -> None:
    """List what can be estimated: name, formula, arity and unit.

    \b
    multiobs statistics
    multiobs statistics --json
    """
    from multiobs import statistics as room
    from multiobs.cli.naming import formula_of, parameters_of

    rows = []
    for name, default in room.CATALOGUE.items():
        function = getattr(room, name)
        what = default()
        rows.append((name, formula_of(function), what.arity, what.unit, parameters_of(function)))
    if json:
        keys = ("name", "formula", "arity", "unit", "parameters")
        print_json({"statistics": [dict(zip(keys, row, strict=True)) for row in rows]})
        return
    from rich.console import Console
    from rich.table import Table

    table = Table(
        title="Statistics (arity: observations that the loss takes)", title_justify="left"
    )
    for head in ("name", "what it is", "arity", "unit"):
        table.add_column(head, justify="right" if head == "arity" else "left")
    for name, formula, arity, unit, parameters in rows:
        typed = f"{name}:{parameters[0]}" if parameters else name
        table.add_row(typed, formula, str(arity), unit)
    Console().print(table, markup=False)
    typer.echo("A parameter goes behind a colon: minvar:4, ucb:2, central_moment:3.")
