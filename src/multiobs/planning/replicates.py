"""Fully active learning: how many labels at how many x, for a statistic and a budget."""

from dataclasses import dataclass, field
from math import comb, inf, isfinite
from typing import final

import numpy as np
import numpy.typing as npt

from multiobs import _check, statistics
from multiobs._types import FloatArray
from multiobs.statistics import Statistic

LARGEST = 1e50  # whose powers of a few observations a float still holds


def u_statistic_variance(components: npt.ArrayLike, q: int) -> float:
    r"""Variance of the average of a kernel of m labels over all m-subsets of q labels.

    .. math:: \operatorname{Var} U_q = \binom qm^{-1} \sum_{c=1}^m \binom mc \binom{q-m}{m-c}
              \zeta_c

    Parameters
    ----------
    components : array_like of shape (m,)
        zeta_c, the covariance of the kernel at two m-subsets that share c labels.
    q : int
        Labels, at least m.

    Examples
    --------
    >>> u_statistic_variance([0.5, 2.0], 10) * 9   # sample variance of a normal law: 2/(q - 1)
    2.0
    """
    zeta = _components(components)
    m = zeta.size
    q = _check.integer("q", q, low=m)
    parts = [comb(m, c) * comb(q - m, m - c) * zeta[c - 1] for c in range(1, m + 1)]
    return float(sum(parts) / comb(q, m))


def variance_components(
    statistic: str | Statistic,
    labels: npt.ArrayLike | None = None,
    *,
    draws: int = 200_000,
    rng: np.random.Generator,
) -> FloatArray:
    r"""Covariances zeta_1..zeta_m of a statistic's kernel, by simulation.

    Parameters
    ----------
    statistic : str or Statistic
        Mean-type: its kernel psi is averaged.
    labels : array_like of shape (k,), optional
        A pilot sample of labels at one x, resampled with replacement; a standard normal law
        without it.
    draws : int
        Pairs of overlapping subsets drawn for each c.

    Returns
    -------
    array of shape (m,)

    Examples
    --------
    >>> variance_components("variance", rng=np.random.default_rng(0)).round(1).tolist()
    [0.5, 2.0]
    """
    what = statistics.resolve(statistic)
    if what.form != "mean" or what.psi is None or what.n_columns != 1:
        raise ValueError(f"the statistic must be mean-type with one label column, got {what!r}")
    m = what.arity
    size = _check.integer("draws", draws, low=2)
    _check.generator("rng", rng)
    pilot = None if labels is None else _check.numbers("labels", labels).reshape(-1)
    if pilot is not None and pilot.size < 2:
        raise ValueError(f"labels must hold at least 2 values, got {pilot.size}")
    if pilot is not None and not np.isfinite(pilot).all():
        raise ValueError("labels must be finite, got NaN or infinity")
    if pilot is not None and np.abs(pilot).max() > LARGEST:
        raise ValueError(f"labels must be at most {LARGEST:g}, got {np.abs(pilot).max():g}")

    def draw(width: int) -> FloatArray:
        if pilot is None:
            return rng.standard_normal((size, width))
        return rng.choice(pilot, size=(size, width))

    components = np.empty(m)
    for c in range(1, m + 1):
        common = draw(c)
        first = what.psi(np.hstack([common, draw(m - c)]))
        second = what.psi(np.hstack([common, draw(m - c)]))
        components[c - 1] = np.mean(first * second) - np.mean(first) * np.mean(second)
    return components


def _components(given: npt.ArrayLike) -> FloatArray:
    zeta = _check.numbers("components", given)
    if zeta.ndim != 1 or zeta.size == 0 or not np.isfinite(zeta).all():
        raise ValueError(f"components must be finite numbers (m,), got {_check.shown(given)}")
    return zeta


@final
@dataclass(frozen=True)
class ReplicateDesign:
    """How to spend a budget: n_points places x with replicates labels each.

    Attributes
    ----------
    n_points, replicates : int
        Places x, and labels at each.
    error : float
        Expected mean squared error of the fitted line or plane over x.
    spent : float
        What the design costs.
    table : tuple of (int, int, float)
        Replicates, places and error of every design that was considered.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> replicates_design("variance", 1000, components=[0.5, 2.0], rng=rng).labels <= 1000
    True
    """

    n_points: int
    replicates: int
    error: float
    spent: float
    table: tuple[tuple[int, int, float], ...] = field(repr=False)

    @property
    def labels(self) -> int:
        """Labels bought."""
        return self.n_points * self.replicates


def replicates_design(
    statistic: str | Statistic,
    budget: float,
    *,
    n_features: int = 2,
    misfit: float = 0.0,
    cost_point: float = 0.0,
    cost_label: float = 1.0,
    components: npt.ArrayLike | None = None,
    most: int = 200,
    rng: np.random.Generator,
) -> ReplicateDesign:
    r"""How many replicates at how many x estimate a statistic best for a budget.

    With q labels at each of n random x the pooled kernel has variance
    :math:`\operatorname{Var} U_q` (:func:`u_statistic_variance`), and a least-squares fit of p
    coefficients has the expected error

    .. math:: \mathrm{error}(q) = \frac{p}{n - p - 1}\,
              \left(\tau^2 + \operatorname{Var} U_q\right), \qquad
              n = \lfloor \text{budget} / (c_x + q\, c_y) \rfloor

    :math:`q \operatorname{Var} U_q` falls with q (for the variance of a normal law, 2q/(q-1)), so
    replicates pay until too few places are left for p coefficients or the statistic's own
    departure tau from the class, which more replicates do not average out, dominates.

    Parameters
    ----------
    statistic : str or Statistic
        Mean-type.
    budget : float
        To be spent on points and labels.
    n_features : int
        Coefficients p of the class, the intercept included.
    misfit : float
        tau, the standard deviation of the statistic about its best approximation in the class.
    cost_point, cost_label : float
        Cost of a new x, and of a label (crowdsourcing: finding an item, asking a worker).
    components : array_like of shape (m,), optional
        zeta of :func:`variance_components`; simulated for a standard normal law without it.
    most : int
        Largest number of replicates considered.

    Returns
    -------
    ReplicateDesign
        The best design; its table shows how flat the optimum is.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> best = replicates_design("variance", 1000, misfit=1.0, components=[0.5, 2.0], rng=rng)
    >>> best.replicates, best.n_points, best.labels
    (2, 500, 1000)
    >>> dear = replicates_design("variance", 1000, cost_point=20.0, components=[0.5, 2.0], rng=rng)
    >>> dear.replicates > 2
    True
    """
    what = statistics.resolve(statistic)
    money = _check.positive("budget", budget)
    p = _check.integer("n_features", n_features, low=1)
    with np.errstate(over="ignore"):
        tau2 = float(np.square(_check.nonnegative("misfit", misfit)))
    if not isfinite(tau2):
        raise ValueError(f"misfit must have a square that a float holds, got {misfit:g}")
    per_point = _check.nonnegative("cost_point", cost_point)
    per_label = _check.positive("cost_label", cost_label)
    zeta = variance_components(what, rng=rng) if components is None else _components(components)
    if zeta.shape != (what.arity,):
        raise ValueError(f"components must have shape ({what.arity},), got {zeta.shape}")
    table = []
    for q in range(what.arity, _check.integer("most", most, low=what.arity) + 1):
        n = int(money // (per_point + q * per_label))
        if n <= p + 1:
            break
        error = p / (n - p - 1) * (tau2 + u_statistic_variance(zeta, q))
        table.append((q, n, error))
    if not table:
        raise ValueError(
            f"budget must cover {p + 2} points with {what.arity} labels each, "
            f"{(p + 2) * (per_point + what.arity * per_label):g}, got {money:g}"
        )
    q, n, error = min(table, key=lambda row: row[2] if row[2] == row[2] else inf)
    return ReplicateDesign(n, q, error, n * (per_point + q * per_label), tuple(table))
