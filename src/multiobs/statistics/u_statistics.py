r"""Means of kernels over weighted samples, without listing the tuples of a sample.

:math:`\sum w_{i_1} \cdots w_{i_m} h(y_{i_1}, .., y_{i_m}) / \sum w_{i_1} \cdots w_{i_m}` over
distinct i, for each of several samples or weightings at once.
"""

import numpy as np

from multiobs._types import FloatArray
from multiobs.statistics.distinct import Exponent, distinct_sum
from multiobs.statistics.facts import VARIANCE
from multiobs.statistics.kernels import Equality, Kernel, Monomials, OrderStatistic, powers

_PAIRS_AT_ONCE = 2_000_000


def weighted_mean(kernel: Kernel, Y: FloatArray, W: FloatArray) -> FloatArray:
    """Weighted U-statistic of a kernel, by the way that its type allows.

    Parameters
    ----------
    kernel : Kernel
        A kernel without structure must have one or two observations: its pairs are listed.
    Y : array of shape (1 or q, n) or (1 or q, n, s)
        A sample in each row.
    W : array of shape (1 or q, n)
        Weights that sum to one in each row.

    Returns
    -------
    array of shape (q,)

    Examples
    --------
    >>> from multiobs.statistics.kernels import OrderStatistic
    >>> weighted_mean(OrderStatistic([1.0, 0.0]), np.array([[3.0, 1.0]]), np.array([[0.5, 0.5]]))
    array([1.])
    """
    if isinstance(kernel, Monomials):
        if kernel.terms == VARIANCE.terms and kernel.n_columns == 1:
            return _variance(Y, W)
        return _monomials(kernel, Y, W)
    if isinstance(kernel, OrderStatistic):
        return _ordered(kernel, Y, W)
    if isinstance(kernel, Equality):
        return _equal(kernel, Y, W)
    if kernel.arity <= 2:
        return _pairs(kernel, Y, W)
    raise ValueError(
        f"a plug-in of a kernel without structure must have arity 1 or 2, got {kernel!r}"
    )


def _variance(Y: FloatArray, W: FloatArray) -> FloatArray:
    deviation = Y - np.sum(W * Y, axis=1, keepdims=True)
    return np.asarray(np.sum(W * deviation**2, axis=1) / (1.0 - np.sum(W**2, axis=1)))


def _monomials(kernel: Monomials, Y: FloatArray, W: FloatArray) -> FloatArray:
    columns = Y[..., None] if kernel.n_columns == 1 else Y
    if kernel.shift_invariant:  # power sums of raw labels would cancel
        columns = columns - np.sum(W[..., None] * columns, axis=1, keepdims=True)
    m = kernel.arity
    out = np.zeros(max(len(W), len(columns)))
    none = (0,) * kernel.n_columns
    for term, coefficient in kernel.terms.items():
        padded = tuple(term) + (none,) * (m - len(term))
        out = out + coefficient * _distinct(padded, columns, W)
    return out / _distinct((none,) * m, columns, W)


def _distinct(exponents: tuple[Exponent, ...], columns: FloatArray, W: FloatArray) -> FloatArray:
    """Sum over distinct rows of the product of w y^e."""
    out = np.zeros(max(len(W), len(columns)))
    for factor, blocks in distinct_sum(tuple((1, exponent) for exponent in exponents)):
        product = np.full(len(out), factor)
        for size, exponent in blocks:
            product = product * np.sum(W**size * powers(columns, exponent), axis=1)
        out += product
    return out


def _ordered(kernel: OrderStatistic, Y: FloatArray, W: FloatArray) -> FloatArray:
    r"""Sum over ranks s of c_s E[Y_(s)]: label j is s-th in e_{s-1}(below) e_{m-s}(above) ways."""
    m = kernel.arity
    order = np.argsort(Y, axis=1, kind="stable")
    y = np.take_along_axis(Y, order, axis=1)
    w = np.take_along_axis(np.broadcast_to(W, (max(len(W), len(Y)), W.shape[1])), order, axis=1)
    powers = [w**power for power in range(1, m + 1)]
    below = _elementary([np.cumsum(p, axis=1) - p for p in powers], m - 1)
    above = _elementary([np.cumsum(p[:, ::-1], axis=1)[:, ::-1] - p for p in powers], m - 1)
    whole = _elementary([p.sum(axis=1) for p in powers], m)[m]
    middle = np.sum(w * y, axis=1, keepdims=True)
    out = np.zeros(len(w))
    for rank, coefficient in enumerate(kernel.coefs):
        if coefficient:
            ways = w * below[rank] * above[m - 1 - rank]
            out = out + coefficient * (np.sum(ways * (y - middle), axis=1) / whole + middle[:, 0])
    return out


def _elementary(power_sums: list[FloatArray], degree: int) -> list[FloatArray]:
    """Elementary symmetric polynomials 0..degree from power sums, by Newton's identities."""
    out = [np.ones_like(power_sums[0])]
    for k in range(1, degree + 1):
        total = np.zeros_like(power_sums[0])
        for i in range(1, k + 1):
            total += (-1.0) ** (i - 1) * out[k - i] * power_sums[i - 1]
        out.append(total / k)
    return out


def _equal(kernel: Equality, Y: FloatArray, W: FloatArray) -> FloatArray:
    m = kernel.arity
    whole = _elementary([np.sum(W**p, axis=1) for p in range(1, m + 1)], m)[m]
    out = np.zeros(len(W))
    for value in np.unique(Y):
        inside = W * (value == Y)
        out = out + _elementary([np.sum(inside**p, axis=1) for p in range(1, m + 1)], m)[m]
    return np.asarray(kernel.scale * out / whole)


def _pairs(kernel: Kernel, Y: FloatArray, W: FloatArray) -> FloatArray:
    if kernel.arity == 1:
        values = kernel(Y.reshape(-1, 1, *Y.shape[2:])).reshape(Y.shape[:2])
        return np.asarray(np.sum(W * values, axis=1))
    i, j = np.triu_indices(W.shape[1], 1)
    step = max(1, _PAIRS_AT_ONCE // max(len(i), 1))
    out = np.empty(max(len(W), len(Y)))
    for start in range(0, len(out), step):
        rows = slice(start, start + step)
        # One sample with several weights, or several with one: the one is broadcast.
        labels, weights = (Y if len(Y) == 1 else Y[rows]), (W if len(W) == 1 else W[rows])
        pairs = np.stack([labels[:, i], labels[:, j]], axis=2)
        values = kernel(pairs.reshape(-1, *pairs.shape[2:])).reshape(pairs.shape[:2])
        weight = weights[:, i] * weights[:, j]
        out[rows] = np.sum(weight * values, axis=1) / np.sum(weight, axis=1)
    return out
