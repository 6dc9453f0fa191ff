"""The command ``multiobs report``."""

import shlex
from typing import Annotated, Any

import typer

from multiobs.cli import options
from multiobs.cli.problems import rows_text
from multiobs.cli.session import Steps, dialect_of, print_json, tell_warnings


def report(
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
    """Fit, check and explain: one HTML page to open, print and send.

    \b
    multiobs report sales.csv --x price --y units -o report.html
    multiobs report air.csv --x Wind,Temp --y Ozone --drop-missing -o ozone.html
    """
    from multiobs.cli.fit import fingerprint, read_rows
    from multiobs.cli.modelling import Settings, fitted
    from multiobs.cli.writing import check_place, write_bytes
    from multiobs.report import STEPS, Positions, Study, build, render

    check_place(out)
    settings = Settings(statistic, sampler, hypothesis, transport, seed)
    with Steps(2 + STEPS) as steps:
        steps.next("reading")
        source, rows = read_rows(
            data, x, y, settings, dialect_of(format_, delimiter, decimal, encoding),
            weights=weights, groups=groups, category=category, drop_missing=drop_missing,
        )  # fmt: skip
        steps.next(f"fitting {rows_text(rows.size)}")
        found = fitted(settings, rows)
        chosen = [("Class", sentence.removeprefix("class: ")) for sentence in found.chosen]
        facts = [*chosen, ("File", source.name), ("Rows in the file", f"{rows.read:,}")]
        if rows.dropped:
            counts = ", ".join(f"{name}: {count:,}" for name, count in rows.missing.items())
            facts.append(("Left out for missing values", f"{rows.dropped:,} rows ({counts})"))
        facts.append(("Fingerprint (SHA-256)", fingerprint(source.path, source.data)))
        assert rows.y is not None
        words = _words(data, x, y, settings, out, groups, weights, category)
        study = Study(
            found.model,
            Positions({name: rows.X[name].to_numpy() for name in rows.X}, rows.kinds, named=True),
            rows.y,
            y_name=", ".join(y),
            source=source.name,
            weights=rows.weights,
            groups=rows.groups,
            level=level,
            seed=seed,
            warnings=found.warnings,
            facts=facts,
            command=shlex.join([*words, *(["--drop-missing"] if drop_missing else [])]),
        )
        page = render(build(study, steps.next))
        write_bytes(page.encode(), out)
    if json and out != "-":
        print_json({"out": out, "bytes": len(page.encode()), "warnings": list(found.warnings)})
        return
    tell_warnings(found.warnings)
    if out != "-":
        typer.echo(f"the report is in {out} ({len(page.encode()) / 1e3:,.0f} kB)")


def _words(
    data: str,
    x: list[str],
    y: list[str],
    settings: Any,
    out: str,
    groups: str | None,
    weights: str | None,
    category: list[str],
) -> list[str]:
    """The command that makes the page again."""
    words = ["multiobs", "report", data]
    for name, values in (("--x", x), ("--y", y), ("--category", category)):
        for value in values:
            words += [name, value]
    single = {
        "--statistic": settings.statistic,
        "--sampler": settings.sampler,
        "--class": settings.hypothesis,
        "--transport": settings.transport,
        "--groups": groups,
        "--weights": weights,
        "--seed": str(settings.seed),
        "--out": out,
    }
    for name, value in single.items():
        if value is not None:
            words += [name, value]
    return words
