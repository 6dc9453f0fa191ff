r"""Efficient weights, as far as rows that are weighted so agree with rows that are not.

A kernel is noisier where labels spread more.  With weights by the inverse of its variance a line
that is a statistic of spread has a tenth to a third less error: if the statistic is a line.  If it
is not, the weights let the line go astray wherever the spread is large.  How the two differ is seen
in the rows: a statistic of the power q of the scale moves with x as :math:`|e|^q` does, e being
the residuals, and a line through these with weights and one without, :math:`\tilde b` and
:math:`\hat b`, estimate the same only in the first case (Hausman 1978).  Coefficients become

.. math::

    w = \hat w - \lambda c\, (\hat b - \tilde b), \qquad
    \lambda = \min\Big(1, \frac{\operatorname{tr} M D}
                               {(\hat b - \tilde b)' M (\hat b - \tilde b)}\Big)

with D the covariance of the difference, M the second moments of the features and c the level of the
statistic over that of :math:`|e|^q`: a positive-part Stein estimator (Judge and Mittelhammer
2004).  A difference that is no larger than its noise is followed, a much larger one hardly at all.
"""

from dataclasses import replace

import numpy as np

from multiobs._types import FloatArray
from multiobs.fit.linear import LinearFit

FEWEST = 60  # rows, below which little is known of how the spread moves
LEAST = 0.2  # of the mean spread: none is taken to be smaller


def efficiently_weighted(fit: LinearFit) -> LinearFit:
    """Return the fit, moved towards one with efficient weights as far as both agree.

    Parameters
    ----------
    fit : LinearFit
        With weights that do not depend on the spread.

    Returns
    -------
    LinearFit
        The fit itself where it is not of a spread by squared loss, not of residuals from a pilot,
        or of few rows.

    Examples
    --------
    >>> from multiobs import MultiObservationRegressor
    >>> rng = np.random.default_rng(0)
    >>> x = rng.uniform(size=(500, 1))
    >>> y = rng.normal(scale=np.sqrt(0.2 + x[:, 0]))
    >>> exact = MultiObservationRegressor("variance", alpha=0.0).fit(x, y).result_
    >>> bool(np.any(efficiently_weighted(exact).w != exact.w))
    True
    """
    problem, statistic, residuals = fit.problem, fit.problem.statistic, fit.problem.residuals
    squared = statistic.of_spread and statistic.loss_growth == 2 * (statistic.scale or 0)
    moved = residuals.pilot is not None and residuals.scale is None
    labels = residuals.labels
    if not (squared and moved and labels.ndim == 1 and fit.solution.status.success):
        return fit
    counts = problem.tuples.membership_counts()
    if problem.weight is not None:  # weights multiply within a tuple
        counts = counts * problem.weight**statistic.arity
    used = counts > 0
    if np.count_nonzero(used) < FEWEST:
        return fit
    design, sizes = fit.design, np.abs(labels[used]) ** (statistic.scale or 0)
    Z = (design.raw(problem.X[used]) - design.centre) / design.spread
    if design.intercept:
        Z = np.column_stack([np.ones(Z.shape[0]), Z])
    gap = _guarded_difference(Z, sizes, counts[used] / counts[used].mean())
    level = float(np.average(sizes, weights=counts[used]))
    if gap is None or not level > 0:
        return fit
    share = float(np.average(Z @ fit.w, weights=counts[used])) / level
    return replace(fit, solution=replace(fit.solution, w=fit.w - share * gap))


def _guarded_difference(Z: FloatArray, y: FloatArray, weight: FloatArray) -> FloatArray | None:
    """Difference (p,) of lines without and with efficient weights, as far as it is noise."""
    plain, influence = _line(Z, y, weight)
    fitted = Z @ plain
    level = float(np.average(fitted, weights=weight))
    held = np.maximum(fitted, LEAST * level)
    if not level > 0:
        return None
    other, apart = _line(Z, y, weight * (level / held) ** 2)
    gap, apart = plain - other, influence - apart
    M = (Z * weight[:, None]).T @ Z
    size, noise = float(gap @ M @ gap), float(np.sum((apart.T @ apart) * M))
    if not (size > 0.0 and np.isfinite(noise)):
        return None
    return np.asarray(min(1.0, noise / size) * gap)


def _line(Z: FloatArray, y: FloatArray, weight: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Weighted least squares (p,), and what each row contributes to it, (n, p)."""
    weighted = Z * weight[:, None]
    inverse = np.linalg.pinv(weighted.T @ Z, rcond=1e-12, hermitian=True)
    found = inverse @ (weighted.T @ y)
    return found, (weighted * (y - Z @ found)[:, None]) @ inverse
