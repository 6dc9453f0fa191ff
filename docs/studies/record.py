"""What a study writes: numbers for sentences, a table, a picture."""

import csv
import json
from collections.abc import Mapping, Sequence
from pathlib import Path

FOLDER = Path(__file__).parents[1] / "_static" / "studies"
BLUE, ORANGE, GREEN, GREY = "#0072B2", "#D55E00", "#009E73", "0.45"


def write_numbers(name: str, numbers: Mapping[str, str]) -> None:
    """Formatted numbers by name; the page quotes them as ``{{ name.key }}``."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    (FOLDER / f"{name}.json").write_text(json.dumps(dict(numbers), indent=1) + "\n")


def write_table(name: str, head: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Write a table that the page includes."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    with (FOLDER / f"{name}.csv").open("w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(head)
        writer.writerows(rows)


def write_picture(name: str, figure) -> None:
    """Write a picture at twice the size of the page, without the moment it was made."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    figure.savefig(FOLDER / f"{name}.png", dpi=160, metadata={"Software": None})
