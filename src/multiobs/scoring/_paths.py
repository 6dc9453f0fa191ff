"""What the width of a window does: to the score and estimate of a fit, and to drift of the mean."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, final

import numpy as np
import numpy.typing as npt
from joblib import Parallel, delayed
from sklearn.base import clone
from sklearn.model_selection import KFold

from multiobs import _check, statistics
from multiobs._check.estimators import require_regressor
from multiobs._check.rows import generator
from multiobs._types import FloatArray
from multiobs.samplers import Nearby, paper_epsilon
from multiobs.scoring._heldout import checked_rows
from multiobs.scoring._score import score
from multiobs.statistics import Statistic
from multiobs.transport import residuals_of

SAMPLED = 20_000  # tuples from which a mean over a window's tuples is taken


@final
@dataclass(frozen=True)
class EpsilonPath:
    """Held-out score and estimate against epsilon.

    Attributes
    ----------
    epsilon : ndarray (g,)
        Widths, in the units of x.
    score, score_se : ndarray (g,)
        Mean over the folds of the mean held-out loss, and the standard error of its difference
        from the best width.
    at : ndarray (q, d)
        Places where the statistic is estimated.
    estimate : ndarray (g, q)
        Estimate there from all rows, for each width.
    best : float
        The width of the best score.

    Examples
    --------
    >>> from multiobs import MultiObservationRegressor
    >>> rng = np.random.default_rng(0)
    >>> x = rng.uniform(size=(200, 1))
    >>> reg = MultiObservationRegressor("variance", transport=None)
    >>> path = epsilon_path(reg, x, rng.normal(size=200), epsilons=[0.05, 0.1], cv=2)
    >>> path.estimate.shape[0], bool(path.best in path.epsilon)
    (2, True)
    """

    statistic: Statistic
    epsilon: FloatArray
    score: FloatArray
    score_se: FloatArray
    at: FloatArray
    estimate: FloatArray
    best: float


@_check.arithmetic("X and y")
def epsilon_path(
    estimator: Any,
    X: npt.ArrayLike,
    y: npt.ArrayLike,
    *,
    epsilons: npt.ArrayLike | None = None,
    at: npt.ArrayLike | None = None,
    cv: int = 5,
    n_jobs: int | None = None,
) -> EpsilonPath:
    """Fit an estimator with Nearby(epsilon) for several widths, and score each on held-out rows.

    Parameters
    ----------
    estimator : MultiObservationRegressor
        Everything but its sampler is kept.
    X, y : array-like (n, d), (n,)
        Rows; split into ``cv`` shuffled folds for the score.
    epsilons : array-like (g,), optional
        Widths; by default 1/4 to 32 times the paper's.
    at : array-like (q, d), optional
        Places of the estimates; by default the quartiles of each column.
    cv : int
        Folds.
    n_jobs : int, optional
        Widths at once, as in joblib, whose backends (Dask's, too) may run them.

    Examples
    --------
    >>> from multiobs import MultiObservationRegressor
    >>> rng = np.random.default_rng(0)
    >>> x = rng.uniform(size=(400, 1))
    >>> y = rng.normal(scale=1 + x[:, 0])
    >>> path = epsilon_path(MultiObservationRegressor("variance"), x, y, epsilons=[0.01, 0.1])
    >>> path.score.shape, path.estimate.shape
    ((2,), (2, 3))
    """
    if "sampler" not in vars(require_regressor("estimator", estimator)):
        raise TypeError(
            f"estimator must be a MultiObservationRegressor, got {_check.shown(estimator)}"
        )
    statistic = statistics.resolve(estimator.statistic)
    positions, labels = checked_rows(statistic, X, y)
    count = _check.integer("cv", cv, low=2)
    if count * statistic.arity > labels.shape[0]:
        raise ValueError(
            f"cv must leave {statistic.arity} rows in each fold, got {count} folds of "
            f"{labels.shape[0]} rows"
        )
    folds = KFold(count, shuffle=True, random_state=0)
    if epsilons is None:
        widths = np.asarray(paper_epsilon(positions) * 2.0 ** np.arange(-2, 6), dtype=np.float64)
    else:
        widths = np.sort(_grid("epsilons", epsilons))
    places = (
        np.quantile(positions, [0.25, 0.5, 0.75], axis=0)
        if at is None
        else _places(at, positions.shape[1])
    )
    models = [clone(estimator).set_params(sampler=Nearby(float(width))) for width in widths]
    found = Parallel(n_jobs=n_jobs)(
        delayed(_at_width)(model, positions, labels, places, folds) for model in models
    )
    estimate, scores = (np.stack([each[i] for each in found]) for i in range(2))
    mean = scores.mean(axis=1)
    best = int(np.argmin(mean))
    gap = scores - scores[best]
    se = gap.std(axis=1, ddof=1) / np.sqrt(cv)
    return EpsilonPath(statistic, widths, mean, se, places, estimate, float(widths[best]))


def _places(at: npt.ArrayLike, d: int) -> FloatArray:
    places = _check.finite("at", at)
    if places.size == 0 or places.size % d:
        raise ValueError(f"at must be positions (q, {d}), got shape {places.shape}")
    return places.reshape(-1, d)


def _grid(name: str, given: npt.ArrayLike) -> FloatArray:
    widths = np.atleast_1d(_check.finite(name, given))
    if widths.ndim != 1 or widths.size == 0 or np.any(widths < 0):
        raise ValueError(f"{name} must be widths of at least 0, got {_check.shown(given)}")
    return widths


def _at_width(
    model: Any, positions: FloatArray, labels: FloatArray, places: FloatArray, folds: KFold
) -> tuple[FloatArray, FloatArray]:
    """Estimates at some places, and the score of each fold."""
    statistic = statistics.resolve(model.statistic)
    estimate = model.fit(positions, labels).predict(places)
    scores = []
    for train, test in folds.split(positions):
        prediction = clone(model).fit(positions[train], labels[train]).predict(positions[test])
        scores.append(score(statistic, positions[test], labels[test], prediction))
    return np.asarray(estimate), np.array(scores)


@final
@dataclass(frozen=True)
class DriftCurve:
    """The statistic averaged over x, as windows of growing width see it.

    Attributes
    ----------
    width : ndarray (g,)
        Widths of the windows, in the units of x.
    plain : ndarray (g,)
        From the labels as they are: rises (or falls) as the mean drifts inside the windows.
    transported : ndarray (g,) or None
        From labels transported along a smooth mean; None where no shift leaves the statistic alone.
    paper : float
        The paper's epsilon in the units of x.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> x = rng.uniform(size=(500, 1))
    >>> curve = drift_curve("variance", x, 3 * x[:, 0] + rng.normal(size=500))
    >>> bool(curve.plain[-1] > curve.transported[-1])  # the slope of the mean in wide windows
    True
    """

    statistic: Statistic
    width: FloatArray
    plain: FloatArray
    transported: FloatArray | None
    paper: float


@_check.arithmetic("X and y")
def drift_curve(
    statistic: str | Statistic,
    X: npt.ArrayLike,
    y: npt.ArrayLike,
    *,
    widths: Sequence[float] | None = None,
    random_state: int | np.random.Generator | None = 0,
) -> DriftCurve:
    r"""Show the bias that a drifting mean brings into windows of growing width.

    A pair at distance h has
    :math:`\mathbb{E}\tfrac12(Y-Y')^2 = \sigma^2 + \tfrac12(m(x)-m(x+h))^2`: the curve of a variance
    is flat where windows are harmless, and its rise is the bias. The same labels less a spline of
    their mean (``transport``) show what is left after carrying them.

    Parameters
    ----------
    statistic : str or Statistic
        What is estimated.
    X, y : array-like (n, d), (n,) or (n, s)
        Rows.
    widths : sequence of float, optional
        Widths in the units of x; by default 1/4 to 32 times the paper's epsilon.
    random_state : int, Generator or None
        For the random subsets of large sets of tuples.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> x = rng.uniform(size=1000)
    >>> y = 3 * np.sin(12 * x) + rng.normal(size=1000)
    >>> curve = drift_curve("variance", x, y)
    >>> bool(curve.plain[-1] > 2 > 1.2 > curve.transported[-1])
    True
    """
    chosen = statistics.resolve(statistic)
    positions, labels = checked_rows(chosen, X, y)
    rng = generator(random_state)
    paper = paper_epsilon(positions)
    grid = paper * 2.0 ** np.arange(-2, 5.5, 0.5) if widths is None else _grid("widths", widths)
    residuals = None
    offset: FloatArray | None = None
    if chosen.shift is not None:
        moved = residuals_of("location", chosen, positions, labels, None)
        residuals, offset = moved.labels, moved.offset
    plain, transported, used = [], [], []
    for width in grid:
        tuples = Nearby(float(width)).build(positions, chosen.arity, rng)
        if tuples.count() == 0:
            continue
        members = tuples.sample(SAMPLED, rng).members
        used.append(float(width))
        plain.append(_pooled(chosen, labels[members]))
        if residuals is not None:
            level = 0.0 if offset is None else float(offset[members].mean())
            transported.append(_pooled(chosen, residuals[members]) + level)
    if not used:
        raise ValueError(f"some width must hold {chosen.arity} rows, got {grid.tolist()}")
    return DriftCurve(
        chosen,
        np.array(used),
        np.array(plain),
        np.array(transported) if residuals is not None else None,
        paper,
    )


def _pooled(statistic: Statistic, Y: FloatArray) -> float:
    """Return the statistic of all tuples together."""
    if statistic.psi is not None:
        top = float(statistic.psi(Y).mean())
        return top if statistic.chi is None else top / float(statistic.chi(Y).mean())
    loss = statistic.loss
    level = loss.level(Y.reshape(-1))
    if loss.quadratic_kernels is None or level is None:
        raise ValueError(f"a drift curve needs a mean, ratio or root, got {statistic!r}")
    d, b, a = (float(k(Y).mean()) for k in loss.quadratic_kernels)
    sign = 1.0 if level <= -b / (2 * a) else -1.0
    return (-b + sign * float(np.sqrt(max(b * b - 4 * a * d, 0.0)))) / (2 * a)
