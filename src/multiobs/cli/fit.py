"""The command ``multiobs fit``."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from multiobs.cli import options
from multiobs.cli.asking import Asked, fit_table
from multiobs.cli.problems import rows_text
from multiobs.cli.session import Steps, caught, dialect_of, print_json, tell_warnings

if TYPE_CHECKING:
    from multiobs.cli.columns import FileRows
    from multiobs.cli.modelling import Settings
    from multiobs.cli.source import OpenedTable


def fit(
    *,
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
    clusters: options.Clusters = None,
    category: options.Categories = [],  # noqa: B006 (typer reads it, nobody changes it)
    drop_missing: options.DropMissing = False,
    level: options.Level = 0.95,
    seed: options.Seed = 0,
    memory: options.Memory = "400MB",
    bootstrap: options.Bootstrap = 50,
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
    from multiobs.cli.drawn import drawn
    from multiobs.cli.modelling import Settings
    from multiobs.cli.writing import check_place, write_bytes
    from multiobs.scale import bytes_of

    if out is not None:
        check_place(out)
    settings = Settings(statistic, sampler, hypothesis, transport, seed)
    dialect = dialect_of(format_, delimiter, decimal, encoding)
    asked = Asked(
        data, x, y, dialect, weights, groups, clusters, tuple(category), drop_missing
    )  # fmt: skip
    with Steps(4) as steps:
        source, rows, found = fit_table(asked, settings, steps, bytes_of(memory))
        said = list(found.warnings)
        steps.next("intervals")
        dependent = asked.clusters_of(rows)
        with caught(said):
            summary = summary_of(found.model, level, dependent)
            told = _told(found.model, rows, summary)
            told["reasons"] = [*found.chosen, *told["reasons"]]
        if out is not None:
            from multiobs import models

            steps.next("writing")
            notes = notes_of(source, rows, y, settings)
            kept = models.dumps(found.model, notes=notes, clusters=dependent, n_bootstrap=bootstrap)
            write_bytes(kept, out)
    if json:
        print_json({**told, "warnings": said, "model": out})
        return
    with caught(said):
        picture = drawn(found.model, rows, level, dependent)
    tell_warnings(said)
    on_stderr = out == "-"  # the model itself is on standard output
    text = _text(found.model, rows, summary, picture)
    typer.echo("\n".join([*found.chosen, text]), err=on_stderr)
    if out is not None and not on_stderr:
        typer.echo(f"\nthe model is in {out}")


def fingerprint(path: Path | None, data: bytes | None) -> str:
    """SHA-256 of the bytes of a table."""
    import hashlib

    if data is not None:
        return hashlib.sha256(data).hexdigest()
    assert path is not None
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def notes_of(
    source: "OpenedTable", rows: "FileRows", y: list[str], settings: "Settings"
) -> dict[str, Any]:
    """What the model file keeps about where it came from."""
    return {
        "source": source.name,
        "sha256": fingerprint(source.path, source.data),
        "y": list(y),
        "kinds": dict(rows.kinds),
        "ranges": {name: list(ends) for name, ends in rows.ranges.items()},
        "rows_read": rows.read,
        "rows_dropped": rows.dropped,
        "statistic": settings.statistic,
        "class": settings.hypothesis,
        "seed": settings.seed,
    }


def _told(model: Any, rows: "FileRows", summary: Any) -> dict[str, Any]:
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
        if summary.shrunken is not None:  # what predictions use
            for term, value in zip(found["terms"], summary.shrunken, strict=True):
                term["shrunk"] = float(value)
    return found


def summary_of(model: Any, level: float, clusters: Any = None) -> Any:
    """Return the table of coefficients, or None for a class that has none."""
    try:
        return model.summary(level=level, clusters=clusters)
    except AttributeError:
        return None


def _text(model: Any, rows: "FileRows", summary: Any, picture: str) -> str:
    """The fit for people: the table, what was chosen and why, and a picture."""
    title = f"{model.statistic_!r} of {rows_text(rows.size)}, {model.n_metasamples_:,} metasamples"
    parts = [title if summary is None else str(summary)]
    if rows.dropped:
        counts = ", ".join(f"{name} {count:,}" for name, count in rows.missing.items())
        parts.append(
            f"{rows_text(rows.dropped)} of {rows.read:,} left out for missing values ({counts})"
        )
    parts.append("What was chosen, and why:\n" + _indented(str(model.plan_)))
    parts.append(picture)
    return "\n\n".join(parts)


def _indented(text: str) -> str:
    return "\n".join(f"  {line}" for line in text.splitlines())
