"""Tables of results: one sequence of columns, shown as text or handed over as a DataFrame."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, final

import numpy as np

from multiobs._tables import aligned


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
        cells = [
            [name, *(_shown(name, value) for value in values)]
            for name, values in self.columns.items()
        ]
        words = [
            c
            for c, values in enumerate(self.columns.values())
            if all(isinstance(value, str) for value in values)
        ]
        lines = aligned(list(zip(*cells, strict=True)), words)
        return "\n".join([self.title, *lines, *self.notes])


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
