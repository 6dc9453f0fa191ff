"""What is impossible: lower bounds that grow exponentially with the dimension of x."""

import math
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ._inputs import (
    FloatArray,
    Number,
    at_least_one,
    elementwise,
    give,
    numbers,
    require,
    unlog,
    whole,
)


def _one_repeat_probability(rows: float, d: float) -> float:
    cells = 2.0**d if d < 1024 else math.inf
    if rows > cells:
        return 1.0
    ratio = rows / cells
    if ratio < 1e-3:
        # log prod (1 - i/M) as a series in i/M: no cancellation however large M is.
        last = rows - 1
        first = rows * last / 2
        second = rows * last * (2 * last + 1) / 6
        third = first**2
        log_none = -(first + (second / 2 + third / 3 / cells) / cells) / cells
        return -math.expm1(log_none)
    if rows > 1e7:  # then rows^2 / cells exceeds 1e4
        return 1.0
    steps = np.arange(1, int(rows), dtype=np.float64)
    return -math.expm1(float(np.log1p(-steps / cells).sum()))


@elementwise
def repeat_probability(rows: npt.ArrayLike, d: npt.ArrayLike) -> Number:
    r"""Probability that some x occurs twice among rows drawn uniformly from {0, 1}^d.

    .. math:: 1 - \prod_{i=1}^{N-1} (1 - i/2^d)

    Without a repeat, instances A (y a fair coin at every x) and B (y fixed by x) have exactly the
    same law, so this probability bounds what any test between them can achieve.

    Parameters
    ----------
    rows : array_like
        How many x are drawn.
    d : array_like
        Dimension of x.

    Examples
    --------
    >>> repeat_probability(2, 1), round(repeat_probability(23, 8), 4)
    (0.5, 0.6389)
    """
    read = np.vectorize(_one_repeat_probability, otypes=[np.float64])
    return give(read(whole("rows", rows), whole("d", d)))


@elementwise
def repeat_probability_bound(rows: npt.ArrayLike, d: npt.ArrayLike) -> Number:
    r"""Bound on the probability of a repeat that the paper uses (Markov's inequality).

    .. math:: \binom N2 2^{-d}

    Parameters
    ----------
    rows : array_like
        How many x are drawn.
    d : array_like
        Dimension of x.

    Examples
    --------
    >>> round(repeat_probability_bound(3, 2), 12)
    0.75
    """
    rows_, d_ = whole("rows", rows), whole("d", d)
    with np.errstate(divide="ignore"):
        log_pairs = np.log(rows_) + np.log(rows_ - 1) - math.log(2)
    return unlog(log_pairs - d_ * math.log(2), False)


@elementwise
def dimension_lower_bound(
    d: npt.ArrayLike, *, success: npt.ArrayLike = 2 / 3, log: bool = False
) -> Number:
    r"""Rows that any estimator of the average variance needs in dimension d.

    .. math:: N \ge \tfrac12 + \sqrt{\tfrac14 + 2 (2s - 1)\, 2^d} \approx 0.816 \cdot 2^{d/2}
              \quad (s = 2/3)

    An estimator that is right with probability s on A and on B (to less than 1/8 on the Boolean
    hypercube, to less than 1/32 on [0, 1]^d with K = d) needs a repeat: s <= 1 - s + P(repeat),
    and P(repeat) <= N(N-1)/2^{d+1}.

    Parameters
    ----------
    d : array_like
        Dimension of x.
    success : array_like
        s, above 1/2; the paper takes 2/3.
    log : bool
        Return the logarithm, which never overflows.

    References
    ----------
    Theorems of the appendix 'Lower Bounds for High Dimensions', with the constant the proof
    leaves inside Omega.

    Examples
    --------
    >>> round(dimension_lower_bound(20), 1)
    836.6
    """
    d_ = whole("d", d)
    s_ = numbers("success", success)
    require((s_ > 0.5) & (s_ < 1), s_, "success must lie between 1/2 and {limit}", 1)
    log_inner = np.logaddexp(math.log(0.25), np.log(2 * (2 * s_ - 1)) + d_ * math.log(2))
    return unlog(np.logaddexp(math.log(0.5), log_inner / 2), log)


class CornerCube(NamedTuple):
    """Constants of the continuous lower-bound construction.

    Attributes
    ----------
    beta : float or ndarray
        Distance of a corner's cube from the middle of its side.
    alpha : float or ndarray
        Side of a corner's cube, 1/2 - beta.
    lipschitz : float or ndarray
        K of the family.
    corner_volume : float or ndarray
        Volume of all corners together.
    variance_bound : float or ndarray
        Upper bound on the average variance of instance B.
    accuracy : float or ndarray
        Half its distance from 1/4.

    Examples
    --------
    >>> corner_cube(2).lipschitz
    2.0
    """

    beta: Number
    alpha: Number
    lipschitz: Number
    corner_volume: Number
    variance_bound: Number
    accuracy: Number


@elementwise
def corner_cube(d: npt.ArrayLike, C: npt.ArrayLike = 1.0) -> CornerCube:
    r"""Constants of the lower-bound family on [0, 1]^d with 2^d corners of side 1/2 - beta.

    .. math:: \beta = \frac1{2Cd},\quad \alpha = \tfrac12 - \beta,\quad K = \frac1{2\beta} = Cd,
              \quad \overline{\mathrm{Var}} \le \tfrac14\left(1 - (1 - \tfrac1{Cd})^d\right)
              \le \frac{4C - 1}{16 C^2}

    The paper prints beta = 1/(4d) for C = 1 but computes with 1/(2d), and prints K = C/d where
    1/(2 beta) = C d; the values here are those its computation uses.

    Parameters
    ----------
    d : array_like
        Dimension of x.
    C : array_like
        How many times d the Lipschitz constant is; the paper's family has 1.

    Returns
    -------
    CornerCube
        beta, side alpha, Lipschitz constant K, total volume of the corners, the bound
        (4C - 1)/(16 C^2) on the average variance, and half its distance from 1/4: the accuracy
        below which A and B must be distinguished (1/32 for C = 1).

    Examples
    --------
    >>> cube = corner_cube(2)
    >>> cube.beta, cube.alpha, cube.lipschitz, cube.corner_volume, cube.variance_bound * 16
    (0.25, 0.25, 2.0, 0.25, 3.0)
    >>> cube.accuracy * 32
    1.0
    """
    d_, c_ = whole("d", d), at_least_one("C", C)
    require(d_ >= 2, d_, "d must be at least {limit} for the corner construction", 2)
    require(c_ <= 1e100, c_, "C must be at most {limit}", 1e100)
    require(d_ <= 1e100, d_, "d must be at most {limit}", 1e100)
    beta = 1 / (2 * c_ * d_)
    volume: FloatArray = np.exp(d_ * np.log1p(-1 / (c_ * d_)))
    variance = (4 * c_ - 1) / (16 * c_**2) + 0 * d_
    return CornerCube(
        beta=give(beta),
        alpha=give(0.5 - beta),
        lipschitz=give(c_ * d_),
        corner_volume=give(volume),
        variance_bound=give(variance),
        accuracy=give((0.25 - variance) / 2),
    )
