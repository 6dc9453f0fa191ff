"""The command ``multiobs fit``."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from multiobs.cli import options
from multiobs.cli.problems import rows_text
from multiobs.cli.session import Steps, caught, dialect_of, print_json, tell_warnings

if TYPE_CHECKING:
    from multiobs.cli.columns import Rows
    from multiobs.cli.formats import Source
    from multiobs.cli.modelling import Settings


def fit(
    data: options.Data,
    x: options.X,
    y: options.Y,
    out: Annotated[
        str | None, typer.Option("--out", "-o", metavar="MODEL", help="Model file to write.")
    ] = None,
    statistic: options.StatisticName = "variance",
    sampler: options.SamplerName = "auto",
    hypothesis: options.ClassName = "line",
    transport: options.TransportName = "auto",
    groups: options.Groups = None,
    weights: options.Weights = None,
    category: options.Categories = [],  # noqa: B006 (typer reads it, nobody changes it)
    drop_missing: options.DropMissing = False,
    level: options.Level = 0.95,
    seed: options.Seed = 0,
    json: options.Json = False,
    format_: options.FormatName = None,
    delimiter: options.Delimiter = None,
    decimal: options.Decimal = ".",
    encoding: options.Encoding = "utf-8",
) -> None:
    """Fit a statistic of y given x to a table, and say what was found.

    \b
    multiobs fit sales.csv --x price --y units -o model.json
    multiobs fit flights.parquet --x hour,carrier --y delay -s ucb:2 --drop-missing
    gunzip -c big.csv.gz | multiobs fit - --x x --y y --json
    """
    # Imported here: numpy, pyarrow and scikit-learn take a second that --help should not.
    from multiobs.cli.modelling import Settings, fitted
    from multiobs.cli.writing import check_place, write_bytes

    if out is not None:
        check_place(out)
    settings = Settings(statistic, sampler, hypothesis, transport, seed)
    with Steps(4) as steps:
        steps.next("reading")
        source, rows = read_rows(
            data, x, y, settings, dialect_of(format_, delimiter, decimal, encoding),
            weights=weights, groups=groups, category=category, drop_missing=drop_missing,
        )  # fmt: skip
        steps.next(f"fitting {rows_text(rows.size)}")
        found = fitted(settings, rows)
        said = list(found.warnings)
        steps.next("intervals")
        with caught(said):
            summary = summary_of(found.model, level)
            told = _told(found.model, rows, summary)
            told["reasons"] = [*found.chosen, *told["reasons"]]
        if out is not None:
            from multiobs import models

            steps.next("writing")
            notes = notes_of(source, rows, y, settings)
            write_bytes(models.dumps(found.model, notes=notes), out)
    if json:
        print_json({**told, "warnings": said, "model": out})
        return
    tell_warnings(said)
    on_stderr = out == "-"  # the model itself is on standard output
    typer.echo("\n".join([*found.chosen, _text(found.model, rows, summary, level)]), err=on_stderr)
    if out is not None and not on_stderr:
        typer.echo(f"\nthe model is in {out}")


def read_rows(
    data: str,
    x: list[str],
    y: list[str],
    settings: "Settings",
    dialect: Any,
    *,
    weights: str | None,
    groups: str | None,
    category: list[str],
    drop_missing: bool,
) -> "tuple[Source, Rows]":
    """Read what a fit needs."""
    from multiobs.cli.columns import Wanted, names_of, take
    from multiobs.cli.formats import open_source

    what = settings.what()
    settings.estimator()  # a wrong option is said before a large file is read
    source = open_source(data, dialect)
    columns = names_of(x, source, "--x")
    wanted = Wanted(
        x=columns,
        y=names_of(y, source, "--y"),
        weights=None if weights is None else source.find(weights, "--weights"),
        groups=None if groups is None else source.find(groups, "--groups"),
        categories=names_of(category, source, "--category"),
        drop_missing=drop_missing,
        label_codes=what.scale is None and what.shift is None,
    )
    return source, take(source, wanted)


def fingerprint(path: Path | None, data: bytes | None) -> str:
    """SHA-256 of the bytes of a table."""
    import hashlib

    if data is not None:
        return hashlib.sha256(data).hexdigest()
    assert path is not None
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def notes_of(source: "Source", rows: "Rows", y: list[str], settings: "Settings") -> dict[str, Any]:
    """What the model file keeps about where it came from."""
    ranges = {
        name: [float(rows.X[name].min()), float(rows.X[name].max())]
        for name, kind in rows.kinds.items()
        if kind != "category"
    }
    return {
        "source": source.name,
        "sha256": fingerprint(source.path, source.data),
        "y": list(y),
        "kinds": dict(rows.kinds),
        "ranges": ranges,
        "rows_read": rows.read,
        "rows_dropped": rows.dropped,
        "statistic": settings.statistic,
        "class": settings.hypothesis,
        "seed": settings.seed,
    }


def _told(model: Any, rows: "Rows", summary: Any) -> dict[str, Any]:
    """The fit for machines."""
    from multiobs.inference import TermSummary

    found: dict[str, Any] = {
        "statistic": repr(model.statistic_),
        "rows": rows.size,
        "rows_dropped": rows.dropped,
        "missing": rows.missing,
        "metasamples": int(model.n_metasamples_),
        "sampler": repr(model.sampler_),
        "reasons": list(model.plan_.reasons),
        "solver": model.plan_.solver,
    }
    if isinstance(summary, TermSummary):
        found["terms"] = [
            {"part": each.part, "name": each.name, "edf": each.edf, "p": each.p_value}
            for each in summary.terms
        ]
    elif summary is not None:
        keys = ("estimate", "standard_error", "t", "p", "low", "high")
        found["terms"] = [
            {"name": name, **dict(zip(keys, map(float, row), strict=True))}
            for name, row in zip(summary.names, summary.table, strict=True)
        ]
    return found


def summary_of(model: Any, level: float) -> Any:
    """Return the table of coefficients, or None for a class that has none."""
    try:
        return model.summary(level=level)
    except AttributeError:
        return None


def _text(model: Any, rows: "Rows", summary: Any, level: float) -> str:
    """The fit for people: the table, what was chosen and why, and a picture."""
    from multiobs.cli.drawn import drawn

    title = f"{model.statistic_!r} of {rows_text(rows.size)}, {model.n_metasamples_:,} metasamples"
    parts = [title if summary is None else str(summary)]
    if rows.dropped:
        counts = ", ".join(f"{name} {count:,}" for name, count in rows.missing.items())
        parts.append(
            f"{rows_text(rows.dropped)} of {rows.read:,} left out for missing values ({counts})"
        )
    parts.append("What was chosen, and why:\n" + _indented(str(model.plan_)))
    parts.append(drawn(model, rows, level))
    return "\n\n".join(parts)


def _indented(text: str) -> str:
    return "\n".join(f"  {line}" for line in text.splitlines())
