"""The commands ``multiobs score`` and ``multiobs compare``."""

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from multiobs.cli import options
from multiobs.cli.asking import Asked
from multiobs.cli.problems import Code, Refusal, rows_text
from multiobs.cli.session import Steps, caught, dialect_of, print_json, tell_warnings

if TYPE_CHECKING:
    from multiobs._types import FloatArray
    from multiobs.cli.columns import FileRows
    from multiobs.cli.source import OpenedTable
    from multiobs.models import StoredModel
    from multiobs.statistics import Statistic


def score(
    *,
    what: Annotated[
        str, typer.Argument(metavar="MODEL|PREDICTIONS", help="A model file, or a table.")
    ],
    data: options.Data,
    x: options.MaybeX = [],  # noqa: B006 (typer reads it, nobody changes it)
    y: options.MaybeY = [],  # noqa: B006
    statistic: options.MaybeStatistic = None,
    column: options.Column = None,
    groups: options.Groups = None,
    weights: options.Weights = None,
    drop_missing: options.DropMissing = False,
    json: options.Json = False,
    format_: options.FormatName = None,
    delimiter: options.Delimiter = None,
    decimal: options.Decimal = ".",
    encoding: options.Encoding = "utf-8",
) -> None:
    """Score predictions of a statistic on rows of a table, by the loss that elicits it.

    \b
    multiobs score model.json held_out.csv
    multiobs score predictions.csv held_out.csv -s variance --x price --y units
    """
    found = _compared(
        Asked(
            data, x, y, dialect_of(format_, delimiter, decimal, encoding), weights, groups,
            drop_missing=drop_missing,
        ),
        [what], statistic, column,
    )  # fmt: skip
    table, calibration = found["table"], found["calibration"]
    if json:
        print_json(
            {
                "statistic": repr(table.statistic),
                "rows": found["rows"],
                "metasamples": table.n_metasamples,
                "score": float(table.scores[0]),
                "gain": float(table.gain[0]),
                "gain_se": float(table.gain_se[0]),
                "skill": float(table.skill[0]),
                "constant": table.constant,
                "calibration_p": None if calibration is None else calibration.joint_p,
                "warnings": found["warnings"],
            }
        )
        return
    tell_warnings(found["warnings"])
    typer.echo(str(table))
    if calibration is not None:
        typer.echo(f"\n{calibration}")


def compare(
    *,
    data: options.Data,
    predictions: Annotated[
        list[str],
        typer.Option("--predictions", "-p", metavar="FILE", help="A table or a model; several."),
    ],
    more: Annotated[
        list[str] | None, typer.Argument(metavar="[FILE]...", help="More predictions.")
    ] = None,
    x: options.MaybeX = [],  # noqa: B006
    y: options.MaybeY = [],  # noqa: B006
    statistic: options.MaybeStatistic = None,
    column: options.Column = None,
    groups: options.Groups = None,
    weights: options.Weights = None,
    drop_missing: options.DropMissing = False,
    json: options.Json = False,
    format_: options.FormatName = None,
    delimiter: options.Delimiter = None,
    decimal: options.Decimal = ".",
    encoding: options.Encoding = "utf-8",
) -> None:
    """Say which of several predictions is better, by how much, and whether by more than chance.

    \b
    multiobs compare held_out.csv --predictions a.csv b.csv -s variance --x price --y units
    multiobs compare held_out.csv -p line.json -p smooth.json
    """
    files = [*predictions, *(more or [])]
    found = _compared(
        Asked(
            data, x, y, dialect_of(format_, delimiter, decimal, encoding), weights, groups,
            drop_missing=drop_missing,
        ),
        files, statistic, column,
    )  # fmt: skip
    table = found["table"]
    if json:
        rows = [
            {
                "name": name,
                "score": float(table.scores[i]),
                "gain": float(table.gain[i]),
                "gain_se": float(table.gain_se[i]),
                "less_best": table.differences[i].difference,
                "se": table.differences[i].se,
                "p": table.differences[i].p,
            }
            for i, name in enumerate(table.names)
        ]
        told = {"rows": found["rows"], "forecasts": rows, "warnings": found["warnings"]}
        print_json({"statistic": repr(table.statistic), **told})
        return
    tell_warnings(found["warnings"])
    typer.echo(str(table))


def _is_model(path: str) -> bool:
    try:
        with Path(path).open("rb") as file:
            return file.read(10) == b'{"format":'
    except IsADirectoryError:
        return False


def _compared(
    asked: Asked, files: list[str], statistic: str | None, column: str | None
) -> dict[str, Any]:
    from multiobs import scoring
    from multiobs.cli.columns import take
    from multiobs.cli.formats import open_source
    from multiobs.cli.naming import statistic_of
    from multiobs.cli.predict import load_model
    from multiobs.cli.room import SCORED
    from multiobs.report import Positions

    with Steps(3) as steps:
        steps.next("reading")
        stored = {path: load_model(path) for path in files if _is_model(path)}
        first = next(iter(stored.values()), None)
        if first is None and statistic is None:
            raise Refusal("--statistic must say what was predicted, got none", Code.USAGE)
        what = statistic_of(statistic) if statistic is not None else _statistic(stored)
        x = asked.x or (list(first.names or ()) if first is not None else [])
        y = asked.y or (_labels(first) if first is not None else [])
        for option, value in (("--x", x), ("--y", y)):
            if not value:
                raise Refusal(f"{option} must name a column, got none", Code.USAGE)
        source = open_source(asked.data, asked.dialect)
        wanted = replace(asked, x=x, y=y).wanted(source, what)
        needed = list(wanted.x)
        categories: tuple[str, ...] = ()
        for model in stored.values():
            missing = [name for name in model.names or () if name not in needed]
            needed += [source.find(name, "--x") for name in missing]
            categories += tuple(model.categories.levels) if model.categories is not None else ()
        asked_for = replace(wanted, x=tuple(needed), categories=categories)
        rows = take(source, asked_for, SCORED)
        steps.next("predicting")
        forecasts = {}
        for path in files:
            if path in stored:
                forecasts[path] = stored[path].predict(rows.X)
            else:
                forecasts[path] = _column_of(path, column, what, rows, asked.dialect)
        steps.next(f"scoring {rows_text(rows.size)}")
        positions = Positions(
            {name: rows.X[name].to_numpy() for name in rows.X}, rows.kinds, named=True
        )
        codes = positions.codes()
        if rows.groups is not None:
            codes = rows.groups if codes is None else rows.groups * (int(codes.max()) + 1) + codes
        labels = rows.y
        assert labels is not None
        more: dict[str, Any] = {"sample_weight": rows.weights, "groups": codes}
        said: list[str] = []
        calibration = None
        with caught(said):
            table = scoring.compare(what, positions.numeric(), labels, forecasts, **more)
            if len(files) == 1:
                calibration = scoring.calibration_test(
                    what, positions.numeric(), labels, forecasts[files[0]], **more
                )
    return {
        "table": table,
        "rows": rows.size,
        "calibration": calibration,
        "warnings": [*said, *_seen_before(stored, source)],
    }


def _seen_before(stored: "dict[str, StoredModel]", source: "OpenedTable") -> list[str]:
    """Say which models were fitted to the very rows that they are scored on."""
    from multiobs.cli.fit import fingerprint

    if not stored:
        return []
    data = fingerprint(source.path, source.data)
    return [
        f"{path} was fitted to this very table: its score flatters it, score it on other rows"
        for path, model in stored.items()
        if model.notes.get("sha256") == data
    ]


def _statistic(stored: "dict[str, StoredModel]") -> "Statistic":
    found = {repr(model.statistic): model.statistic for model in stored.values()}
    if len(found) > 1:
        raise Refusal(f"the models must predict one statistic, got {', '.join(found)}", Code.MODEL)
    return next(iter(found.values()))


def _labels(stored: "StoredModel") -> list[str]:
    known = stored.notes.get("y")
    return [str(name) for name in known] if isinstance(known, list) else []


def _column_of(
    path: str, column: str | None, what: "Statistic", rows: "FileRows", dialect: Any
) -> "FloatArray":
    """Predictions of a table, one for each row of the data."""
    import numpy as np

    from multiobs.cli.columns import label
    from multiobs.cli.formats import open_source
    from multiobs.cli.source import listed
    from multiobs.cli.tables import read_table

    source = open_source(path, dialect)
    names = [column] if column is not None else [what.name, "prediction"]
    chosen = next((name for name in names if name in source.columns), None)
    if chosen is None and column is None and len(source.columns) == 1:
        chosen = source.columns[0]
    if chosen is None:
        raise Refusal(
            f"{path} must have a column of predictions called "
            f"{' or '.join(repr(name) for name in names)} ({listed(source.columns)}): say --column"
        )
    table = read_table(source, (source.find(chosen, "--column"),))
    if table.num_rows == rows.read and rows.dropped:
        table = table.filter(rows.kept)
    if table.num_rows != rows.size:
        raise Refusal(
            f"{path} must have one prediction for each of the {rows_text(rows.size)}, got "
            f"{table.num_rows:,}"
        )
    if table.column(chosen).null_count:
        raise Refusal(f"column {chosen!r} of {path} must hold predictions, got missing values")
    return label(table.column(chosen), chosen, np.arange(1, table.num_rows + 1))
