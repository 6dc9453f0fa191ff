"""Excess risk of Algorithm 2: Theorem 1 (slow), Theorem 2 (fast), and their inverses."""

import math

import numpy as np
import numpy.typing as npt

from ._inputs import (
    FloatArray,
    Number,
    at_least_one,
    elementwise,
    fraction,
    give,
    nonnegative,
    positive,
    read_form,
    require,
    whole,
)
from .sampling import improved_sample_size_uniform

FAST_DELTA = 3 * math.exp(-4)


def _check_n(n: FloatArray, delta: FloatArray, mean_term: bool) -> None:
    """Check that at least half of the metasamples are good, as Hoeffding's step requires."""
    if mean_term:
        limit = 4 * (1 + np.sqrt(np.log(8 / delta) / 2)) ** 2
        text = "n must be at least 4 (1 + sqrt(log(8/delta)/2))^2 = {limit} (repaired Theorem 1)"
    else:
        limit = 2 * np.log(8 / delta)
        text = "n must be at least 2 log(8/delta) = {limit}"
    require(n >= limit, n, text, limit)


@elementwise
def uniform_convergence(
    n: npt.ArrayLike,
    L: npt.ArrayLike,
    B: npt.ArrayLike,
    rademacher: npt.ArrayLike,
    delta: npt.ArrayLike,
) -> Number:
    r"""Largest gap between risk and empirical risk over the class, with probability 1 - delta.

    .. math:: \sup_f \{R(f) - R_n(f)\} \le 2 L \mathcal R_n(F) + B \sqrt{\log(1/\delta)/(2n)}

    Parameters
    ----------
    n, L, B, rademacher, delta : array_like
        As in :func:`excess_risk`.

    References
    ----------
    The uniform convergence lemma of the paper's section 2.

    Examples
    --------
    >>> round(uniform_convergence(200, 2.0, 1.0, 0.1, math.exp(-4)), 12)
    0.5
    """
    n_, l_, b_ = at_least_one("n", n), nonnegative("L", L), nonnegative("B", B)
    r_, delta_ = nonnegative("rademacher", rademacher), fraction("delta", delta)
    return give(2 * l_ * r_ + b_ * np.sqrt(-np.log(delta_) / (2 * n_)))


def _corruption(m: FloatArray, K: FloatArray, delta: FloatArray, mean_term: bool) -> FloatArray:
    """Factor of 2B/sqrt(n) in Theorem 1."""
    log4 = np.sqrt(np.log(4 / delta))
    if not mean_term:
        return np.asarray(2 * log4 + m * K)
    # t1 and t3 of the proof add 2 B sqrt(log(4/delta)/(2n)) that the printed bound leaves out.
    deviation = log4 / math.sqrt(2)
    return np.asarray(log4 + np.sqrt(np.log(8 / delta) / 2) + 1 + m * K + deviation)


@elementwise
def excess_risk(
    n: npt.ArrayLike,
    m: npt.ArrayLike,
    K: npt.ArrayLike,
    L: npt.ArrayLike,
    B: npt.ArrayLike,
    rademacher: npt.ArrayLike,
    delta: npt.ArrayLike,
    *,
    form: str = "paper",
) -> Number:
    r"""Excess risk of Algorithm 2 with n metasamples within 1/sqrt(n): the slow rate.

    .. math:: 2 L \mathcal R_n(F) + 2B \left(2\sqrt{\log(4/\delta)} + mK\right)/\sqrt n

    Parameters
    ----------
    n, m : array_like
        Metasamples (at least 2 log(8/delta)) and arity.
    K : array_like
        Lipschitz constant of x -> D_x in total variation (A1).
    L, B : array_like
        Lipschitz constant of the loss in its first argument; the loss takes values in [0, B].
    rademacher : array_like
        R_n(F) of the class at this n, for instance :func:`rademacher_linear`.
    delta : array_like
        Failure probability.
    form : {"paper", "repaired"}
        The printed bound, or the sum the proof adds up with the mean number of anchors in light
        cells:
        :math:`2LR_n + 2B(\sqrt{\ell_4} + \sqrt{\ell_8/2} + 1 + mK + \sqrt{\ell_4/2})/\sqrt n`
        with :math:`\ell_c = \log(c/\delta)`, for n >= 4 (1 + sqrt(log(8/delta)/2))^2.

    References
    ----------
    Theorem 1 (excess risk with corrupted samples). The rows it takes are
    :func:`improved_sample_size`; the labels are n m.

    Examples
    --------
    >>> delta = 4 * math.exp(-4)  # log(4/delta) = 4
    >>> excess_risk(10_000, 2, 1.0, 2.0, 1.0, 0.01, delta)
    0.16
    """
    n_, m_, k_ = at_least_one("n", n), whole("m", m), nonnegative("K", K)
    l_, b_ = nonnegative("L", L), nonnegative("B", B)
    r_, delta_ = nonnegative("rademacher", rademacher), fraction("delta", delta)
    mean_term = read_form(form)
    _check_n(n_, delta_, mean_term)
    return give(2 * l_ * r_ + 2 * b_ * _corruption(m_, k_, delta_, mean_term) / np.sqrt(n_))


def _fast_numerator(
    B: npt.ArrayLike,
    L: npt.ArrayLike,
    sigma: npt.ArrayLike,
    delta: npt.ArrayLike,
    feature_norm: npt.ArrayLike | None,
    twice: bool,
) -> FloatArray:
    b_, l_, s_ = nonnegative("B", B), nonnegative("L", L), positive("sigma", sigma)
    delta_ = fraction("delta", delta)
    require(
        delta_ <= FAST_DELTA * (1 + 1e-12),
        delta_,
        "delta must be at most 3 exp(-4) = {limit} for the fast rate",
        FAST_DELTA,
    )
    phi = b_ if feature_norm is None else positive("feature_norm", feature_norm)
    log3 = np.log(3 / delta_)
    factor = 2.0 if twice else 1.0
    return np.asarray(factor * (3 * b_ * log3 + 8 * (l_ * phi) ** 2 * (32 + log3) / s_))


@elementwise
def fast_excess_risk(
    n: npt.ArrayLike,
    B: npt.ArrayLike,
    L: npt.ArrayLike,
    sigma: npt.ArrayLike,
    delta: npt.ArrayLike,
    *,
    feature_norm: npt.ArrayLike | None = None,
    form: str = "paper",
) -> Number:
    r"""Excess risk of Algorithm 2 when the risk is strongly convex and x uniform: the fast rate.

    .. math:: \frac{3B \log(3/\delta)}{n} + \frac{8 L^2 B^2 (32 + \log(3/\delta))}{\sigma n}

    Parameters
    ----------
    n : array_like
        Metasamples within 1/(mKn), see :func:`fast_epsilon`; at least 2 log(8/delta).
    B : array_like
        The loss takes values in [0, B] and, unless ``feature_norm`` is given, ||phi(x)|| <= B.
    L, sigma : array_like
        Lipschitz constant of the loss, strong convexity of the risk in w.
    delta : array_like
        Failure probability, at most 3 exp(-4) = 0.0549.
    feature_norm : array_like, optional
        A bound on ||phi(x)|| of its own; the paper uses B for both.
    form : {"paper", "repaired"}
        The printed bound is what the cited theorem gives when sigma is *half* the modulus of
        strong convexity (lambda = 2 sigma in the proof) and the factor 1 + a = 2 on the empirical
        term is left out. "repaired" reads sigma as the modulus itself (what
        :func:`strong_convexity` returns) and keeps the factor: both terms double.

    References
    ----------
    Theorem 2. The rows it takes are :func:`fast_sample_size`; the labels are n m.

    Examples
    --------
    >>> delta = 3 * math.exp(-5)  # log(3/delta) = 5
    >>> round(fast_excess_risk(1000, 1.0, 2.0, 0.5, delta), 12)
    2.383
    """
    n_, delta_ = at_least_one("n", n), fraction("delta", delta)
    numerator = _fast_numerator(B, L, sigma, delta, feature_norm, read_form(form))
    _check_n(n_, delta_, False)
    return give(numerator / n_)


@elementwise
def fast_epsilon(n: npt.ArrayLike, m: npt.ArrayLike, K: npt.ArrayLike) -> Number:
    r"""Radius of the metasamples in Theorem 2.

    .. math:: \epsilon = 1/(mKn)

    Parameters
    ----------
    n, m, K : array_like
        Metasamples, arity, Lipschitz constant of x -> D_x in total variation.

    Examples
    --------
    >>> fast_epsilon(100, 2, 0.5)
    0.01
    """
    n_, m_, k_ = at_least_one("n", n), whole("m", m), positive("K", K)
    product = m_ * k_ * n_
    require(product > 1, product, "m K n must exceed 1, so that epsilon = 1/(m K n) < {limit}", 1)
    return give(1 / product)


@elementwise
def fast_sample_size(
    n: npt.ArrayLike,
    m: npt.ArrayLike,
    d: npt.ArrayLike,
    K: npt.ArrayLike,
    delta: npt.ArrayLike,
    C: npt.ArrayLike = 1.0,
    *,
    log: bool = False,
) -> Number:
    r"""Rows for Theorem 2: the uniform lemma at epsilon = 1/(mKn) and delta/3.

    .. math:: N = C\, m \left(n + (\sqrt d/\epsilon)^d \log\frac{3 m d^d}{\delta \epsilon^d}\right)

    Parameters
    ----------
    n, m, d, K, delta, C, log
        As in :func:`improved_sample_size_uniform`; K in place of the radius.

    Examples
    --------
    >>> a = fast_sample_size(100, 2, 1, 0.5, 0.05)
    >>> a == improved_sample_size_uniform(100, 2, 1, 0.01, 0.05 / 3)
    True
    """
    epsilon = fast_epsilon(n, m, K)
    third = fraction("delta", delta) / 3
    return improved_sample_size_uniform(n, m, d, epsilon, third, C, log=log)


def _check_target(target: npt.ArrayLike) -> FloatArray:
    return positive("target", target)


@elementwise
def slow_metasamples(
    target: npt.ArrayLike,
    m: npt.ArrayLike,
    K: npt.ArrayLike,
    L: npt.ArrayLike,
    B: npt.ArrayLike,
    rademacher_constant: npt.ArrayLike,
    *,
    delta: npt.ArrayLike,
    form: str = "paper",
) -> Number:
    """Metasamples for which Theorem 1 promises an excess risk of at most ``target``.

    Parameters
    ----------
    rademacher_constant : array_like
        c with R_n(F) = c / sqrt(n): ``rademacher_linear(1, ...)`` for a bounded linear class.

    Returns
    -------
    float or ndarray
        The smallest whole n that also meets the theorem's condition on n.

    Examples
    --------
    >>> delta = 4 * math.exp(-4)
    >>> slow_metasamples(0.16, 2, 1.0, 2.0, 1.0, 1.0, delta=delta)
    10000.0
    """
    target_, delta_ = _check_target(target), fraction("delta", delta)
    m_, k_ = whole("m", m), nonnegative("K", K)
    l_, b_ = nonnegative("L", L), nonnegative("B", B)
    c_ = nonnegative("rademacher_constant", rademacher_constant)
    mean_term = read_form(form)
    factor = 2 * l_ * c_ + 2 * b_ * _corruption(m_, k_, delta_, mean_term)
    # The quotient of exact inputs may land a rounding error above a whole number.
    count = np.ceil((factor / target_) ** 2 * (1 - 1e-12))
    if mean_term:
        least = 4 * (1 + np.sqrt(np.log(8 / delta_) / 2)) ** 2
    else:
        least = 2 * np.log(8 / delta_)
    return give(np.maximum(count, np.ceil(least)))


@elementwise
def fast_metasamples(
    target: npt.ArrayLike,
    B: npt.ArrayLike,
    L: npt.ArrayLike,
    sigma: npt.ArrayLike,
    delta: npt.ArrayLike,
    *,
    feature_norm: npt.ArrayLike | None = None,
    form: str = "paper",
) -> Number:
    """Metasamples for which Theorem 2 promises an excess risk of at most ``target``.

    Parameters
    ----------
    target, B, L, sigma, delta, feature_norm, form
        The excess risk wanted; the others as in :func:`fast_excess_risk`.

    Returns
    -------
    float or ndarray
        The smallest whole n that also meets n >= 2 log(8/delta).

    Examples
    --------
    >>> fast_metasamples(2.383, 1.0, 2.0, 0.5, 3 * math.exp(-5))
    1000.0
    """
    target_ = _check_target(target)
    numerator = _fast_numerator(B, L, sigma, delta, feature_norm, read_form(form))
    count = np.ceil(numerator / target_ * (1 - 1e-12))
    return give(np.maximum(count, np.ceil(2 * np.log(8 / fraction("delta", delta)))))


@elementwise
def clean_excess_risk(
    n: npt.ArrayLike,
    L: npt.ArrayLike,
    B: npt.ArrayLike,
    rademacher: npt.ArrayLike,
    delta: npt.ArrayLike,
) -> Number:
    r"""Excess risk of ERM on n metasamples whose labels really come from one x each.

    .. math:: 2 L \mathcal R_n(F) + B \sqrt{2 \log(2/\delta)/n}

    This is Theorem 1 without corruption: t1 and t3 of its proof at delta/2 each. It holds for
    replicates (fully active learning), any law of x and any dimension.

    Parameters
    ----------
    n, L, B, rademacher, delta : array_like
        As in :func:`excess_risk`.

    Examples
    --------
    >>> round(clean_excess_risk(10_000, 2.0, 1.0, 0.01, 2 * math.exp(-2)), 12)
    0.06
    """
    n_, l_, b_ = at_least_one("n", n), nonnegative("L", L), nonnegative("B", B)
    r_, delta_ = nonnegative("rademacher", rademacher), fraction("delta", delta)
    return give(2 * l_ * r_ + b_ * np.sqrt(2 * np.log(2 / delta_) / n_))


@elementwise
def clean_metasamples(
    target: npt.ArrayLike,
    L: npt.ArrayLike,
    B: npt.ArrayLike,
    rademacher_constant: npt.ArrayLike,
    delta: npt.ArrayLike,
) -> Number:
    """Replicated metasamples for which :func:`clean_excess_risk` is at most ``target``.

    Parameters
    ----------
    target, L, B, rademacher_constant, delta : array_like
        As in :func:`slow_metasamples`.

    Examples
    --------
    >>> clean_metasamples(0.06, 2.0, 1.0, 1.0, 2 * math.exp(-2))
    10000.0
    """
    target_ = _check_target(target)
    l_, b_ = nonnegative("L", L), nonnegative("B", B)
    c_, delta_ = nonnegative("rademacher_constant", rademacher_constant), fraction("delta", delta)
    factor = 2 * l_ * c_ + b_ * np.sqrt(2 * np.log(2 / delta_))
    return give(np.maximum(np.ceil((factor / target_) ** 2 * (1 - 1e-12)), 1))
