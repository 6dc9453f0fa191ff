r"""Additive classes of smooth functions: columns whose penalties are plain ridges.

A spline term is written in the Demmler-Reinsch basis of its column: functions that are orthogonal
over the rows, the constant left out, ordered by roughness :math:`\int f''^2` and scaled so that
their roughness is one.  Its straight part is one column more.  Then every penalty of the model is
a sum of squared coefficients of some columns, and each group of columns has its own smoothness: the
curvature of a term, its straight part, the levels of a category, the parts of an interaction.
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Literal, final

import numpy as np
from scipy import linalg

from multiobs import _check
from multiobs._types import FloatArray, IntArray
from multiobs.transport.basis import SplineAxis, spline_axis

FEW_VALUES = 4  # a column of fewer distinct values is a line
TENSOR_COLUMNS = 5  # of each margin of an interaction


@final
@dataclass(frozen=True)
class Smooth:
    """A penalised additive class: ``features=Smooth(...)``; ``features="smooth"`` is Smooth().

    Parameters
    ----------
    interactions : bool or sequence of (int, int)
        Pairs of columns with a smooth interaction besides their own terms; True is all pairs of
        numeric columns.
    n_knots : int or "auto"
        Intervals of each column's spline. The smoothness does not depend on it once it is large
        enough; "auto" grows with the square root of the rows up to 40.

    Examples
    --------
    >>> Smooth(interactions=[(0, 1)])
    Smooth(interactions=[(0, 1)], n_knots='auto')
    """

    interactions: bool | Sequence[tuple[int, int]] = False
    n_knots: int | Literal["auto"] = "auto"


class SmoothTerm(ABC):
    """One term of an additive class."""

    @property
    @abstractmethod
    def name(self) -> str:
        """How the term is called in tables."""

    @property
    @abstractmethod
    def inputs(self) -> tuple[int, ...]:
        """Columns of X that the term looks at."""

    @property
    @abstractmethod
    def groups(self) -> IntArray:
        """Penalty group of each of the term's columns, counted from zero, (k,)."""

    @abstractmethod
    def columns(self, X: FloatArray) -> FloatArray:
        """Columns (n, k) at positions X (n, d), of mean zero over the rows of the fit."""


@final
@dataclass(frozen=True)
class LineTerm(SmoothTerm):
    """A straight line in one column."""

    label: str
    column: int
    centre: float
    spread: float

    @property
    def name(self) -> str:
        return self.label

    @property
    def inputs(self) -> tuple[int, ...]:
        return (self.column,)

    @property
    def groups(self) -> IntArray:
        return np.zeros(1, dtype=np.int64)

    def columns(self, X: FloatArray) -> FloatArray:
        return (X[:, [self.column]] - self.centre) / self.spread


@final
@dataclass(frozen=True)
class SplineTerm(SmoothTerm):
    """A cubic spline in one column: a straight part and curved parts of unit roughness."""

    label: str
    column: int
    axis: SplineAxis
    basis: FloatArray  # (B-splines, 1 + curved parts)
    centre: FloatArray  # means over the rows

    @property
    def name(self) -> str:
        return f"s({self.label})"

    @property
    def inputs(self) -> tuple[int, ...]:
        return (self.column,)

    @property
    def groups(self) -> IntArray:
        return np.concatenate([[1], np.zeros(self.basis.shape[1] - 1)]).astype(np.int64)

    def columns(self, X: FloatArray) -> FloatArray:
        return self.axis.design(X[:, self.column]) @ self.basis - self.centre


@final
@dataclass(frozen=True)
class LevelsTerm(SmoothTerm):
    """A level for each category, all shrunk alike: no category is the reference.

    The indicators of all categories but the first are columns of X.
    """

    label: str
    indicators: tuple[int, ...]
    centre: FloatArray

    @property
    def name(self) -> str:
        return self.label

    @property
    def inputs(self) -> tuple[int, ...]:
        return self.indicators

    @property
    def groups(self) -> IntArray:
        return np.zeros(len(self.indicators) + 1, dtype=np.int64)

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
    def inputs(self) -> tuple[int, ...]:
        return (*self.one.inputs, *self.two.inputs)

    @property
    def groups(self) -> IntArray:
        a, b = (_curved(term) for term in (self.one, self.two))
        return (a[:, None] + b[None, :]).reshape(-1)

    def columns(self, X: FloatArray) -> FloatArray:
        return (_products(self.one, self.two, X) - self.centre) / self.scale


def _curved(term: SmoothTerm) -> IntArray:
    """Zero for the straight part and one for curved ones, smoothest parts only."""
    width = min(term.groups.size, TENSOR_COLUMNS)
    return np.minimum(np.arange(width), 1).astype(np.int64)


def _products(one: SmoothTerm, two: SmoothTerm, X: FloatArray) -> FloatArray:
    a, b = (term.columns(X)[:, :TENSOR_COLUMNS] for term in (one, two))
    return np.asarray((a[:, :, None] * b[:, None, :]).reshape(X.shape[0], -1))


@final
@dataclass(frozen=True)
class SmoothDesign:
    """The columns of an additive class: a constant, then the terms.

    Attributes
    ----------
    terms : tuple of SmoothTerm
        The terms in order.
    groups : ndarray of int (p,)
        Penalty group of each column; -1 for the constant, which is not penalised.
    blocks : ndarray of int (p,)
        Term of each column; -1 for the constant.
    """

    terms: tuple[SmoothTerm, ...]
    groups: IntArray
    blocks: IntArray

    def columns(self, X: FloatArray) -> FloatArray:
        """Columns Z (n, p) at positions X (n, d)."""
        return np.column_stack([np.ones(X.shape[0]), *(term.columns(X) for term in self.terms)])


def smooth_design(
    spec: Smooth,
    X: FloatArray,
    names: Sequence[str] | None = None,
    categories: Sequence[tuple[str, tuple[int, ...]]] = (),
) -> SmoothDesign:
    """Choose knots and bases by the rows.

    Parameters
    ----------
    spec : Smooth
        What is asked for.
    X : ndarray (n, d)
        Positions of the rows.
    names : sequence of str, optional
        Names of the columns; x0, x1, … by default.
    categories : sequence of (str, tuple of int)
        Name of each categorical column and where its indicators stand, the first level's left out.

    Examples
    --------
    >>> design = smooth_design(Smooth(), np.linspace(0, 1, 100)[:, None])
    >>> [term.name for term in design.terms], design.columns(np.zeros((1, 1))).shape
    (['s(x0)'], (1, 13))
    """
    n, d = X.shape
    labels = [f"x{j}" for j in range(d)] if names is None else list(names)
    taken = {place for _, places in categories for place in places}
    numeric = [j for j in range(d) if j not in taken]
    intervals = spec.n_knots
    if intervals == "auto":
        most = 40 if len(numeric) <= 1 else max(6, min(15, 120 // len(numeric)))
        intervals = int(np.clip(np.sqrt(n), 5, most))
    else:
        intervals = _check.integer("n_knots", intervals, low=1)
    own = {j: _own_term(labels[j], j, X[:, j], intervals) for j in numeric}
    terms: list[SmoothTerm] = [term for term in own.values() if term is not None]
    for label, places in categories:
        bare = LevelsTerm(label, tuple(places), np.zeros(len(places) + 1))
        terms.append(LevelsTerm(label, tuple(places), bare.columns(X).mean(axis=0)))
    for a, b in _pairs(spec.interactions, numeric):
        one, two = own[a], own[b]
        if one is not None and two is not None:
            raw = _products(one, two, X)
            spread = raw.std(axis=0)
            # curved parts are small by their unit roughness; the products start alike
            size = np.where(spread > 0, spread, 1.0)
            terms.append(TensorTerm(one, two, raw.mean(axis=0), size))
    groups, blocks, used = [np.array([-1])], [np.array([-1])], 0
    for at, term in enumerate(terms):
        inner = term.groups
        groups.append(inner + used)
        blocks.append(np.full(inner.size, at))
        used += int(inner.max()) + 1
    return SmoothDesign(tuple(terms), np.concatenate(groups), np.concatenate(blocks))


def _pairs(wanted: bool | Sequence[tuple[int, int]], numeric: list[int]) -> list[tuple[int, int]]:
    if isinstance(wanted, bool):
        return list(combinations(numeric, 2)) if wanted else []
    for pair in wanted:
        if len(pair) != 2 or pair[0] == pair[1] or not set(pair) <= set(numeric):
            raise ValueError(
                f"interactions must be pairs of different numeric columns of {numeric}, got {pair}"
            )
    return [(int(a), int(b)) for a, b in wanted]


def _own_term(label: str, j: int, x: FloatArray, intervals: int) -> SmoothTerm | None:
    """Return the term of one column, or None where the column does not vary."""
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
