"""How many rows make n metasamples: the sampling lemmas (paper, appendix 'Proofs of sampling')."""

import numpy as np
import numpy.typing as npt

from ._inputs import (
    FloatArray,
    Number,
    at_least_one,
    elementwise,
    fraction,
    give,
    one_of,
    positive,
    read_form,
    representable,
    unlog,
    whole,
)

LEMMAS = ("naive", "improved", "uniform")


@elementwise
def naive_sample_size(
    n: npt.ArrayLike, m: npt.ArrayLike, d: npt.ArrayLike, delta: npt.ArrayLike, *, log: bool = False
) -> Number:
    r"""Rows that Algorithm 1 needs for n metasamples within 1/sqrt(n), any law of x on [0, 1]^d.

    .. math:: N = m\, n^{(d+3)/2}\, d^{d/2} \log(2mn/\delta)

    Parameters
    ----------
    n, m, d, delta : array_like, broadcast against each other
        Metasamples, arity, dimension of x, failure probability.
    log : bool
        Return log N, which never overflows.

    Returns
    -------
    float or ndarray
        N, not rounded; the n anchors are drawn besides.

    References
    ----------
    Naive Sampling Lemma. No unknown constant. The number of metasamples that are good is
    :func:`good_set_size`.

    Examples
    --------
    >>> round(naive_sample_size(100, 2, 1, 0.05))
    179744
    """
    n_, m_ = at_least_one("n", n), whole("m", m)
    d_, delta_ = whole("d", d), fraction("delta", delta)
    tail = np.log(np.log(2 * m_) + np.log(n_) - np.log(delta_))
    return unlog(np.log(m_) + (d_ + 3) / 2 * np.log(n_) + d_ / 2 * np.log(d_) + tail, log)


@elementwise
def improved_sample_size(
    n: npt.ArrayLike,
    m: npt.ArrayLike,
    d: npt.ArrayLike,
    delta: npt.ArrayLike,
    C: npt.ArrayLike = 1.0,
    *,
    log: bool = False,
) -> Number:
    r"""Rows that Algorithm 2 needs for n metasamples within 1/sqrt(n), any law of x on [0, 1]^d.

    .. math:: N = C\, m\, n^{(d+1)/2}\, d^{d/2} \left(\log(m/\delta) + d \log(nd)\right)

    Parameters
    ----------
    n, m, d, delta : array_like, broadcast against each other
        Metasamples, arity, dimension of x, failure probability.
    C : array_like
        The universal constant, which the paper does not give. 1.0 is enough with a wide margin on
        every law tried by ``benchmarks/calibrate_constants.py``; see the page *Theory*.
    log : bool
        Return log N, which never overflows.

    Returns
    -------
    float or ndarray
        N, not rounded; the n anchors are drawn besides.

    References
    ----------
    Improved Nonuniform Sampling Lemma, used by Theorem 1.

    Examples
    --------
    >>> round(improved_sample_size(100, 2, 1, 0.05))
    1659
    >>> improved_sample_size(1e6, 2, 50, 0.05, log=True) < 500
    True
    """
    n_, m_, d_ = at_least_one("n", n), whole("m", m), whole("d", d)
    delta_, c_ = fraction("delta", delta), positive("C", C)
    tail = np.log(np.log(m_) - np.log(delta_) + d_ * np.log(n_ * d_))
    power = (d_ + 1) / 2 * np.log(n_) + d_ / 2 * np.log(d_)
    return unlog(np.log(c_) + np.log(m_) + power + tail, log)


@elementwise
def improved_sample_size_uniform(
    n: npt.ArrayLike,
    m: npt.ArrayLike,
    d: npt.ArrayLike,
    epsilon: npt.ArrayLike,
    delta: npt.ArrayLike,
    C: npt.ArrayLike = 1.0,
    *,
    log: bool = False,
) -> Number:
    r"""Rows that Algorithm 2 needs for n metasamples within epsilon when x is uniform on [0, 1]^d.

    .. math:: N = C\, m \left(n + (\sqrt d/\epsilon)^d
              \left(\log(m/\delta) + d \log(d/\epsilon)\right)\right)

    Parameters
    ----------
    n, m, d, epsilon, delta : array_like, broadcast against each other
        Metasamples, arity, dimension of x, radius in (0, 1), failure probability.
    C : array_like
        The universal constant, which the paper does not give. 1.0 is enough on the whole grid of
        ``benchmarks/calibrate_constants.py``; see the page *Theory*.
    log : bool
        Return log N, which never overflows.

    Returns
    -------
    float or ndarray
        N, not rounded; the n anchors are drawn besides.

    References
    ----------
    Improved Uniform Sampling Lemma, used by Theorem 2. All n metasamples are good.

    Examples
    --------
    >>> round(improved_sample_size_uniform(100, 2, 1, 0.1, 0.05))
    320
    """
    n_, m_, d_ = at_least_one("n", n), whole("m", m), whole("d", d)
    epsilon_, delta_, c_ = fraction("epsilon", epsilon), fraction("delta", delta), positive("C", C)
    log_cells = d_ * (np.log(d_) / 2 - np.log(epsilon_))
    tail = np.log(np.log(m_) - np.log(delta_) + d_ * (np.log(d_) - np.log(epsilon_)))
    return unlog(np.log(c_) + np.log(m_) + np.logaddexp(np.log(n_), log_cells + tail), log)


@representable
def good_set_size(n: npt.ArrayLike, delta: npt.ArrayLike, *, form: str = "paper") -> Number:
    r"""How many of n metasamples the naive and the nonuniform lemma promise to be within 1/sqrt(n).

    .. math:: n - \sqrt{n \log(2/\delta)/2} \quad\text{(paper)}, \qquad
              n - \sqrt n - \sqrt{n \log(2/\delta)/2} \quad\text{(repaired)}

    The proof bounds the number of anchors in light cells by Hoeffding's inequality and leaves out
    its mean, which can be as large as sqrt(n); the repaired form subtracts it.

    Parameters
    ----------
    n, delta : array_like
        Metasamples and failure probability.
    form : {"paper", "repaired"}
        As printed, or as the proof gives it.

    Returns
    -------
    float or ndarray
        Not rounded and never below 0.

    Examples
    --------
    >>> round(good_set_size(200, 2 * np.exp(-2.0)), 6)
    185.857864
    >>> round(good_set_size(200, 2 * np.exp(-2.0), form="repaired"), 6)
    171.715729
    """
    return _good_set(at_least_one("n", n), fraction("delta", delta), read_form(form))


def _good_set(n: FloatArray, delta: FloatArray, mean_term: bool) -> Number:
    light = np.sqrt(n * np.log(2 / delta) / 2) + (np.sqrt(n) if mean_term else 0.0)
    return give(np.maximum(n - light, 0.0))


@elementwise
def metasamples_within(
    N: npt.ArrayLike,
    m: npt.ArrayLike,
    d: npt.ArrayLike,
    delta: npt.ArrayLike,
    *,
    lemma: str = "improved",
    epsilon: npt.ArrayLike = 0.1,
    C: npt.ArrayLike = 1.0,
) -> Number:
    """How many metasamples a lemma promises from N rows: the sample size, inverted.

    Parameters
    ----------
    N, m, d, delta : array_like, broadcast against each other
        Rows, arity, dimension of x, failure probability.
    lemma : {"naive", "improved", "uniform"}
        Which sample size to invert; ``epsilon`` is read by "uniform" only, ``C`` not by "naive".

    Returns
    -------
    float or ndarray
        The largest whole n whose sample size is at most N; 0 if not even one.

    Examples
    --------
    >>> metasamples_within(1659.5, 2, 1, 0.05)
    100.0
    """
    one_of("lemma", lemma, LEMMAS)

    def log_rows(count: FloatArray) -> FloatArray:
        if lemma == "naive":
            return np.asarray(naive_sample_size(count, m, d, delta, log=True))
        if lemma == "improved":
            return np.asarray(improved_sample_size(count, m, d, delta, C, log=True))
        size = improved_sample_size_uniform(count, m, d, epsilon, delta, C, log=True)
        return np.asarray(size)

    log_n = np.log(at_least_one("N", N))
    one = np.ones(np.broadcast(log_n, log_rows(np.ones(()))).shape)
    # n <= N / (C m) in every lemma, and C may be below 1: search in log n, where 60 halvings
    # leave less than one unit for any N that a double holds exactly.
    low, high = np.zeros_like(one), np.zeros_like(one) + log_n + np.abs(np.log(positive("C", C)))
    for _ in range(80):
        middle = (low + high) / 2
        fits = log_rows(np.exp(middle)) <= log_n
        low, high = np.where(fits, middle, low), np.where(fits, high, middle)
    count = np.floor(np.exp(low))
    count = np.where(log_rows(count + 1) <= log_n, count + 1, count)
    return give(np.where(log_rows(one) <= log_n, count, 0.0))
