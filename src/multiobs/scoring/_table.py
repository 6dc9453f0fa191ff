"""Tables of results: one sequence of columns, shown as text or handed over as a DataFrame."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, final

import numpy as np


@final
@dataclass(frozen=True)
class Columns:
    """Named columns of equal length with a title and notes.

    Examples
    --------
    >>> print(Columns("Scores", {"forecast": ["a", "b"], "score": [1.0, 0.25]}))
    Scores
    forecast  score
    a             1
    b          0.25
    """

    title: str
    columns: Mapping[str, Sequence[Any]]
    notes: tuple[str, ...] = ()

    def to_frame(self) -> Any:
        """Return a pandas DataFrame."""
        import pandas as pd  # an optional package: only this method needs it

        return pd.DataFrame({name: list(values) for name, values in self.columns.items()})

    def __str__(self) -> str:
        cells = {
            name: [name, *(_shown(name, value) for value in values)]
            for name, values in self.columns.items()
        }
        texts = []
        for line in zip(*cells.values(), strict=True):
            parts = []
            for (name, column), cell in zip(cells.items(), line, strict=True):
                width = max(len(each) for each in column)
                words = all(isinstance(value, str) for value in self.columns[name])
                parts.append(cell.ljust(width) if words else cell.rjust(width))
            texts.append("  ".join(parts).rstrip())
        return "\n".join([self.title, *texts, *self.notes])


def _shown(name: str, value: Any) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, (int, np.integer)):
        return f"{int(value):d}"
    if np.isnan(value):
        return "-"
    if name == "p" or name.endswith(" p"):
        return "<1e-4" if value < 1e-4 else f"{value:.4f}"
    return f"{value:.4g}"
