r"""Smooth additive fits: their parts, errors, effects and tests.

A statistic that is a mean or a ratio is one part, η = constant + Σ terms with a link that keeps its
domain.  One that is a function of several (mean plus a multiple of the standard deviation) has a
part for each, and its error follows from the rows' scores of all parts together.

The smoothness needs the variance of the gradient under shared labels, which is why these fits live
beside the errors and not below them.
"""

from dataclasses import dataclass, replace
from functools import cached_property
from math import isfinite
from typing import Literal, final

import numpy as np

from multiobs._types import FloatArray, IntArray
from multiobs.fit.additive import LinearColumns, SmoothDesign
from multiobs.fit.design import Design
from multiobs.fit.knees import likely_knee
from multiobs.fit.links import LARGEST, LinkedLoss, LinkName, linked
from multiobs.fit.penalised import Penalised, RowProblem, Variance, settle, smooth
from multiobs.fit.problem import Problem
from multiobs.fit.rowwise import RowSums, row_sums
from multiobs.fit.solvers import Solution, Status
from multiobs.fit.units import LabelUnits
from multiobs.inference.curve import Curve, CurvePart
from multiobs.inference.hypotheses import TestResult, wald
from multiobs.inference.intervals import Method
from multiobs.inference.row_variance import row_scores, variance_of
from multiobs.statistics import Parts, Statistic

LEAST = 0.05  # of the mean variance of the labels: no row is known better than that
# By how much v, the squared relative error of a dispersion, raises it: once for its mean given the
# data, and by (z² + 1) / 4 at z = 1.96 for Student's quantile of 2 / v degrees of freedom
TAILS = 1.0 + (1.96**2 + 1.0) / 4.0
ROUNDS = 100  # of moving tuples along a fit whose smoothness is given


Pair = tuple[int, int]  # of columns


@final
@dataclass(frozen=True)
class Part:
    """One fitted part of an additive class.

    Attributes
    ----------
    problem : Problem
        Rows, labels and tuples.
    design : SmoothDesign or LinearColumns
        Its columns.
    rows : RowProblem
        What was fitted.
    fit : Penalised
        Coefficients and smoothness.
    variance : ndarray (p, p)
        Variance of the gradient at the fit, under shared labels.
    influence : ndarray (n, p)
        How much each row moves the coefficients.
    variance_at : callable
        The same variance at other coefficients, given the inverse Hessian there.
    weighed_by : Part or None
        The part of spread, of the same columns, whose precision is in the weights of the rows.
    """

    problem: Problem
    design: SmoothDesign | LinearColumns
    rows: RowProblem
    fit: Penalised
    variance: FloatArray
    influence: FloatArray
    variance_at: Variance
    weighed_by: "Part | None" = None

    @property
    def statistic(self) -> Statistic:
        """What the part estimates."""
        return self.problem.statistic

    @property
    def units(self) -> LabelUnits:
        """From working units to the user's."""
        return self.problem.units

    @property
    def loss(self) -> LinkedLoss:
        """The linked loss."""
        return self.rows.loss

    @cached_property
    def covariances(self) -> tuple[FloatArray, FloatArray]:
        """Covariance of the coefficients about the truth (p, p), by two estimates of the noise.

        The sandwich follows a dispersion that changes with x, the common dispersion is known
        better; a direction's error is the larger of the two.
        """
        fit, grown = self.fit, 1.0 + TAILS * self.dispersion_error
        phi = grown * self.dispersion
        return fit.covariance(grown * self.variance, phi), fit.covariance(
            phi * fit.information, phi
        )

    @property
    def dispersion(self) -> float:
        """The dispersion at the fit itself, or at the rougher one if that is larger."""
        here = float(np.sum(self.fit.inverse * self.variance) / max(self.fit.edf.sum(), 1e-300))
        return max(here, self.fit.dispersion)

    @property
    def dispersion_error(self) -> float:
        """Squared relative error of the dispersion, a mean over rows of very unequal squares.

        Zero where the smoothness was given and the errors are plain sandwiches.
        """
        if np.all(self.fit.groups < 0):
            return 0.0
        whole = self.fit.information + np.diag(self.fit.ridge)
        each = np.einsum("na,ab,nb->n", self.influence, whole, self.influence)
        total = float(each.sum())
        return float(np.sum((each / total) ** 2)) - 1.0 / each.size if total > 0 else 0.0

    @property
    def at_rows(self) -> FloatArray:
        """What the part estimates, at the rows, in the user's units, (n,)."""
        return self._at_rows(self.fit.w)

    def _at_rows(self, w: FloatArray) -> FloatArray:
        return self.units.outward(self.loss.inverse(self.rows.Z @ w + self.rows.offset))

    @property
    def precision(self) -> FloatArray:
        """Inverse variance of the labels at the rows up to a factor, by a part of spread, (n,)."""
        return self.precision_without(np.zeros(0, dtype=np.int64))

    def precision_without(self, columns: IntArray) -> FloatArray:
        """The same with the coefficients of some columns taken for zero."""
        w = self.fit.w.copy()
        w[columns] = 0.0
        squares = np.maximum(self._at_rows(w), 0.0) ** (2.0 / float(self.statistic.scale or 1))
        level = float(squares.mean())
        return level / np.maximum(squares, LEAST * level) if level > 0 else np.ones_like(squares)

    def weighed_without(self, columns: IntArray) -> tuple[RowProblem, Variance]:
        """What is fitted and the variance of its gradient, with weights that know not the columns.

        An estimated precision follows the noise of the labels along a column.  With skewed labels
        that is the noise of their mean as well, and a score with such weights is not centred.
        """
        if self.weighed_by is None:
            return self.rows, self.variance_at
        spread = self.weighed_by
        other = spread.precision_without(columns) / spread.precision
        problem = _weighed(self.problem, other)
        rows = replace(self.rows, sums=_summed(problem, self.loss))
        return rows, variance_of_rows(problem, rows)

    @cached_property
    def likely_knee(self) -> float:
        """Where a softplus had better bend, in working units."""
        return likely_knee(_working(self.problem), self.rows, self.fit, self.variance_at)

    @cached_property
    def curve(self) -> CurvePart:
        """What is left of the part without its rows."""
        return CurvePart(self.design, self.fit.w, self.covariances, self.loss, self.units)


def fit_part(
    problem: Problem,
    design: SmoothDesign | LinearColumns,
    link: LinkName | Literal["auto"],
    strength: float | None = None,
    offset: FloatArray | None = None,
    weighed_by: Part | None = None,
) -> Part:
    """Fit one mean- or ratio-type statistic with smooth terms.

    Parameters
    ----------
    problem : Problem
        Rows, labels and tuples.
    design : SmoothDesign or LinearColumns
        The class.
    link : {"auto", "identity", "log", "softplus", "logit"}
        See :func:`multiobs.fit.links.linked`.
    strength : float, optional
        One penalty for all terms, per unit of tuple weight; by default each term's own is chosen.
    offset : ndarray (n,), optional
        A known part of η at the rows, in working units, besides the terms.
    weighed_by : Part, optional
        A part of spread of the same columns; a mean whose link knows no spread is weighed by the
        labels' precision, and a softplus of the same statistic bends where it had better there.
    """
    likely = None
    if weighed_by is not None and link == "auto" and weighed_by.statistic == problem.statistic:
        likely = weighed_by.likely_knee
    if weighed_by is not None and not isfinite(problem.statistic.domain[0]):
        problem = _weighed(problem, weighed_by.precision)
    else:
        weighed_by = None
    if problem.residuals.scale is not None:
        raise ValueError(
            "transport must be 'auto', 'location' or None with smooth features or a link, "
            "got 'location-scale'"
        )
    statistic, terms = _working(problem), len(design.terms)
    loss = linked(statistic, link, terms=terms)
    sums = _summed(problem, loss)
    above = float(sums.psi.sum()) / max(float(sums.chi.sum()), 1e-300) - statistic.domain[0]
    if 0 < above < np.inf:  # a softplus bends where the statistic lies
        loss = linked(statistic, link, terms=terms, knee=likely or above)
    Z = design.columns(problem.X)
    alone = problem.tuples.arity == 1 and loss.link == "identity"
    known = np.zeros(Z.shape[0]) if offset is None else offset
    rows = RowProblem(loss, sums, Z, known, design.groups, alone)
    variance_at = variance_of_rows(problem, rows)
    start = rows.start()
    if start is None:
        fitted = _nothing(rows)
    elif strength is None:
        fitted = smooth(rows, variance_at, start)
    else:
        ridge = np.where(design.groups < 0, 0.0, strength * float(np.maximum(sums.chi, 0).sum()))
        w, status = settle(rows, ridge, start, ROUNDS)
        fitted = Penalised(w, ridge, _given(rows), rows.information(w), 0.0, status)
    V = variance_at(fitted.w, fitted.inverse)
    influence = row_scores(rows, fitted.w, fitted.inverse, problem.tuples.arity).rows
    influence = -(influence @ fitted.inverse)
    return Part(problem, design, rows, fitted, V, influence, variance_at, weighed_by)


def _working(problem: Problem) -> Statistic:
    """Return the statistic with its domain in working units."""
    units, (low, high) = problem.units, problem.statistic.domain
    ends = ((low - units.offset) / units.factor, (high - units.offset) / units.factor)
    return replace(problem.statistic, domain=ends)


def _weighed(problem: Problem, precision: FloatArray) -> Problem:
    """Return the problem with its rows weighed by the labels' precision (n,)."""
    # the noise of a tuple grows like the statistic; the weights of its rows are multiplied
    own = precision ** ((problem.statistic.scale or 0) / problem.statistic.arity)
    return replace(problem, weight=own if problem.weight is None else problem.weight * own)


def _summed(problem: Problem, loss: LinkedLoss) -> RowSums:
    """Kernels summed over the tuples of each row."""
    labels, pilot = problem.residuals.labels, problem.residuals.offset
    rng = np.random.default_rng(0)
    sums = row_sums(loss, problem.tuples, labels, problem.weight, rng, problem.limit)
    if pilot is None:
        return sums
    # the statistic of the labels is that of the residuals plus the pilot
    return replace(sums, psi=sums.psi + sums.chi * sums.blurred(pilot))


def variance_of_rows(problem: Problem, rows: RowProblem) -> Variance:
    """Variance of the gradient of these columns, for the tuples of a problem."""
    labels, pilot = problem.residuals.labels, problem.residuals.offset
    return variance_of(rows, problem.tuples, labels, pilot, problem.weight)


def _given(rows: RowProblem) -> IntArray:
    """No column has a penalty that was chosen, (p,)."""
    return np.full(rows.groups.size, -1)


def _nothing(rows: RowProblem) -> Penalised:
    """Return the fit of labels without any best constant inside the domain, such as equal ones."""
    w = np.zeros(rows.groups.size)
    w[0] = -LARGEST / 2
    ridge = np.where(rows.groups < 0, 0.0, 1.0)
    return Penalised(w, ridge, _given(rows), rows.information(w), 0.0, Status.UNBOUNDED)


@final
@dataclass(frozen=True)
class AdditiveFit:
    """A fitted smooth class: its parts and how they make the statistic.

    Attributes
    ----------
    statistic : Statistic
        What is estimated.
    parts : tuple of Part
        One, or one for each statistic it is a function of.
    made_of : Parts or None
        How the parts make the statistic; None for one that is a mean or a ratio itself.
    beta : float
        How many times the error of the second part is in the first, which was fitted beside it.
    tested : tuple of (int, int)
        Pairs of columns whose interactions are in the class since a test found them.
    """

    statistic: Statistic
    parts: tuple[Part, ...]
    made_of: Parts | None
    beta: float = 0.0
    tested: tuple[Pair, ...] = ()

    @property
    def status(self) -> Status:
        """The worst status of the parts."""
        failed = [part.fit.status for part in self.parts if not part.fit.status.success]
        return failed[0] if failed else Status.CONVERGED

    @property
    def solution(self) -> Solution:
        """Coefficients of all parts and how they were found."""
        w = np.concatenate([part.fit.w for part in self.parts])
        slopes = [part.fit.ridge * part.fit.w for part in self.parts]
        gradients = [
            part.rows.at(part.fit.w).gradient(part.loss, part.fit.w) + slope
            for part, slope in zip(self.parts, slopes, strict=True)
        ]
        size = [float(part.rows.sums.chi.sum()) or 1.0 for part in self.parts]
        left = [float(np.abs(g).max()) / n for g, n in zip(gradients, size, strict=True)]
        return Solution(w, self.status, np.nan, max(left), 0, "Fellner-Schall")

    @property
    def problem(self) -> Problem:
        """Rows and tuples of the part with the most observations in a tuple."""
        return max((part.problem for part in self.parts), key=lambda each: each.statistic.arity)

    @property
    def linear(self) -> Design | None:
        """The linear class behind a link; None for smooth terms."""
        design = self.parts[0].design
        return design.design if isinstance(design, LinearColumns) else None

    @cached_property
    def curve(self) -> Curve:
        """The fitted function with its errors, without the rows."""
        shared = tuple(
            self.parts[j].influence.T @ self.parts[k].influence
            for k in range(len(self.parts))
            for j in range(k)
        )
        curves = tuple(part.curve for part in self.parts)
        return Curve(self.statistic, curves, self.made_of, shared, self.beta)

    def coefficients(self) -> tuple[FloatArray, float]:
        """Slopes and intercept of a linear class on the scale of its link, in the user's units."""
        return self.parts[0].curve.coefficients()

    @property
    def coef_cov(self) -> FloatArray:
        """Covariance of (intercept, slopes) of a linear class on the scale of its link."""
        return self.parts[0].curve.coef_cov

    def wald(self, R: FloatArray, q: FloatArray) -> TestResult:
        """Test R b = q for b = (intercept, slopes) of a linear class on its link's scale."""
        slopes, intercept = self.coefficients()
        b = np.concatenate([[intercept], slopes]) if self._design.intercept else slopes
        R = np.atleast_2d(R)
        if R.shape[1] != b.size:
            raise ValueError(
                f"R must have {b.size} columns (intercept first, then slopes), got {R.shape[1]}"
            )
        if q.size not in (1, R.shape[0]):
            raise ValueError(f"q must be one value or {R.shape[0]}, got {q.size}")
        return wald(b, self.coef_cov, R, np.broadcast_to(q, (R.shape[0],)), np.inf, "R b = q")

    @property
    def _design(self) -> Design:
        found = self.linear
        if found is None:
            raise AttributeError("coefficients need a linear class, got smooth terms")
        return found

    @property
    def edf(self) -> float:
        """Effective degrees of freedom of all parts."""
        return float(sum(part.fit.edf.sum() for part in self.parts))

    def predict(self, X: FloatArray) -> FloatArray:
        """The statistic in the user's units at X (n, d), (n,)."""
        return self.curve.predict(X)

    def standard_errors(self, X: FloatArray) -> FloatArray:
        """Standard errors of :meth:`predict` by the delta method, (n,)."""
        return self.curve.standard_errors(X)

    def interval(self, X: FloatArray, level: float, method: Method) -> FloatArray:
        """Confidence limits (n, 2) at X (n, d): on the log scale above a lower end."""
        return self.curve.interval(X, level, method)
