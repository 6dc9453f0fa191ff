"""The picture that leads the page on quality: ``python docs/scripts/quality_picture.py``.

Reads the tables that ``make quality`` wrote (docs/_static/quality/quality_*.txt) and shows, for
each statistic, the error of the defaults divided by that of each other method: the geometric mean
over the laws, and the law that is worst for us.
"""

import re
from pathlib import Path

import matplotlib.pyplot as plt

TABLES = Path(__file__).parents[1] / "_static" / "quality"
SHOWN = {
    "quality_variance.txt": "variance",
    "quality_ucb8.txt": "upper confidence bound",
    "quality_minvar.txt": "MINVAR",
    "quality_gini.txt": "Gini's mean difference",
    "quality_wide.txt": "variance, 2 to 20 columns",
}
LEAST = 0.02  # smaller ratios are drawn here


def ratios(path: Path) -> dict[str, tuple[float, float]]:
    """Geometric mean and worst ratio of each method of a table."""
    lines = path.read_text().splitlines()
    names = re.split(r"\s{2,}", next(line for line in lines if line.startswith("law")).strip())[2:]
    rows = {}
    for kind in ("geometric mean", "worst"):
        line = next(line for line in lines if line.startswith(kind))
        rows[kind] = [float(v) for v in re.findall(r"(?<![\d.])\d+\.\d+", line)]
    return {
        name: (mean, worst)
        for name, mean, worst in zip(names, rows["geometric mean"], rows["worst"], strict=True)
    }


def main() -> None:
    found = {title: ratios(TABLES / name) for name, title in SHOWN.items()}
    total = sum(len(each) for each in found.values()) + len(found)
    fig, ax = plt.subplots(figsize=(8, 0.21 * total + 0.8), layout="constrained")
    height, ticks, labels = 0.0, [], []
    for title, each in found.items():
        ax.text(LEAST, height, title, fontweight="bold", va="center")
        height -= 1
        for name, (mean, worst) in sorted(each.items(), key=lambda item: item[1]):
            low, high = max(mean, LEAST), max(worst, LEAST)
            colour = "#7F7F7F" if name == "oracle" else "#0072B2"
            ax.plot([low, high], [height, height], color=colour, lw=1)
            ax.plot(low, height, "o", color=colour, ms=6)
            ax.plot(high, height, "|", color=colour, ms=9)
            ticks.append(height)
            labels.append(name)
            height -= 1
    ax.axvline(1.0, color="black", lw=0.8)
    ax.set(xscale="log", xlim=(LEAST * 0.9, 2.2), ylim=(height, 1), yticks=ticks)
    ax.set_yticklabels(labels, fontsize=8)
    ax.set_xticks(
        [0.02, 0.05, 0.1, 0.2, 0.5, 1, 2], ["≤ 0.02", "0.05", "0.1", "0.2", "0.5", "1", "2"]
    )
    ax.set_xlabel(
        "error of the defaults / error of the other (left of 1: ours is smaller)\n"
        "dot: geometric mean over the laws; bar: the law that is worst for us"
    )
    fig.savefig(TABLES / "quality.png", dpi=160)


if __name__ == "__main__":
    main()
