"""A table of coefficients in the manner of statsmodels, as text, HTML or a data frame."""

from dataclasses import dataclass
from html import escape
from typing import Any, final

import numpy as np
from scipy import special

from multiobs._tables import aligned
from multiobs._types import FloatArray
from multiobs.inference.intervals import quantile

COLUMNS = ("coef", "std err", "t", "P>|t|", "low", "high")


@final
@dataclass(frozen=True)
class Summary:
    """Coefficients with standard errors under shared labels, and the facts of the fit.

    ``print`` it, show it in a notebook, or take ``.to_frame()``.

    Attributes
    ----------
    title : str
        What was estimated.
    facts : tuple of (str, str)
        Rows, metasamples, effective size, epsilon, status, …
    names : tuple of str
        Names of the coefficients.
    table : ndarray (p, 6)
        Coefficient, standard error, t, p-value and confidence limits.
    level : float
        Nominal coverage of the limits.
    notes : tuple of str
        What to keep in mind.
    shrunken : ndarray (p,) or None
        The coefficients that predictions use, where they were shrunk.

    Examples
    --------
    >>> import numpy as np
    >>> from multiobs import MultiObservationRegressor
    >>> x = np.linspace(0, 1, 200)[:, None]
    >>> y = np.random.default_rng(0).normal(scale=1 + x[:, 0])
    >>> model = MultiObservationRegressor("variance").fit(x, y)
    >>> summary = model.summary()
    >>> summary.names, summary.table.shape
    (('intercept', 'x0'), (2, 6))
    """

    title: str
    facts: tuple[tuple[str, str], ...]
    names: tuple[str, ...]
    table: FloatArray
    level: float
    notes: tuple[str, ...] = ()
    shrunken: FloatArray | None = None

    def to_frame(self) -> Any:
        """Return the coefficients as a pandas data frame, indexed by name."""
        import pandas as pd

        frame = pd.DataFrame(self.table, index=list(self.names), columns=list(COLUMNS))
        return frame if self.shrunken is None else frame.assign(shrunk=self.shrunken)

    def __str__(self) -> str:
        named = zip(("", *self.names), self._cells(), strict=True)
        body = aligned([(name, *row) for name, row in named])
        total = max(len(body[0]), len(self.title), self._facts_width())
        rule, thin = "=" * total, "-" * total
        head = [self.title.center(total).rstrip(), rule, *self._fact_lines(total), thin]
        return "\n".join([*head, body[0], thin, *body[1:], rule, *self.notes])

    def _repr_html_(self) -> str:
        cells = self._cells()
        facts = "".join(
            f"<tr><th>{escape(key)}</th><td>{escape(value)}</td></tr>" for key, value in self.facts
        )
        head = "".join(f"<th>{escape(cell)}</th>" for cell in cells[0])
        rows = "".join(
            f"<tr><th>{escape(name)}</th>" + "".join(f"<td>{cell}</td>" for cell in row) + "</tr>"
            for name, row in zip(self.names, cells[1:], strict=True)
        )
        notes = "".join(f"<p>{escape(note)}</p>" for note in self.notes)
        return (
            f"<table><caption>{escape(self.title)}</caption>{facts}</table>"
            f"<table><tr><th></th>{head}</tr>{rows}</table>{notes}"
        )

    def _cells(self) -> list[list[str]]:
        ends = (1 - self.level) / 2
        head = [*COLUMNS[:4], f"[{ends:.3g}", f"{1 - ends:.4g}]"]
        rows = [
            [
                f"{coef:.4g}",
                f"{error:.3g}",
                f"{t:.3f}",
                f"{p:.3f}",
                f"{low:.4g}",
                f"{high:.4g}",
            ]
            for coef, error, t, p, low, high in self.table
        ]
        if self.shrunken is not None:
            head.append("shrunk")
            for row, value in zip(rows, self.shrunken, strict=True):
                row.append(f"{value:.4g}")
        return [head, *rows]

    def _facts_width(self) -> int:
        return 2 * max(len(key) + len(value) + 2 for key, value in self.facts) + 3

    def _fact_lines(self, total: int) -> list[str]:
        half = (total - 3) // 2
        texts = [f"{key}:{value:>{max(half - len(key) - 1, 1)}}" for key, value in self.facts]
        if len(texts) % 2:
            texts.append("")
        middle = len(texts) // 2
        pairs = zip(texts[:middle], texts[middle:], strict=True)
        return [f"{left:<{half}}   {right}".rstrip() for left, right in pairs]


def coefficient_table(
    estimate: FloatArray, cov: FloatArray, df: float | FloatArray, level: float
) -> FloatArray:
    """Coefficient, standard error, t, p-value and limits of each coefficient, (p, 6).

    >>> coefficient_table(np.array([2.0]), np.eye(1), np.inf, 0.95).round(2)
    array([[2.  , 1.  , 2.  , 0.05, 0.04, 3.96]])
    """
    error = np.sqrt(np.maximum(np.diag(cov), 0.0))
    with np.errstate(all="ignore"):
        t = estimate / error
    p = 2.0 * special.stdtr(df, -np.abs(t))
    q = quantile(level, df)
    return np.stack([estimate, error, t, p, estimate - q * error, estimate + q * error], axis=1)


def range_of(values: FloatArray) -> str:
    """Return the smallest and the largest of some numbers, in words.

    >>> range_of(np.array([2.0, 11.04])), range_of(np.array([11.04, 11.0]))
    ('2.0 to 11.0', '11.0')
    """
    low, high = (f"{float(end):.1f}" for end in (np.min(values), np.max(values)))
    return low if low == high else f"{low} to {high}"
