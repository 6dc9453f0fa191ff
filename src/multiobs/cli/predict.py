"""The command ``multiobs predict``."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, final

import typer

from multiobs.cli import options
from multiobs.cli.problems import Code, Refusal, rows_text
from multiobs.cli.session import Steps, caught, dialect_of, print_json, tell_warnings

if TYPE_CHECKING:
    import pyarrow as pa

    from multiobs.cli.columns import FileRows
    from multiobs.cli.source import Format, OpenedTable
    from multiobs.models import StoredModel

CHUNK = 50_000  # rows predicted at once: intervals need a few arrays of that many features
LARGE = 1 << 24  # bytes of a file that is predicted part by part
WHOLE = 1 << 30  # bytes of a file that is never read whole


def predict(
    *,
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
    from multiobs.cli.formats import open_source
    from multiobs.cli.writing import check_place, format_of

    check_place(out)
    with Steps(3) as steps:
        steps.next("reading")
        stored = load_model(model)
        source = open_source(data, dialect_of(format_, delimiter, decimal, encoding))
        work = PredictionJob(
            stored, source, out, format_of(out, source.format), level, drop_missing
        )
        steps.next("predicting")
        done = by_parts(work, steps) if work.in_parts else at_once(work, steps)
    told = {"rows": done.rows, "rows_dropped": done.dropped, "out": out, "warnings": done.notes}
    if json and out != "-":
        print_json({**told, "columns": list(done.columns)})
        return
    tell_warnings(done.notes)
    dropped = f", {rows_text(done.dropped)} left out for missing values" if done.dropped else ""
    if out != "-":
        new = ", ".join(done.columns)
        typer.echo(f"{rows_text(done.rows)} in {out}{dropped}: new columns {new}")
    elif dropped:
        typer.echo(dropped.removeprefix(", "), err=True)


@final
@dataclass(frozen=True)
class PredictionJob:
    """What is to be predicted.

    Attributes
    ----------
    stored : StoredModel
        The model.
    source : Source
        The table.
    out, format
        Where the answer goes, and how.
    level : float
        Coverage of the intervals.
    drop_missing : bool
        Whether rows with missing values are left out.
    """

    stored: "StoredModel"
    source: "OpenedTable"
    out: str
    format: "Format"
    level: float
    drop_missing: bool

    @property
    def in_parts(self) -> bool:
        """Whether the table is too large to be held whole."""
        path = self.source.path
        if path is None or self.source.format == "jsonl":
            return False
        # what was printed cannot be taken back when a later part turns out wrong
        return path.stat().st_size > (WHOLE if self.out == "-" else LARGE)

    @property
    def names(self) -> tuple[str, ...]:
        """Columns of x."""
        return x_of(self.stored, self.source)

    @property
    def passing(self) -> list[str]:
        """Columns that go from input to output."""
        return [name for name in self.source.columns if self.source.columns.count(name) == 1]


@final
@dataclass(frozen=True)
class Done:
    """What was written."""

    rows: int
    dropped: int
    columns: tuple[str, ...]
    notes: list[str]


def at_once(work: PredictionJob, steps: Steps) -> Done:
    """Predict a table that is read whole."""
    from multiobs.cli.columns import rows_of
    from multiobs.cli.tables import read_table
    from multiobs.cli.writing import table_writer

    stored, source = work.stored, work.source
    table = read_table(source, work.names, work.passing)
    rows = rows_of(table, source.name, wanted_x(stored, work.names, work.drop_missing))
    check_kinds(stored, rows)
    said: list[str] = []
    added = predicted(stored, rows, work.level, said)
    steps.next("writing")
    with table_writer(work.out, work.format) as write:
        write(_with_columns(table.select(work.passing), rows, added))
    beyond = outside(stored, rows)
    return Done(rows.size, rows.dropped, tuple(added), [*said, *notes_of(stored, beyond)])


def by_parts(work: PredictionJob, steps: Steps) -> Done:
    """Predict a large table part by part.

    What a part cannot say (a date among numbers further down) the whole table may, so a table
    that fits in memory is tried again at once before it is refused.
    """
    try:
        return _by_parts(work)
    except Refusal:
        path = work.source.path
        if path is None or path.stat().st_size > WHOLE:
            raise
    return at_once(work, steps)


def _by_parts(work: PredictionJob) -> Done:
    import pyarrow as pa

    from multiobs.cli.columns import rows_of
    from multiobs.cli.tables import parts_of
    from multiobs.cli.writing import behind, table_writer

    stored, source = work.stored, work.source
    kinds = stored.notes.get("kinds")
    known = {"number": pa.float64(), "category": pa.string(), "date": None}
    types = {name: pa.string() for name in work.passing}
    for name in work.names:
        types[name] = known.get(str(kinds.get(name))) if isinstance(kinds, dict) else None
    wanted = wanted_x(stored, work.names, work.drop_missing)
    first = used = 0
    beyond: dict[str, int] = {}
    said: list[str] = []
    columns: tuple[str, ...] = ()
    with table_writer(work.out, work.format) as put, behind(put) as write:
        for table in parts_of(source, types):
            if table.num_rows == 0:
                continue
            rows = rows_of(table, source.name, wanted, first)
            before, first = first, first + table.num_rows
            if rows.size == 0:
                continue
            check_kinds(stored, rows)
            _check_whole(rows)
            used += rows.size
            added = predicted(stored, rows, work.level, said, before)
            columns = tuple(added)
            write(_with_columns(table, rows, added))
            for name, count in outside(stored, rows).items():
                beyond[name] = beyond.get(name, 0) + count
        if used == 0:
            raise Refusal(
                f"{source.name} must hold a row without missing values, got none among {first:,}"
            )
    return Done(used, first - used, columns, [*said, *notes_of(stored, beyond)])


def _check_whole(rows: "FileRows") -> None:
    """Refuse numbers so large that the text may have held a digit more than a float does."""
    import numpy as np

    for name, kind in rows.kinds.items():
        if kind == "number" and float(np.abs(rows.X[name].to_numpy()).max()) > 2.0**53:
            raise Refusal(
                f"column {name!r} must hold numbers that a float can tell from their neighbours, "
                "got one above 2^53: subtract a constant"
            )


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


def x_of(stored: "StoredModel", source: "OpenedTable") -> tuple[str, ...]:
    """Columns of x that the model needs, each in the table once."""
    if stored.names is None:
        raise Refusal("the model must know the names of its columns, got one without", Code.MODEL)
    missing = [name for name in stored.names if name not in source.columns]
    if missing:
        from multiobs.cli.source import listed

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


def check_kinds(stored: "StoredModel", rows: "FileRows") -> None:
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


def predicted(
    stored: "StoredModel", rows: "FileRows", level: float, said: list[str], before: int = 0
) -> dict[str, Any]:
    """New columns by name: the statistic, and its limits where the model has them.

    Parameters
    ----------
    stored : StoredModel
        The model.
    rows : Rows
        Where to predict.
    level : float
        Coverage of the limits.
    said : list of str
        Warnings about limits that are finite are added to it, each once.
    before : int
        Rows of the file that come before these, for messages.
    """
    import numpy as np

    name = stored.statistic.name
    n = rows.size
    values = np.empty(n)
    limits = np.empty((n, 2)) if stored.has_intervals else None
    heard: list[str] = []
    with np.errstate(over="ignore", invalid="ignore"), caught(heard):  # refused below
        for start in range(0, n, CHUNK):
            part, place = rows.X.iloc[start : start + CHUNK], slice(start, start + CHUNK)
            if limits is None:
                values[place] = stored.predict(part)
            else:
                values[place], limits[place] = stored.with_interval(part, level)
    wrong = ~np.isfinite(values)
    if wrong.any():
        at = int(np.argmax(wrong))
        raise Refusal(
            f"predictions must be finite, got {values[at]} in row "
            f"{int(np.flatnonzero(rows.kept)[at]) + 1 + before:,}: its x is too far from the fit"
        )
    said += [each for each in heard if each not in said]
    if limits is None:
        return {name: values}
    if heard and not np.isfinite(limits).all():
        at = int(np.argmax(~np.isfinite(limits).all(axis=1)))
        raise Refusal(
            f"limits must be finite, got {limits[at]} in row "
            f"{int(np.flatnonzero(rows.kept)[at]) + 1 + before:,}: {heard[0]}"
        )
    return {name: values, f"{name}_low": limits[:, 0], f"{name}_high": limits[:, 1]}


def outside(stored: "StoredModel", rows: "FileRows") -> dict[str, int]:
    """How many rows lie outside the range of the fit, by column, where any do."""
    found: dict[str, int] = {}
    for name, (low, high) in _ranges(stored).items():
        if name in rows.X:
            values = rows.X[name].to_numpy()
            count = int(((values < low) | (values > high)).sum())
            if count:
                found[name] = count
    return found


def notes_of(stored: "StoredModel", beyond: dict[str, int]) -> list[str]:
    """Say where x lies outside the range of the fit: a line goes on, the law may not."""
    ranges = _ranges(stored)
    found = [
        f"{rows_text(count)} {'has' if count == 1 else 'have'} {name!r} outside the range of the "
        f"fit ({ranges[name][0]:.4g} to {ranges[name][1]:.4g}): predictions there are guesses"
        for name, count in beyond.items()
    ]
    if not stored.has_intervals:
        found.append("this class of model has no intervals in its file: one new column only")
    return found


def _ranges(stored: "StoredModel") -> dict[str, tuple[float, float]]:
    ranges = stored.notes.get("ranges")
    return {
        name: (ends[0], ends[1])
        for name, ends in (ranges if isinstance(ranges, dict) else {}).items()
        if isinstance(ends, list) and len(ends) == 2
    }


def _with_columns(table: "pa.Table", rows: "FileRows", added: dict[str, Any]) -> "pa.Table":
    """Return the rows that were used with new columns, never in place of one of the user's."""
    import pyarrow as pa

    if rows.size < table.num_rows:
        table = table.filter(rows.kept)
    for name, values in added.items():
        free = name
        while free in table.column_names:
            free += "_predicted"
        table = table.append_column(free, pa.array(values))
    return table
