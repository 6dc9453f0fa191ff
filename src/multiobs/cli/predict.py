"""The command ``multiobs predict``."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from multiobs.cli import options
from multiobs.cli.problems import Code, Refusal, rows_text
from multiobs.cli.session import Steps, dialect_of, print_json, tell_warnings

if TYPE_CHECKING:
    import pyarrow as pa

    from multiobs.cli.columns import Rows
    from multiobs.cli.formats import Source
    from multiobs.models import StoredModel

CHUNK = 50_000  # rows predicted at once: intervals need a few arrays of that many features


def predict(
    model: Annotated[str, typer.Argument(metavar="MODEL", help="A file of multiobs fit.")],
    data: options.Data,
    out: Annotated[
        str, typer.Option("--out", "-o", metavar="OUT", help="Table to write; - is stdout.")
    ] = "-",
    level: options.Level = 0.95,
    drop_missing: options.DropMissing = False,
    json: options.Json = False,
    format_: options.FormatName = None,
    delimiter: options.Delimiter = None,
    decimal: options.Decimal = ".",
    encoding: options.Encoding = "utf-8",
) -> None:
    """Write a table with the predicted statistic and its interval as new columns.

    \b
    multiobs predict model.json new.csv -o predicted.csv
    multiobs predict model.json - < new.csv > predicted.csv
    multiobs predict model.json new.parquet -o predicted.parquet --level 0.9
    """
    from multiobs.cli.columns import rows_of
    from multiobs.cli.formats import open_source, read_table
    from multiobs.cli.writing import check_place, format_of, write_table

    check_place(out)
    with Steps(3) as steps:
        steps.next("reading")
        stored = load_model(model)
        source = open_source(data, dialect_of(format_, delimiter, decimal, encoding))
        target = format_of(out, source.format)
        names = x_of(stored, source)
        passing = [name for name in source.columns if source.columns.count(name) == 1]
        table = read_table(source, names, passing)
        rows = rows_of(table, source.name, wanted_x(stored, names, drop_missing))
        check_kinds(stored, rows)
        steps.next(f"predicting {rows_text(rows.size)}")
        added = predicted(stored, rows, level)
        if rows.dropped:
            table = table.filter(rows.kept)
        table = table.select([name for name in source.columns if name in table.column_names])
        for name, values in added.items():
            table = _with_column(table, name, values)
        steps.next("writing")
        write_table(table, out, target)
    notes = outside(stored, rows)
    told = {"rows": rows.size, "rows_dropped": rows.dropped, "out": out, "warnings": notes}
    if json and out != "-":
        print_json({**told, "columns": list(added)})
        return
    tell_warnings(notes)
    dropped = f", {rows_text(rows.dropped)} left out for missing values" if rows.dropped else ""
    if out != "-":
        typer.echo(f"{rows_text(rows.size)} in {out}{dropped}: new columns {', '.join(added)}")
    elif dropped:
        typer.echo(dropped.removeprefix(", "), err=True)


def load_model(path: str) -> "StoredModel":
    """Load a model file; what is wrong with it is one sentence."""
    from multiobs import models

    place = Path(path)
    if place.is_dir():
        raise Refusal(f"MODEL must be a file, got the directory {path}", Code.FILE)
    try:
        return models.load(place)
    except models.ModelFileError as problem:
        raise Refusal(str(problem), Code.MODEL) from None


def x_of(stored: "StoredModel", source: "Source") -> tuple[str, ...]:
    """Columns of x that the model needs, each in the table once."""
    if stored.names is None:
        raise Refusal("the model must know the names of its columns, got one without", Code.MODEL)
    missing = [name for name in stored.names if name not in source.columns]
    if missing:
        from multiobs.cli.formats import listed

        raise Refusal(
            f"{source.name} must have the columns of the model ({listed(stored.names)}), got none "
            f"called {missing[0]!r}",
            Code.MODEL,
        )
    return tuple(source.find(name, "the model") for name in stored.names)


def wanted_x(stored: "StoredModel", names: tuple[str, ...], drop_missing: bool) -> Any:
    """Columns of x, categories where the model has categories."""
    from multiobs.cli.columns import Wanted

    known = tuple(stored.categories.levels) if stored.categories is not None else ()
    return Wanted(x=names, categories=known, drop_missing=drop_missing)


def check_kinds(stored: "StoredModel", rows: "Rows") -> None:
    """Refuse a number where the fit had a date, and levels not seen in the fit."""
    kinds = stored.notes.get("kinds")
    for name, kind in rows.kinds.items():
        before = kinds.get(name, kind) if isinstance(kinds, dict) else kind
        if before != kind:
            raise Refusal(
                f"column {name!r} must hold a {before} as in the fit, got a {kind}", Code.MODEL
            )
    levels = {} if stored.categories is None else stored.categories.levels
    for name, known in levels.items():
        values = rows.X[name].to_numpy()
        strange = sorted(set(values.tolist()) - set(known))
        if strange:
            import numpy as np

            at = int(np.flatnonzero(rows.kept)[int(np.argmax(values == strange[0]))]) + 1
            raise Refusal(
                f"column {name!r} must hold one of the {len(known)} categories of the fit, got "
                f"{strange[0]!r} in row {at:,}: leave those rows out, or fit again with them"
            )


def predicted(stored: "StoredModel", rows: "Rows", level: float) -> dict[str, Any]:
    """New columns by name: the statistic, and its limits where the model has them."""
    import numpy as np

    name = stored.statistic.name
    n = rows.size
    values = np.empty(n)
    limits = np.empty((n, 2)) if stored.has_intervals else None
    for start in range(0, n, CHUNK):
        part, place = rows.X.iloc[start : start + CHUNK], slice(start, start + CHUNK)
        if limits is None:
            values[place] = stored.predict(part)
        else:
            values[place], limits[place] = stored.with_interval(part, level)
    if limits is None:
        return {name: values}
    return {name: values, f"{name}_low": limits[:, 0], f"{name}_high": limits[:, 1]}


def outside(stored: "StoredModel", rows: "Rows") -> list[str]:
    """Say where x lies outside the range of the fit: a line goes on, the law may not."""
    ranges = stored.notes.get("ranges")
    found = []
    for name, ends in (ranges if isinstance(ranges, dict) else {}).items():
        if name not in rows.X or not (isinstance(ends, list) and len(ends) == 2):
            continue
        values = rows.X[name].to_numpy()
        count = int(((values < ends[0]) | (values > ends[1])).sum())
        if count:
            found.append(
                f"{rows_text(count)} have {name!r} outside the range of the fit "
                f"({ends[0]:.4g} to {ends[1]:.4g}): predictions there are guesses"
            )
    if not stored.has_intervals:
        found.append("this class of model has no intervals in its file: one new column only")
    return found


def _with_column(table: "pa.Table", name: str, values: Any) -> "pa.Table":
    import pyarrow as pa

    free = name
    while free in table.column_names:  # never overwrite a column of the user's
        free += "_predicted"
    return table.append_column(free, pa.array(values))
