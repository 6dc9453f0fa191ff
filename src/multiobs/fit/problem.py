"""What is fitted, in one record: built once, read by the fit, by inference and by diagnostics."""

from dataclasses import dataclass, replace
from typing import final

import numpy as np

from multiobs._types import FloatArray, IntArray
from multiobs.fit.design import Design
from multiobs.fit.units import LabelUnits
from multiobs.statistics import Statistic
from multiobs.sums import LIMIT, Features, Lifted
from multiobs.transport import Residuals
from multiobs.tuples import TupleSet

LEAST = 0.2  # of the level: no spread is taken to be smaller


@final
@dataclass(frozen=True)
class Reweighting:
    r"""Weights that make a shifted quartic loss count errors alike at every x.

    Near the upper confidence bound the quartic's curvature is :math:`2 (r-c)(r-\mu)`, large where
    the spread is large; weights :math:`((r-c)(r-\mu))^{-1/2}` on each of two members undo that,
    so that the risk measures squared error of the bound.

    Attributes
    ----------
    deviations : float
        How many standard deviations the statistic lies above the mean.
    level : float
        Standard deviation of all residuals: how far the reference level lies below the mean.
    weight : ndarray (n,)
        Weights of the rows before.
    """

    deviations: float
    level: float
    weight: FloatArray

    def by_spread(self, spread: FloatArray) -> FloatArray:
        """Weights (n,) from a standard deviation at each row, or a guess of it."""
        factor = self.factor(spread)
        return np.asarray(self.weight * (factor / factor.mean()))

    def factor(self, spread: FloatArray) -> FloatArray:
        """What a weight is multiplied by, (n,), up to a constant: the same in every part."""
        if not self.level > 0:
            return np.ones(spread.size)
        held = np.maximum(spread, LEAST * self.level)
        return np.asarray((held * (held + self.level)) ** -0.5)


@final
@dataclass(frozen=True)
class Problem:
    """What is fitted: the rows in working units, and which of them go together.

    Attributes
    ----------
    statistic : Statistic
        What is estimated.
    X : ndarray (n, d)
        Positions of the rows: columns of the class of functions.
    place : ndarray (n, q)
        Positions that the sampler sees: the numeric columns.
    residuals : Residuals
        Labels in working units, less a pilot where there is one.
    tuples : TupleSet
        Which rows go together.
    weight : ndarray (n,) or None
        Weights of the rows, balance included.
    units : LabelUnits
        The way back to the user's units.
    blocks : ndarray of int (n,) or None
        Codes that a tuple never crosses.
    reweighting : Reweighting or None
        How a first fit improves the weights, where it does.
    weighed_by : Reweighting or None
        How a first fit has improved them.
    limit : int
        The most tuples that are enumerated.
    indicators : tuple of (int, int)
        First and last-plus-one column of X that belong to each category.

    Examples
    --------
    >>> import numpy as np
    >>> from multiobs import MultiObservationRegressor
    >>> x = np.linspace(0, 1, 200)[:, None]
    >>> y = np.random.default_rng(0).normal(scale=1 + x[:, 0])
    >>> model = MultiObservationRegressor("variance").fit(x, y)
    >>> model.result_.problem.n_rows
    200
    """

    statistic: Statistic
    X: FloatArray
    place: FloatArray
    residuals: Residuals
    tuples: TupleSet
    weight: FloatArray | None
    units: LabelUnits
    blocks: IntArray | None = None
    reweighting: Reweighting | None = None
    limit: int = LIMIT
    indicators: tuple[tuple[int, int], ...] = ()
    weighed_by: Reweighting | None = None

    @property
    def n_rows(self) -> int:
        """How many rows there are."""
        return int(self.X.shape[0])

    def at(self, rows: IntArray, tuples: TupleSet) -> "Problem":
        """Return the problem of some of the rows, with tuples of their own."""
        return replace(
            self,
            X=self.X[rows],
            place=self.place[rows],
            residuals=self.residuals.at(rows),
            tuples=tuples,
            weight=None if self.weight is None else self.weight[rows],
            blocks=None if self.blocks is None else self.blocks[rows],
            reweighting=None,
            weighed_by=None,
        )

    def reweighted(self, fitted: FloatArray) -> "Problem":
        """Return the problem with weights by a first fit (n,) of the statistic at the rows."""
        offset, known = self.residuals.offset, self.reweighting or self.weighed_by
        assert known is not None
        assert offset is not None
        weight = known.by_spread((fitted - offset) / known.deviations)
        return replace(self, weight=weight, reweighting=None, weighed_by=known)

    def features(self, design: Design) -> Features:
        """Columns of the class, with the pilot as one more that is held at minus one.

        r = r' + a(x~) with r' the statistic of the residuals.
        """
        Z = design.features(self.X)
        pilot, offset = self.residuals.pilot, self.residuals.offset
        if pilot is None or offset is None:
            return Z
        if isinstance(Z, Lifted):
            function = Z.function
            return Lifted(Z.X, lambda x: np.column_stack([function(x), pilot.predict(x)]))
        return np.column_stack([Z, offset])

    def held(self, w: FloatArray) -> FloatArray:
        """Coefficients of :meth:`features` from those of the class."""
        return np.append(w, -1.0) if self.residuals.located else w

    def held_reference(self, reference: FloatArray | None) -> FloatArray | None:
        """Reference level in terms of :meth:`features`."""
        if reference is None or not self.residuals.located:
            return reference
        return np.append(reference, 0.0)
