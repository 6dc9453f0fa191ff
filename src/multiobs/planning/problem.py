"""What the theorems need to know about a problem: K, L, B, sigma and the class of functions."""

from dataclasses import dataclass
from math import sqrt
from typing import final

from multiobs import _check, bounds, statistics
from multiobs.bounds import LossConstants
from multiobs.statistics import Statistic

Range = tuple[float, float]


@final
@dataclass(frozen=True)
class BoundedProblem:
    r"""A regression problem as the theorems see it: x in [0, 1]^d, y and predictions bounded.

    The class is that of all affine functions of x whose values lie in ``r_range``. Written as
    :math:`r_{mid} + w \cdot (1, 2x - 1)` it is the ball :math:`\|w\|_1 \le \Delta/2` with features
    in [-1, 1], so :math:`\mathcal R_n \le \tfrac\Delta2 \sqrt{2 \log(2(d+1))/n}`; for uniform x the
    smallest eigenvalue of its second-moment matrix is 1/3.

    Parameters
    ----------
    statistic : str or Statistic
        What is estimated.
    d : int
        Dimension of x, after scaling to the unit cube.
    K : float
        Lipschitz constant of the law of Y in total variation (A1); see
        :func:`multiobs.bounds.estimate_tv_lipschitz`.
    y_range : (float, float)
        Range of the labels.
    r_range : (float, float), optional
        Range of the predictions; by default that of the statistic for labels in ``y_range``.
    loss_constants : LossConstants, optional
        L, B and curvature, for statistics whose constants are not built in.

    Examples
    --------
    >>> problem = BoundedProblem("variance", y_range=(0.0, 1.0), K=0.5)
    >>> problem.predictions, problem.constants
    ((0.0, 0.25), LossConstants(L=1.0, B=0.25, curvature=2.0))
    >>> round(problem.sigma, 6), problem.arity
    (0.666667, 2)
    """

    statistic: str | Statistic = "variance"
    d: int = 1
    K: float = 1.0
    y_range: Range = (0.0, 1.0)
    r_range: Range | None = None
    loss_constants: LossConstants | None = None

    def __post_init__(self) -> None:
        _check.integer("d", self.d, low=1)
        _check.nonnegative("K", self.K)
        for name, given in (("y_range", self.y_range), ("r_range", self.r_range)):
            absent = given is None and name == "r_range"
            ends = None if absent else _check.numbers(name, given)
            if ends is not None and not (ends.shape == (2,) and ends[0] < ends[1]):
                raise ValueError(
                    f"{name} must be (low, high) with low < high, got {_check.shown(given)}"
                )
        if not isinstance(self.loss_constants, LossConstants | None):
            raise TypeError(
                f"loss_constants must be LossConstants, got {_check.shown(self.loss_constants)}"
            )
        statistics.resolve(self.statistic)

    @property
    def resolved(self) -> Statistic:
        """The statistic itself."""
        return statistics.resolve(self.statistic)

    @property
    def arity(self) -> int:
        """Labels in a metasample."""
        return self.resolved.arity

    @property
    @_check.arithmetic("y_range")
    def predictions(self) -> Range:
        """Range of the predictions."""
        if self.r_range is not None:
            return self.r_range
        known = self.resolved.ranges
        found = None if known is None else known.values(self.y_range)
        if found is None:
            raise ValueError(
                f"r_range must be given for this statistic, got none for {self.resolved!r}"
            )
        return found

    @property
    @_check.arithmetic("y_range and r_range")
    def constants(self) -> LossConstants:
        """L, B and curvature of the loss on the ranges of y and of the predictions."""
        if self.loss_constants is not None:
            return self.loss_constants
        known = self.resolved.ranges
        if known is None or known.constants is None:
            raise ValueError(
                f"loss_constants must be given for this statistic, got none for {self.resolved!r} "
                "(known for kernels with a known range, ucb, dispersion_index)"
            )
        return known.constants(self.y_range, self.predictions)

    @property
    def rademacher_constant(self) -> float:
        """The c of R_n(F) <= c / sqrt(n)."""
        low, high = self.predictions
        found = bounds.rademacher_linear(1, (high - low) / 2, 1.0, norm=1, p=self.d + 1)
        return float(found)

    @property
    def feature_norm(self) -> float:
        """Largest ||(1, 2x - 1)||."""
        return sqrt(1 + self.d)

    @property
    def sigma(self) -> float:
        """Modulus of strong convexity of the risk when x is uniform; 0 if there is none."""
        return self.constants.curvature / 3


def read_problem(given: BoundedProblem | None) -> BoundedProblem:
    """Return the problem given, or the default one."""
    if given is None:
        return BoundedProblem()
    if not isinstance(given, BoundedProblem):
        raise TypeError(f"problem must be a BoundedProblem, got {_check.shown(given)}")
    return given
