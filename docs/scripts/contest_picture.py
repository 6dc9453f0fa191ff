"""The pictures of the contest: ``python docs/scripts/contest_picture.py``.

Reads the tables of ``python -m benchmarks.contest`` (docs/_static/quality/*_final.csv).  One
picture shows the error of the default on each law divided by that of the oracle and of the better
of the paper's samplers (``--paper``), the other that of the default and of ``estimator="auto"``
divided by that of the peer that is best on the law; each has one panel for each number of rows.
"""

import csv
from math import isfinite
from pathlib import Path

import matplotlib.pyplot as plt

TABLES = Path(__file__).parents[1] / "_static" / "quality"
COLOURS = (("#0072B2", "o"), ("#D55E00", "D"))
FURTHEST = (0.1, 10.0)  # ratios beyond are drawn here
# name of the table: which of ours, ratio, its error, and what is written about it
SHOWN = {
    "paper": (
        ("default", "over paper", "paper error", "default / better of sliding and nearby"),
        ("default", "over oracle", "oracle error", "default / oracle that knows the mean"),
    ),
    "contest": (
        ("default", "over peer", "error", "default (a line) / best peer of the law"),
        ("auto", "over peer", "error", 'estimator="auto" / best peer of the law'),
    ),
}


def draw(name: str) -> None:
    """Draw one table."""
    with (TABLES / f"{name}_final.csv").open() as file:
        lines = list(csv.DictReader(file))
    rows = sorted({int(line["rows"]) for line in lines})
    laws = list(dict.fromkeys(line["law"] for line in lines))
    size = (4 + 3 * len(rows), 0.22 * len(laws) + 1.4)
    fig, axes = plt.subplots(
        1, len(rows), figsize=size, sharey=True, squeeze=False, layout="constrained"
    )
    for ax, n in zip(axes[0], rows, strict=True):
        ax.axvline(1.0, color="black", lw=0.8)
        trials = [int(line["trials"]) for line in lines if int(line["rows"]) == n]
        told = f"{min(trials)}" if min(trials) == max(trials) else f"{min(trials)}-{max(trials)}"
        for (ours, key, error, label), (colour, marker) in zip(SHOWN[name], COLOURS, strict=True):
            ax.plot([], [], marker, color=colour, ms=4.5, label=label)
            for line in lines:
                value = float(line[key])
                if line["ours"] != ours or int(line["rows"]) != n or not isfinite(value):
                    continue
                height, spread = -laws.index(line["law"]), 1 + float(line[error])
                shown = min(max(value, FURTHEST[0]), FURTHEST[1])
                ax.plot([shown / spread, shown * spread], [height] * 2, color=colour, lw=0.8)
                ax.plot(shown, height, marker, color=colour, ms=4.5)
        ax.set(xscale="log", xlim=(FURTHEST[0] * 0.9, FURTHEST[1] * 1.1))
        ax.set_title(f"{n} rows, {told} data sets", fontsize=9)
        ax.set_xticks([0.1, 0.2, 0.5, 1, 2, 5, 10], ["≤ 0.1", "0.2", "0.5", "1", "2", "5", "≥ 10"])
        ax.set_xticks([], minor=True)
    axes[0, 0].set_yticks([-at for at in range(len(laws))], laws, fontsize=8)
    handles, labels = axes[0, 0].get_legend_handles_labels()
    fig.legend(handles, labels, loc="outside upper left", ncols=2, frameon=False, fontsize=8)
    fig.supxlabel(
        "ratio of mean squared errors (left of 1: ours is smaller); bars: a standard error",
        fontsize=8,
    )
    fig.savefig(TABLES / f"{name}.png", dpi=160)


if __name__ == "__main__":
    for each in SHOWN:
        draw(each)
