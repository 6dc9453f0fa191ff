r"""Additive classes of smooth functions: columns whose penalties are plain ridges.

A spline term is written in the Demmler-Reinsch basis of its column: functions that are orthogonal
over the rows, the constant left out, ordered by roughness :math:`\int f''^2` and scaled so that
their roughness is one.  Its straight part is one column more.  Then every penalty of the model is
a sum of squared coefficients of some columns, and each group of columns has its own smoothness: the
curvature of a term, its straight part, the levels of a category, the parts of an interaction.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from typing import Literal, final

import numpy as np
from scipy import linalg

from multiobs._types import FloatArray, IntArray
from multiobs.transport.basis import SplineAxis, spline_axis

FEW_VALUES = 4  # a column of fewer distinct values is a line
TENSOR_COLUMNS = 5  # of each margin of an interaction


class SmoothTerm(ABC):
    """One term of an additive class."""

    @property
    @abstractmethod
    def name(self) -> str:
        """How the term is called in tables."""

    @property
    @abstractmethod
    def label(self) -> str:
        """Name of its column or columns."""

    @property
    @abstractmethod
    def inputs(self) -> tuple[int, ...]:
        """Columns of X that the term looks at."""

    @property
    @abstractmethod
    def groups(self) -> IntArray:
        """Penalty group of each of the term's columns, counted from zero, (k,)."""

    @property
    @abstractmethod
    def drawn(self) -> Literal["curve", "points"] | None:
        """How it is drawn: over a column, over levels, or not at all."""

    @abstractmethod
    def grid(self, X: FloatArray, n_points: int) -> tuple[FloatArray, FloatArray]:
        """Values (q,) to draw a drawable term at, and positions (q, d) that have them."""

    @abstractmethod
    def columns(self, X: FloatArray) -> FloatArray:
        """Columns (n, k) at positions X (n, d), of mean zero over the rows of the fit."""


@final
@dataclass(frozen=True)
class LineTerm(SmoothTerm):
    """A straight line in one column."""

    of: str
    column: int
    centre: float
    spread: float

    @property
    def name(self) -> str:
        return self.of

    @property
    def label(self) -> str:
        return self.of

    @property
    def inputs(self) -> tuple[int, ...]:
        return (self.column,)

    @property
    def groups(self) -> IntArray:
        return np.zeros(1, dtype=np.int64)

    @property
    def drawn(self) -> Literal["curve", "points"] | None:
        return "curve"

    def grid(self, X: FloatArray, n_points: int) -> tuple[FloatArray, FloatArray]:
        return _along(X, self.column, n_points)

    def columns(self, X: FloatArray) -> FloatArray:
        return (X[:, [self.column]] - self.centre) / self.spread


@final
@dataclass(frozen=True)
class SplineTerm(SmoothTerm):
    """A cubic spline in one column: a straight part and curved parts of unit roughness."""

    of: str
    column: int
    axis: SplineAxis
    basis: FloatArray  # (B-splines, 1 + curved parts)
    centre: FloatArray  # means over the rows

    @property
    def name(self) -> str:
        return f"s({self.of})"

    @property
    def label(self) -> str:
        return self.of

    @property
    def inputs(self) -> tuple[int, ...]:
        return (self.column,)

    @property
    def groups(self) -> IntArray:
        return np.concatenate([[1], np.zeros(self.basis.shape[1] - 1)]).astype(np.int64)

    @property
    def drawn(self) -> Literal["curve", "points"] | None:
        return "curve"

    def grid(self, X: FloatArray, n_points: int) -> tuple[FloatArray, FloatArray]:
        return _along(X, self.column, n_points)

    def columns(self, X: FloatArray) -> FloatArray:
        return self.axis.design(X[:, self.column]) @ self.basis - self.centre


@final
@dataclass(frozen=True)
class LevelsTerm(SmoothTerm):
    """A level for each category, all shrunk alike: no category is the reference.

    The indicators of all categories but the first are columns of X.
    """

    of: str
    indicators: tuple[int, ...]
    centre: FloatArray

    @property
    def name(self) -> str:
        return self.of

    @property
    def label(self) -> str:
        return self.of

    @property
    def inputs(self) -> tuple[int, ...]:
        return self.indicators

    @property
    def groups(self) -> IntArray:
        return np.zeros(len(self.indicators) + 1, dtype=np.int64)

    @property
    def drawn(self) -> Literal["curve", "points"] | None:
        return "points"

    def grid(self, X: FloatArray, n_points: int) -> tuple[FloatArray, FloatArray]:
        count = len(self.indicators) + 1
        positions = np.zeros((count, X.shape[1]))
        positions[np.arange(1, count), list(self.indicators)] = 1.0
        return np.arange(count, dtype=np.float64), positions

    def columns(self, X: FloatArray) -> FloatArray:
        others = X[:, list(self.indicators)]
        return np.column_stack([1.0 - others.sum(axis=1), others]) - self.centre


@final
@dataclass(frozen=True)
class TensorTerm(SmoothTerm):
    """Interaction of two columns: products of the smoothest parts of their own terms.

    Three groups: straight times straight, straight times curved, curved times curved (Wood,
    Scheipl and Faraway 2013).
    """

    one: SmoothTerm
    two: SmoothTerm
    centre: FloatArray
    scale: FloatArray

    @property
    def name(self) -> str:
        return f"{self.one.name}:{self.two.name}"

    @property
    def label(self) -> str:
        return f"{self.one.label}, {self.two.label}"

    @property
    def inputs(self) -> tuple[int, ...]:
        return (*self.one.inputs, *self.two.inputs)

    @property
    def groups(self) -> IntArray:
        a, b = (_curved(term) for term in (self.one, self.two))
        return (a[:, None] + b[None, :]).reshape(-1)

    @property
    def drawn(self) -> Literal["curve", "points"] | None:
        return None

    def grid(self, X: FloatArray, n_points: int) -> tuple[FloatArray, FloatArray]:
        raise ValueError(f"a term of one column can be drawn, got {self.name}")

    def columns(self, X: FloatArray) -> FloatArray:
        return (products(self.one, self.two, X) - self.centre) / self.scale


def _along(X: FloatArray, column: int, n_points: int) -> tuple[FloatArray, FloatArray]:
    values = np.linspace(X[:, column].min(), X[:, column].max(), n_points)
    positions = np.zeros((n_points, X.shape[1]))
    positions[:, column] = values
    return values, positions


def _curved(term: SmoothTerm) -> IntArray:
    """Zero for the straight part and one for curved ones, smoothest parts only."""
    width = min(term.groups.size, TENSOR_COLUMNS)
    return np.minimum(np.arange(width), 1).astype(np.int64)


def products(one: SmoothTerm, two: SmoothTerm, X: FloatArray) -> FloatArray:
    """Products of the smoothest columns of two terms, (n, k)."""
    a, b = (term.columns(X)[:, :TENSOR_COLUMNS] for term in (one, two))
    return np.asarray((a[:, :, None] * b[:, None, :]).reshape(X.shape[0], -1))


def interaction(one: SmoothTerm, two: SmoothTerm, X: FloatArray) -> TensorTerm:
    """Return the interaction of two terms, of mean zero over the rows X (n, d)."""
    raw = products(one, two, X)
    bare = TensorTerm(one, two, raw.mean(axis=0), np.ones(raw.shape[1]))
    # curved parts are small by their unit roughness, and so must their products be: a group has one
    # unit, and its rough columns stay smaller than its smooth ones
    size = raw.std(axis=0)
    for group in np.unique(bare.groups):
        inside = bare.groups == group
        size[inside] = size[inside].max()
    return replace(bare, scale=np.where(size > 0, size, 1.0))


def own_term(label: str, j: int, x: FloatArray, intervals: int) -> SmoothTerm | None:
    """Return the term of one column, or None where the column does not vary.

    Parameters
    ----------
    label : str
        Name of the column.
    j : int
        Its place.
    x : ndarray (n,)
        Its values.
    intervals : int
        Of the spline.
    """
    distinct = np.unique(x).size
    if distinct < 2:
        return None
    if distinct < FEW_VALUES:
        return LineTerm(label, j, float(x.mean()), float(x.std()))
    axis = spline_axis(x, min(intervals, distinct - 1))
    B = axis.design(x)
    gram = B.T @ B / x.size
    values, vectors = linalg.eigh(gram)
    kept = values > 1e-9 * values[-1]
    whiten = vectors[:, kept] / np.sqrt(values[kept])
    rough, turn = linalg.eigh(whiten.T @ axis.penalty() @ whiten)
    basis = whiten @ turn
    # the two smoothest functions are the constant and the line; the rest have unit roughness
    curved = basis[:, 2:] / np.sqrt(rough[2:])
    line = linalg.lstsq(B, (x - x.mean()) / x.std())[0]
    whole = np.column_stack([line, curved])
    return SplineTerm(label, j, axis, whole, (B @ whole).mean(axis=0))
