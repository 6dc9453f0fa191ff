"""Rates of convergence, in rows and in labels, and the two-moment route's limit."""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ._inputs import (
    FloatArray,
    Number,
    at_least_one,
    elementwise,
    give,
    one_of,
    switch,
    unlog,
    whole,
)

DESIGNS = ("two-moment", "slow", "fast")
COUNTS = ("rows", "labels")


def rate_exponent(design: str, d: npt.ArrayLike, *, count: str = "labels") -> Number:
    r"""Exponent a of an excess risk that falls like (number)^a, logarithms left out.

    ============  =============  ==============
    design        rows N         labels n m
    ============  =============  ==============
    two-moment    -2/(2+d)       -2/(2+d)
    slow          -1/(d+1)       -1/2
    fast          -1/d           -1
    ============  =============  ==============

    Parameters
    ----------
    design : {"two-moment", "slow", "fast"}
        The single-observation route through two Lipschitz moments (a lower bound: no estimator is
        faster), Theorem 1 with R_n(F) = O(1/sqrt(n)), Theorem 2.
    d : array_like
        Dimension of x.
    count : {"rows", "labels"}
        What is counted: rows in supervised learning, labels in pool-based active learning. The
        two-moment route uses each row's label once, so that both are the same.

    References
    ----------
    Discussions after Theorems 1 and 2; section 'Lower bounds for single-observation losses'.

    Examples
    --------
    >>> rate_exponent("slow", 3, count="rows")
    -0.25
    >>> rate_exponent("two-moment", [1, 2])
    array([-0.66666667, -0.5       ])
    """
    one_of("design", design, DESIGNS)
    one_of("count", count, COUNTS)
    d_ = whole("d", d)
    if design == "two-moment":
        return give(-2 / (2 + d_))
    if count == "labels":
        return give(np.full_like(d_, -0.5 if design == "slow" else -1.0))
    return give(-1 / (d_ + 1) if design == "slow" else -1 / d_)


def _power(count: FloatArray, exponent: Number) -> Number:
    return unlog(np.asarray(exponent) * np.log(count), False)


@elementwise
def two_moment_rate(n: npt.ArrayLike, d: npt.ArrayLike) -> Number:
    r"""Rate that no estimator of the variance through two Lipschitz moments can beat.

    .. math:: n^{-2/(2+d)}

    A rate, not a bound: the constant of the minimax theorem is left out.

    Parameters
    ----------
    n, d : array_like
        Rows, and the dimension of x.

    References
    ----------
    Stone's lower bound as used in the paper's comparison with single-observation losses.

    Examples
    --------
    >>> round(two_moment_rate(1000, 1), 12)
    0.01
    """
    return _power(at_least_one("n", n), rate_exponent("two-moment", d))


def direct_rate(n: npt.ArrayLike) -> Number:
    r"""Rate in metasamples of the direct route when the statistic is in a linear class.

    .. math:: n^{-1}

    Parameters
    ----------
    n : array_like
        Metasamples.

    Examples
    --------
    >>> direct_rate(1000)
    0.001
    """
    return give(1 / at_least_one("n", n))


@elementwise
def sample_rate(N: npt.ArrayLike, d: npt.ArrayLike, *, fast: bool = False) -> Number:
    r"""Rate of the excess risk in rows: N^{-1/(d+1)} (Theorem 1) or N^{-1/d} (Theorem 2).

    Parameters
    ----------
    N, d : array_like
        Rows, and the dimension of x.
    fast : bool
        Theorem 2 instead of Theorem 1.

    Examples
    --------
    >>> round(sample_rate(10_000, 1), 12), round(sample_rate(10_000, 2, fast=True), 12)
    (0.01, 0.01)
    """
    design = "fast" if switch("fast", fast) else "slow"
    return _power(at_least_one("N", N), rate_exponent(design, d, count="rows"))


def label_rate(labels: npt.ArrayLike, *, fast: bool = False) -> Number:
    r"""Rate of the excess risk in labels n m: (nm)^{-1/2} (Theorem 1) or (nm)^{-1} (Theorem 2).

    Parameters
    ----------
    labels : array_like
        Labels used.
    fast : bool
        Theorem 2 instead of Theorem 1.

    Examples
    --------
    >>> round(label_rate(10_000), 12), round(label_rate(10_000, fast=True), 12)
    (0.01, 0.0001)
    """
    return _power(at_least_one("labels", labels), -1.0 if switch("fast", fast) else -0.5)


class StoneConstruction(NamedTuple):
    """Constants of the Bernoulli law on [0, 1]^d behind the two-moment limit."""

    lipschitz: Number
    amplitude: Number
    theta_low: Number
    theta_high: Number


def stone_construction(d: npt.ArrayLike) -> StoneConstruction:
    r"""Lipschitz constant and range of the Bernoulli parameter in the two-moment lower bound.

    theta(x) = 1/2 + g(x), g vanishing on the boundary and K-Lipschitz with K = 1/(2 sqrt(d)), so
    ``|g| <= K ||(1/2, ..., 1/2)|| = K sqrt(d)/2 = 1/4``. (The paper prints sqrt(d/2) for that norm
    and hence 1/(2 sqrt(2)); the right value is smaller and theta stays in [1/4, 3/4].)

    Parameters
    ----------
    d : array_like
        Dimension of x.

    Examples
    --------
    >>> stone_construction(4)
    StoneConstruction(lipschitz=0.25, amplitude=0.25, theta_low=0.25, theta_high=0.75)
    """
    d_ = whole("d", d)
    lipschitz = 1 / (2 * np.sqrt(d_))
    amplitude = lipschitz * np.sqrt(d_) / 2
    return StoneConstruction(
        give(lipschitz), give(amplitude), give(0.5 - amplitude), give(0.5 + amplitude)
    )
