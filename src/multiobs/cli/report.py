"""The command ``multiobs report``."""

import shlex
from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from multiobs.cli import options
from multiobs.cli.asking import Asked, fit_table
from multiobs.cli.session import Steps, caught, dialect_of, print_json, tell_warnings

if TYPE_CHECKING:
    from multiobs.cli.modelling import Settings

LEVEL = 0.95


def report(
    *,
    data: options.Data,
    x: options.X,
    y: options.Y,
    out: Annotated[
        str, typer.Option("--out", "-o", metavar="PAGE", help="HTML file to write; - is stdout.")
    ],
    statistic: options.StatisticName = "variance",
    sampler: options.SamplerName = "auto",
    hypothesis: options.ClassName = "line",
    transport: options.TransportName = "auto",
    groups: options.Groups = None,
    weights: options.Weights = None,
    clusters: options.Clusters = None,
    category: options.Categories = [],  # noqa: B006 (typer reads it, nobody changes it)
    drop_missing: options.DropMissing = False,
    level: options.Level = LEVEL,
    seed: options.Seed = 0,
    json: options.Json = False,
    format_: options.FormatName = None,
    delimiter: options.Delimiter = None,
    decimal: options.Decimal = ".",
    encoding: options.Encoding = "utf-8",
) -> None:
    """Fit, check and explain: one HTML page to open, print and send.

    \b
    multiobs report sales.csv --x price --y units -o report.html
    multiobs report air.csv --x Wind,Temp --y Ozone --drop-missing -o ozone.html
    """
    import numpy as np

    from multiobs.cli.fit import fingerprint
    from multiobs.cli.modelling import Settings
    from multiobs.cli.writing import check_place, write_bytes
    from multiobs.report import STEPS, Positions, Study, build, render

    check_place(out)
    settings = Settings(statistic, sampler, hypothesis, transport, seed)
    dialect = dialect_of(format_, delimiter, decimal, encoding)
    asked = Asked(
        data, x, y, dialect, weights, groups, clusters, tuple(category), drop_missing
    )  # fmt: skip
    with Steps(2 + STEPS) as steps:
        source, rows, found = fit_table(asked, settings, steps)
        chosen = [("Class", sentence.removeprefix("class: ")) for sentence in found.chosen]
        facts = [*chosen, ("File", source.name), ("Rows in the file", f"{rows.read:,}")]
        if rows.dropped:
            counts = ", ".join(f"{name}: {count:,}" for name, count in rows.missing.items())
            facts.append(("Left out for missing values", f"{rows.dropped:,} rows ({counts})"))
        facts.append(("Fingerprint (SHA-256)", fingerprint(source.path, source.data)))
        assert rows.y is not None
        study = Study(
            found.model,
            Positions({name: rows.X[name].to_numpy() for name in rows.X}, rows.kinds, named=True),
            rows.y,
            y_name=", ".join(y),
            source=source.name,
            weights=rows.weights,
            groups=rows.groups,
            clusters=asked.clusters_of(rows),
            level=level,
            seed=seed,
            warnings=found.warnings,
            facts=facts,
            command=shlex.join(_words(asked, settings, out, level)),
            numbers=np.flatnonzero(rows.kept) + 1,
        )
        said = list(found.warnings)
        with caught(said):
            page = render(build(study, steps.next))
        write_bytes(page.encode(), out)
    if json and out != "-":
        print_json({"out": out, "bytes": len(page.encode()), "warnings": said})
        return
    tell_warnings(said)
    if out != "-":
        typer.echo(f"the report is in {out} ({len(page.encode()) / 1e3:,.0f} kB)")


def _words(asked: Asked, settings: "Settings", out: str, level: float) -> list[str]:
    """The command that makes the page again."""
    words = ["multiobs", "report", asked.data]
    several: dict[str, Sequence[str]] = {
        "--x": asked.x,
        "--y": asked.y,
        "--category": asked.category,
    }
    for name, values in several.items():
        for value in values:
            words += [name, value]
    dialect = asked.dialect
    single = {
        "--statistic": settings.statistic,
        "--sampler": settings.sampler,
        "--class": settings.hypothesis,
        "--transport": settings.transport,
        "--groups": asked.groups,
        "--weights": asked.weights,
        "--clusters": asked.clusters,
        "--level": None if level == LEVEL else f"{level:g}",
        "--seed": str(settings.seed),
        "--format": dialect.format,
        "--delimiter": dialect.delimiter,
        "--decimal": None if dialect.decimal == "." else dialect.decimal,
        "--encoding": None if dialect.encoding == "utf-8" else dialect.encoding,
        "--out": out,
    }
    for name, given in single.items():
        if given is not None:
            words += [name, given]
    return [*words, "--drop-missing"] if asked.drop_missing else words
