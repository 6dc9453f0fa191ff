"""Minimising a risk.  A failure is a value that carries its own sentence."""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from enum import Enum
from typing import final

import numpy as np
from scipy import linalg, optimize

from multiobs import _check
from multiobs._types import FloatArray
from multiobs.fit.risk import MomentRisk, Risk


class Status(Enum):
    """How a minimisation ended; the value is the sentence for people.

    Examples
    --------
    >>> Status.RANK_DEFICIENT.success, Status.UNBOUNDED.value
    (True, 'The risk has no minimum: it falls without end.')
    """

    CONVERGED = "The risk has a minimum here."
    RANK_DEFICIENT = (
        "The features do not determine all coefficients; the smallest solution was taken."
    )
    UNBOUNDED = "The risk has no minimum: it falls without end."
    NOT_CONVERGED = "The iterations ended before the gradient vanished."
    OTHER_WAY = (
        "The quartic risk led below its reference level; Newton steps on the identification "
        "function, which stay above the mean, were taken instead."
    )
    LEFT_REGION = (
        "Some fitted values lie below the reference level, which no value of this statistic does: "
        "there NaN is returned; another class (features=, estimator=) may help."
    )

    NO_ROOT = (
        "The labels show no root of this statistic's equation, so that the risk is least at the "
        "reference level, which says nothing: NaN is returned; regress on its moments instead."
    )

    @property
    def success(self) -> bool:
        """Whether the coefficients can be used."""
        return self in (Status.CONVERGED, Status.RANK_DEFICIENT, Status.OTHER_WAY)


@final
@dataclass(frozen=True)
class Solution:
    """Coefficients with how they were found.

    Attributes
    ----------
    w : ndarray (p,)
        Coefficients.
    status : Status
        How the minimisation ended.
    value : float
        The risk at w.
    gradient_norm : float
        The largest entry of the gradient at w, relative to the risk's own size.
    iterations : int
        Steps taken.
    solver : str
        Name of the solver.

    Examples
    --------
    >>> import numpy as np
    >>> from multiobs import MultiObservationRegressor
    >>> x = np.linspace(0, 1, 200)[:, None]
    >>> y = np.random.default_rng(0).normal(scale=1 + x[:, 0])
    >>> model = MultiObservationRegressor("variance").fit(x, y)
    >>> model.solution_.status.name, model.solution_.solver
    ('CONVERGED', 'Quadratic')
    """

    w: FloatArray
    status: Status
    value: float
    gradient_norm: float
    iterations: int
    solver: str


class Solver(ABC):
    """Minimises risks of one kind.

    Examples
    --------
    >>> risk = MomentRisk([None, np.array([-2.0]), np.eye(1)])  # w² - 2w
    >>> Quadratic().solve(risk, np.zeros(1)).w.round(6)
    array([1.])
    """

    @abstractmethod
    def solve(self, risk: Risk, start: FloatArray) -> Solution:
        """Return the minimiser of the risk, beginning at ``start`` where that matters."""


@final
class Quadratic(Solver):
    """Exact minimum of a risk of degree two, through an eigen-decomposition.

    Examples
    --------
    >>> risk = MomentRisk([None, np.array([-2.0]), np.eye(1)])  # w² - 2w
    >>> Quadratic().solve(risk, np.zeros(1)).w.round(6)
    array([1.])
    """

    def solve(self, risk: Risk, start: FloatArray) -> Solution:
        if not isinstance(risk, MomentRisk) or risk.degree > 2:
            raise ValueError("Quadratic needs a risk of degree two, got another: use Newton")
        zero = np.zeros(risk.n_coefficients)
        slope, curvature = risk.gradient(zero), risk.hessian(zero)
        curvature = (curvature + curvature.T) / 2
        _refuse_infinite(risk, zero)
        # Features of very different size are brought to one before the rank is judged.
        size = np.sqrt(np.abs(np.diag(curvature)))
        size = np.where(size > 0, size, 1.0)
        values, vectors = linalg.eigh(curvature / np.outer(size, size))
        largest = float(np.max(np.abs(values), initial=0.0))
        cutoff = largest * 1e-13 * max(values.size, 1)
        if np.any(values < -max(cutoff, largest * 1e-9)):
            status = Status.UNBOUNDED
        elif np.any(values <= cutoff):
            status = Status.RANK_DEFICIENT
        else:
            status = Status.CONVERGED
        keep = values > cutoff
        along = vectors[:, keep]
        w = -(along @ ((along.T @ (slope / size)) / values[keep])) / size
        return Solution(w, status, risk.value(w), _relative_gradient(risk, w), 1, "Quadratic")


@final
class Newton(Solver):
    """Trust-region Newton steps (scipy's ``trust-exact``): finds a minimum near the start.

    Examples
    --------
    >>> risk = MomentRisk([None, np.array([-2.0]), np.eye(1)])  # w² - 2w
    >>> Newton().solve(risk, np.zeros(1)).w.round(6)
    array([1.])
    """

    def solve(self, risk: Risk, start: FloatArray) -> Solution:
        def hessian(w: FloatArray) -> FloatArray:
            found = risk.hessian(w)
            assert found is not None
            return (found + found.T) / 2

        _refuse_infinite(risk, start)
        unit = abs(risk.value(start)) + float(np.max(np.abs(risk.gradient(start)), initial=0.0))
        unit = unit if np.isfinite(unit) and unit > 0 else 1.0
        floor = -1e12 * unit

        def value(w: FloatArray) -> float:
            found = risk.value(w)
            return found / unit

        result = optimize.minimize(
            value,
            start,
            method="trust-exact",
            jac=lambda w: risk.gradient(w) / unit,
            hess=lambda w: _regular(hessian(w) / unit),
            options={"gtol": 1e-10, "maxiter": 200, "initial_trust_radius": 0.1},
        )
        w: FloatArray = np.asarray(result.x, dtype=np.float64)
        for _ in range(3):  # Newton's last digits, where the trust region stops early
            curvature, slope = hessian(w), risk.gradient(w)
            if not (np.all(np.isfinite(curvature)) and np.all(np.isfinite(slope))):
                break  # fell without end: LAPACK would print a complaint
            step = np.linalg.lstsq(curvature, -slope, rcond=None)[0]
            trial = w + step
            better = np.max(np.abs(risk.gradient(trial))) < np.max(np.abs(risk.gradient(w)))
            if not better:
                break
            w = trial
        lost = not np.all(np.isfinite(w)) or risk.value(w) < floor
        small = _relative_gradient(risk, w)
        if lost:
            status = Status.UNBOUNDED
        elif small > 1e-6:
            status = Status.NOT_CONVERGED
        else:
            lowest = float(linalg.eigvalsh(hessian(w))[0])
            top = float(np.max(np.abs(hessian(w)), initial=1e-300))
            status = Status.CONVERGED if lowest > 1e-12 * top else Status.RANK_DEFICIENT
        return Solution(w, status, risk.value(w), small, int(result.nit), "Newton")


def _regular(H: FloatArray) -> FloatArray:
    """Return a Hessian with a ridge of 1e-12 of its size, which changes steps and no minimum.

    Searches for steps in a singular one do not end before scipy 1.15.
    """
    size = float(np.max(np.abs(H), initial=0.0))
    return np.asarray(H + 1e-12 * size * np.eye(H.shape[0]))


@final
class LBFGS(Solver):
    """Limited-memory quasi-Newton steps, for losses without a second derivative.

    Examples
    --------
    >>> risk = MomentRisk([None, np.array([-2.0]), np.eye(1)])  # w² - 2w
    >>> LBFGS().solve(risk, np.zeros(1)).w.round(6)
    array([1.])
    """

    def solve(self, risk: Risk, start: FloatArray) -> Solution:
        _refuse_infinite(risk, start)
        unit = abs(risk.value(start)) or 1.0
        result = optimize.minimize(
            lambda w: risk.value(w) / unit,
            start,
            method="L-BFGS-B",
            jac=lambda w: risk.gradient(w) / unit,
            options={"maxiter": 1000, "ftol": 1e-15, "gtol": 1e-10},
        )
        w: FloatArray = np.asarray(result.x, dtype=np.float64)
        small = _relative_gradient(risk, w)
        status = Status.CONVERGED if small < 1e-4 or result.success else Status.NOT_CONVERGED
        return Solution(w, status, risk.value(w), small, int(result.nit), "LBFGS")


def choose_solver(risk: Risk) -> Solver:
    """Return the solver for this kind of risk.

    Parameters
    ----------
    risk : Risk
        What is to be minimised.

    Returns
    -------
    Solver
        :class:`Quadratic`, :class:`Newton` or :class:`LBFGS`.

    Examples
    --------
    >>> type(choose_solver(MomentRisk([None, np.ones(1), np.eye(1)]))).__name__
    'Quadratic'
    """
    if not isinstance(risk, Risk):
        raise TypeError(f"risk must be a Risk, got {_check.shown(risk)}")
    if isinstance(risk, MomentRisk) and risk.degree <= 2:
        return Quadratic()
    probe = np.zeros(risk.n_coefficients)
    with np.errstate(all="ignore"):
        known = risk.hessian(probe) is not None
    return Newton() if known else LBFGS()


def solve(risk: Risk, start: FloatArray | None = None, solver: Solver | None = None) -> Solution:
    """Minimise a risk.

    Parameters
    ----------
    risk : Risk
        What to minimise.
    start : ndarray (p,), optional
        Where to begin; matters for risks with several minima.
    solver : Solver, optional
        The choice of :func:`choose_solver` by default.

    Returns
    -------
    Solution

    Examples
    --------
    >>> risk = MomentRisk([None, np.array([-4.0]), np.array([[1.0]])])
    >>> solve(risk).w
    array([2.])
    """
    chosen = choose_solver(risk) if solver is None else solver
    if not isinstance(chosen, Solver):
        raise TypeError(f"solver must be a Solver, got {_check.shown(solver)}")
    count = risk.n_coefficients
    begin = np.zeros(count) if start is None else _check.finite("start", start)
    if begin.shape != (count,):
        raise ValueError(f"start must be {count} coefficients, got shape {begin.shape}")
    with np.errstate(over="ignore", invalid="ignore"):  # the status says how it ended
        return chosen.solve(risk, begin)


def _refuse_infinite(risk: Risk, w: FloatArray) -> None:
    """Refuse a risk whose derivatives at the start are no numbers."""
    curvature = risk.hessian(w)
    parts = [risk.gradient(w)] if curvature is None else [risk.gradient(w), curvature]
    if not all(np.all(np.isfinite(part)) for part in parts):
        raise ValueError("a risk must have finite sums, got an overflow: scale Z or y down")


def _relative_gradient(risk: Risk, w: FloatArray) -> float:
    slope = risk.gradient(w)
    if isinstance(risk, MomentRisk):
        pieces = [
            np.max(np.abs(k * _power_applied(M, w, k - 1)), initial=0.0)
            for k, M in enumerate(risk.tensors)
            if M is not None and k >= 1
        ]
        size = float(max(pieces, default=1.0)) or 1.0
    else:
        size = abs(risk.value(w)) + 1e-300
    return float(np.max(np.abs(slope), initial=0.0)) / size


def _power_applied(M: FloatArray, w: FloatArray, times: int) -> FloatArray:
    for _ in range(times):
        M = M @ w
    return M
