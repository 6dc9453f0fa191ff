"""Options that several commands share, once."""

from typing import Annotated

import typer

Data = Annotated[
    str, typer.Argument(metavar="DATA", help="CSV, TSV, Parquet, Arrow or JSON lines; - is stdin.")
]
X = Annotated[
    list[str],
    typer.Option("--x", metavar="COL", help="A column of x; repeat it, or separate by commas."),
]
Y = Annotated[
    list[str], typer.Option("--y", metavar="COL", help="The column of y (two for covariance).")
]
StatisticName = Annotated[
    str,
    typer.Option(
        "--statistic", "-s", help="What to estimate, such as variance, ucb:2 or minvar:4."
    ),
]
SamplerName = Annotated[
    str, typer.Option("--sampler", help="How rows are put together, such as auto or nearby:0.5.")
]
ClassName = Annotated[
    str, typer.Option("--class", help="line, smooth, boosting or auto (by held-out score).")
]
TransportName = Annotated[
    str, typer.Option("--transport", help="auto, location, location-scale or none.")
]
Groups = Annotated[
    str | None, typer.Option("--groups", metavar="COL", help="Metasamples never cross a group.")
]
Clusters = Annotated[
    str | None,
    typer.Option(
        "--clusters",
        metavar="COL",
        help="Rows with the same value depend on each other, which widens the intervals; "
        "'serial' where rows follow each other in x.",
    ),
]
Memory = Annotated[
    str,
    typer.Option(
        "--memory", help="What the rows of a fit may take; larger tables are fitted by parts."
    ),
]
Bootstrap = Annotated[
    int,
    typer.Option(
        "--bootstrap", help="Refits for the intervals of --class boosting; 0 for none of them."
    ),
]
Weights = Annotated[str | None, typer.Option("--weights", metavar="COL", help="Weights of rows.")]
Categories = Annotated[
    list[str],
    typer.Option("--category", metavar="COL", help="Take this column of x as categories."),
]
DropMissing = Annotated[
    bool, typer.Option("--drop-missing", help="Leave out rows with missing values, and count them.")
]
Seed = Annotated[int, typer.Option("--seed", help="Seed of everything that draws.")]
Level = Annotated[float, typer.Option("--level", help="Coverage of the intervals.")]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON object, for machines.")]
FormatName = Annotated[
    str | None,
    typer.Option(
        "--format", help="csv, tsv, parquet, arrow or jsonl, where the name does not say."
    ),
]
Delimiter = Annotated[
    str | None, typer.Option("--delimiter", help="Between cells; found in the header by default.")
]
Column = Annotated[
    str | None,
    typer.Option("--column", metavar="COL", help="The column of predictions in their files."),
]
MaybeX = Annotated[
    list[str], typer.Option("--x", metavar="COL", help="Columns of x; those of the model if given.")
]
MaybeY = Annotated[
    list[str], typer.Option("--y", metavar="COL", help="Column of y; that of the model if given.")
]
MaybeStatistic = Annotated[
    str | None, typer.Option("--statistic", "-s", help="What was predicted; that of the model.")
]
Decimal = Annotated[str, typer.Option("--decimal", help="The decimal point of text files.")]
Encoding = Annotated[str, typer.Option("--encoding", help="Of text files.")]
