"""Rademacher complexity of bounded linear classes, in closed form and from data."""

import math
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ._inputs import (
    FloatArray,
    Number,
    at_least_one,
    generator,
    give,
    numbers,
    one_of,
    positive,
    representable,
    single,
    whole,
)

MOST_DRAWS = 10**8


@representable
def rademacher_linear(
    n: npt.ArrayLike,
    radius: npt.ArrayLike,
    feature_norm: npt.ArrayLike,
    *,
    norm: int = 2,
    p: npt.ArrayLike = 1,
) -> Number:
    r"""Bound on R_n of the linear functions with bounded coefficients.

    .. math:: \mathcal R_n(\{z \mapsto w \cdot z : \|w\|_2 \le W\}) \le \frac{W Z_2}{\sqrt n},
              \qquad \|w\|_1 \le W:\ W Z_\infty \sqrt{2 \log(2p)/n}

    Parameters
    ----------
    n : array_like
        Metasamples; n = 1 gives the constant c of R_n = c / sqrt(n).
    radius : array_like
        W, the bound on the norm of the coefficients (the intercept included).
    feature_norm : array_like
        ``Z_2 = max ||z||_2``, or ``Z_inf = max |z_j|`` when ``norm=1``; with the
        constant feature.
    norm : {1, 2}
        Which norm of w is bounded.
    p : array_like
        Number of features, read when ``norm=1`` only.

    Examples
    --------
    >>> rademacher_linear(100, 3.0, 2.0)
    0.6
    """
    one_of("norm", norm, (1, 2))
    n_, w_ = at_least_one("n", n), positive("radius", radius)
    z_ = positive("feature_norm", feature_norm)
    if norm == 2:
        return give(w_ * z_ / np.sqrt(n_))
    return give(w_ * z_ * np.sqrt(2 * np.log(2 * whole("p", p)) / n_))


class RademacherEstimate(NamedTuple):
    """Empirical Rademacher complexity: Monte Carlo value, its standard error, and a sure bound.

    Attributes
    ----------
    value : float
        Mean over random signs.
    standard_error : float
        Its Monte Carlo error.
    upper : float
        A bound without Monte Carlo error, by Jensen's inequality.

    Examples
    --------
    >>> found = empirical_rademacher_linear(np.eye(3), 1.0, rng=np.random.default_rng(0))
    >>> round(found.upper, 4)
    0.5774
    """

    value: float
    standard_error: float
    upper: float


@representable
def empirical_rademacher_linear(
    Z: npt.ArrayLike,
    radius: float,
    *,
    norm: int = 2,
    draws: int = 1000,
    rng: np.random.Generator,
) -> RademacherEstimate:
    r"""Rademacher complexity of a bounded linear class on given features.

    The supremum has a closed form, only the signs are drawn:

    .. math:: \hat{\mathcal R}_n = \frac Wn\,\mathrm E\left\|\sum_i \epsilon_i z_i\right\|_*,
              \qquad \text{upper} = \frac Wn \sqrt{\sum_i \|z_i\|_2^2} \ (\text{norm}=2)

    Parameters
    ----------
    Z : array_like of shape (n, p)
        Features of the metasamples, the constant one included if the class has an intercept.
    radius : float
        Bound on ||w||_2 (``norm=2``) or ||w||_1 (``norm=1``).
    draws : int
        Number of sign vectors.

    Returns
    -------
    RademacherEstimate
        value, standard_error of the Monte Carlo mean, upper (Jensen, or Massart's lemma for
        ``norm=1``), which holds without simulation.

    Examples
    --------
    >>> estimate = empirical_rademacher_linear([[1.0]] * 4, 2.0, rng=np.random.default_rng(0))
    >>> estimate.upper, abs(estimate.value - 0.75) < 4 * estimate.standard_error
    (1.0, True)
    """
    features = numbers("Z", Z)
    generator(rng)
    if features.ndim != 2 or features.shape[0] == 0 or features.shape[1] == 0:
        raise ValueError(f"Z must have shape (n, p) with n, p >= 1, got {features.shape}")
    if not np.isfinite(features).all():
        raise ValueError("Z must be finite, got NaN or infinity")
    if not 2 <= int(single("draws", whole("draws", draws))) <= MOST_DRAWS:
        raise ValueError(f"draws must be between 2 and {MOST_DRAWS}, got {draws}")
    draws = int(draws)
    one_of("norm", norm, (1, 2))
    w = single("radius", positive("radius", radius))
    n, p = features.shape
    values: FloatArray = np.empty(draws)
    # Chunks keep the sign matrix near 8 MB whatever n is.
    step = max(1, 1_000_000 // n)
    for start in range(0, draws, step):
        stop = min(start + step, draws)
        signs = rng.integers(0, 2, size=(stop - start, n)) * 2.0 - 1.0
        sums = signs @ features
        if norm == 2:
            values[start:stop] = np.sqrt((sums**2).sum(axis=1))
        else:
            values[start:stop] = np.abs(sums).max(axis=1)
    if norm == 2:
        upper = w / n * math.sqrt(float((features**2).sum()))
    else:
        columns = np.sqrt((features**2).sum(axis=0))
        upper = w / n * float(columns.max()) * math.sqrt(2 * math.log(2 * p))
    error = float(values.std(ddof=1)) / math.sqrt(draws)
    return RademacherEstimate(float(values.mean()) * (w / n), error * (w / n), upper)
