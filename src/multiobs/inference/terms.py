r"""One line and one picture for each term of a smooth class.

A term is tested by the robust score test: fit without it, take the gradient in its directions
there, and compare it with its variance under shared labels.  Directions count by their smoothness,
:math:`Q = \sum_c U_c^2 / (a_c + \lambda_0)` with about four effective directions, so that one
smooth departure is seen among many columns; Q is a weighted sum of chi-squares, matched by its
first two moments.  Weights by an estimated precision leave out what the tested columns say of it.
"""

from dataclasses import dataclass, replace
from html import escape
from typing import Any, Literal, final

import numpy as np
from scipy import linalg, special

from multiobs._tables import aligned
from multiobs._types import FloatArray, IntArray
from multiobs.fit.penalised import RowProblem, Variance, inverse, roughness, settle
from multiobs.inference.additive import AdditiveFit, Part
from multiobs.inference.hypotheses import TestResult
from multiobs.inference.intervals import quantile

DIRECTIONS = 4.0  # effective ones of a term's test
ROUNDS = 50  # of moving tuples along the fit without the term


@final
@dataclass(frozen=True)
class TermTest:
    """How much a term bends and whether it is needed.

    Attributes
    ----------
    part, name : str
        Statistic of the part, and the term.
    edf : float
        Effective degrees of freedom.
    statistic, df : float
        Score statistic and the degrees of freedom of its chi-square.
    p_value : float
        Of the hypothesis that the term is zero.

    Examples
    --------
    >>> import numpy as np
    >>> from multiobs import MultiObservationRegressor
    >>> x = np.linspace(0, 1, 300)[:, None]
    >>> y = np.random.default_rng(0).normal(scale=np.exp(x[:, 0]))
    >>> model = MultiObservationRegressor("variance", features="smooth").fit(x, y)
    >>> model.summary().terms[0].p_value < 0.001
    True
    """

    part: str
    name: str
    edf: float
    statistic: float
    df: float
    p_value: float


@final
@dataclass(frozen=True)
class PartialEffect:
    """A term as a function of its column, with a pointwise band, on the scale of the link.

    Attributes
    ----------
    part, name, column, link : str
        Statistic of the part, the term, its column, and the part's link.
    drawn : {"curve", "points"}
        Whether x is a number or a level.
    x : ndarray (q,)
        Values of the column; level codes 0, 1, … of a category.
    effect, low, high : ndarray (q,)
        The term, of mean zero over the rows, and its limits.

    Examples
    --------
    >>> import numpy as np
    >>> from multiobs import MultiObservationRegressor
    >>> x = np.linspace(0, 1, 300)[:, None]
    >>> y = np.random.default_rng(0).normal(scale=np.exp(x[:, 0]))
    >>> model = MultiObservationRegressor("variance", features="smooth").fit(x, y)
    >>> (effect,) = model.partial_effects()
    >>> effect.name, bool(np.all(effect.low < effect.high))
    ('s(x0)', True)
    """

    part: str
    name: str
    column: str
    link: str
    drawn: Literal["curve", "points"]
    x: FloatArray
    effect: FloatArray
    low: FloatArray
    high: FloatArray


def term_tests(fitted: AdditiveFit) -> list[TermTest]:
    """Test each term of each part.

    Parameters
    ----------
    fitted : AdditiveFit
        The fit.
    """
    out = []
    for part in fitted.parts:
        edf = part.fit.edf
        for at, term in enumerate(part.design.terms):
            columns = np.flatnonzero(part.design.blocks == at)
            value, df = score_statistic(part, columns)
            name, used = part.statistic.title, float(edf[columns].sum())
            out.append(TermTest(name, term.name, used, value, df, p_value(value, df)))
    return out


def score_statistic(part: Part, columns: IntArray) -> tuple[float, float]:
    """Score statistic of some columns of a part, and the degrees of freedom of its chi-square."""
    kept = np.setdiff1d(np.arange(part.fit.w.size), columns)
    rows, variance_at = part.weighed_without(columns)
    # the other terms keep their smoothness; what the tested one explained must not bend them
    without = replace(rows, Z=rows.Z[:, kept], groups=rows.groups[kept])
    start = without.start()
    if start is None:
        return 0.0, 0.0
    ridge = part.fit.ridge[kept]
    inner, _ = settle(without, ridge, start, ROUNDS)
    return score_of(rows, variance_at, columns, inner, ridge).statistic()


@final
@dataclass(frozen=True)
class Score:
    """Gradient in directions that are not in a fit, at that fit.

    Attributes
    ----------
    gradient : ndarray (k,)
        In each direction.
    variance : ndarray (k, k)
        Of the gradient, the fit's own estimation taken out.
    curvature : ndarray (k,)
        Diagonal of the expected Hessian.
    groups : ndarray of int (k,)
        Penalty group of each direction.
    """

    gradient: FloatArray
    variance: FloatArray
    curvature: FloatArray
    groups: IntArray

    def of_groups(self, *chosen: int) -> "Score":
        """Return the score in the directions of some penalty groups."""
        at = np.flatnonzero(np.isin(self.groups, chosen))
        within = self.variance[np.ix_(at, at)]
        return Score(self.gradient[at], within, self.curvature[at], self.groups[at])

    def statistic(self) -> tuple[float, float]:
        """Score statistic and the degrees of freedom of its chi-square."""
        scale = np.zeros(self.groups.size)
        for group in np.unique(self.groups):
            inside = self.groups == group
            a = self.curvature[inside]
            scale[inside] = 1.0 / (a + roughness(a, DIRECTIONS))
        root = np.sqrt(scale)
        weights = linalg.eigvalsh(self.variance * np.outer(root, root))
        first, second = float(weights.sum()), float(np.sum(weights**2))
        if not first > 0:
            return 0.0, 0.0
        return float(self.gradient**2 @ scale) * first / second, first**2 / second


def score_of(
    rows: RowProblem, variance_at: Variance, columns: IntArray, inner: FloatArray, ridge: FloatArray
) -> Score:
    """Gradient in the directions of some columns at the fit of the others.

    Parameters
    ----------
    rows : RowProblem
        All columns.
    variance_at : callable
        Variance of their gradient.
    columns : ndarray of int (k,)
        Which are tested.
    inner, ridge : ndarray (p - k,)
        Coefficients and penalties of the others.
    """
    kept = np.setdiff1d(np.arange(rows.groups.size), columns)
    w = np.zeros(rows.groups.size)
    w[kept] = inner
    U = rows.at(w).gradient(rows.loss, w)
    A = rows.information(w)
    held = inverse(A[np.ix_(kept, kept)], ridge)
    bread = np.zeros_like(A)
    bread[np.ix_(kept, kept)] = held
    V = variance_at(w, bread)
    across = np.zeros((columns.size, w.size))
    across[:, columns] = np.eye(columns.size)
    across[:, kept] = -A[np.ix_(columns, kept)] @ held
    spread = across @ V @ across.T
    return Score(U[columns], spread, np.diag(A)[columns], rows.groups[columns])


def p_value(value: float, df: float) -> float:
    """Of a chi-square; one where there is nothing to test."""
    return float(special.chdtrc(df, max(value, 0.0))) if df > 0 else 1.0


def partial_effects(
    fitted: AdditiveFit, X: FloatArray, level: float, n_points: int
) -> list[PartialEffect]:
    """Evaluate every term of one column, or of one category, over the range of the rows.

    Parameters
    ----------
    fitted : AdditiveFit
        The fit.
    X : ndarray (n, d)
        Positions of the rows.
    level : float
        Nominal pointwise coverage.
    n_points : int
        Values of each numeric column.
    """
    q = quantile(level, np.inf)
    out = []
    for part in fitted.parts:
        for at, term in enumerate(part.design.terms):
            if term.drawn is None:
                continue
            x, positions = term.grid(X, n_points)
            z = np.zeros((x.size, part.fit.w.size))
            z[:, part.design.blocks == at] = term.columns(positions)
            effect, error = z @ part.fit.w, part.curve.errors(z)
            words = (part.statistic.title, term.name, term.label, part.loss.link)
            low, high = effect - q * error, effect + q * error
            out.append(PartialEffect(*words, term.drawn, x, effect, low, high))
    return out


def constant_test(fitted: AdditiveFit) -> TestResult:
    """Test that the statistic is constant, by the score statistic of all columns but the constant.

    Parameters
    ----------
    fitted : AdditiveFit
        Of one part.
    """
    if len(fitted.parts) > 1:
        raise ValueError(
            f"test_constant needs a class of one part, got {fitted.statistic!r} with "
            f"{len(fitted.parts)}: summary() tests the terms of each"
        )
    part = fitted.parts[0]
    columns = np.flatnonzero(part.design.blocks >= 0)
    if columns.size == 0:
        raise ValueError("the features must vary over the rows, got constant ones only")
    value, df = score_statistic(part, columns)
    name = f"{fitted.statistic!r} is constant in x"
    return TestResult(name, value / max(df, 1e-300), max(round(df), 1), np.inf, p_value(value, df))


@final
@dataclass(frozen=True)
class TermSummary:
    """A line for each term of a smooth class; ``print`` it, or take ``.to_frame()``.

    Attributes
    ----------
    title : str
        What was estimated.
    facts : tuple of (str, str)
        Rows, metasamples, status, …
    terms : tuple of TermTest
        The lines.
    notes : tuple of str
        What to keep in mind.

    Examples
    --------
    >>> import numpy as np
    >>> from multiobs import MultiObservationRegressor
    >>> x = np.linspace(0, 1, 300)[:, None]
    >>> y = np.random.default_rng(0).normal(scale=np.exp(x[:, 0]))
    >>> model = MultiObservationRegressor("variance", features="smooth").fit(x, y)
    >>> [term.name for term in model.summary().terms]
    ['s(x0)']
    """

    title: str
    facts: tuple[tuple[str, str], ...]
    terms: tuple[TermTest, ...]
    notes: tuple[str, ...]

    def to_frame(self) -> Any:
        """Return the lines as a pandas data frame, indexed by part and term."""
        import pandas as pd

        columns = ["part", "term", "edf", "chi2", "df", "p_value"]
        rows = [(t.part, t.name, t.edf, t.statistic, t.df, t.p_value) for t in self.terms]
        return pd.DataFrame(rows, columns=columns).set_index(["part", "term"])

    def __str__(self) -> str:
        facts = aligned([(key, value) for key, value in self.facts], left=(0, 1))
        body = aligned(self.cells(), left=(0, 1))
        total = max(len(line) for line in [*facts, *body, self.title])
        rule, thin = "=" * total, "-" * total
        head = [self.title, rule, *facts, thin, body[0], thin]
        return "\n".join([*head, *body[1:], rule, *self.notes])

    def _repr_html_(self) -> str:
        facts = "".join(
            f"<tr><th>{escape(key)}</th><td>{escape(value)}</td></tr>" for key, value in self.facts
        )
        head, *rows = (
            "".join(f"<td>{escape(cell)}</td>" for cell in line) for line in self.cells()
        )
        body = "".join(f"<tr>{row}</tr>" for row in (head, *rows))
        notes = "".join(f"<p>{escape(note)}</p>" for note in self.notes)
        title = escape(self.title)
        return f"<table><caption>{title}</caption>{facts}</table><table>{body}</table>{notes}"

    def cells(self) -> list[tuple[str, ...]]:
        """Return the table as texts, its head first."""
        rows = [
            (
                t.part,
                t.name,
                f"{t.edf:.2f}",
                f"{t.statistic:.2f}",
                f"{t.df:.1f}",
                f"{t.p_value:.3g}",
            )
            for t in self.terms
        ]
        return [("part", "term", "edf", "chi2", "df", "P>chi2"), *rows]
