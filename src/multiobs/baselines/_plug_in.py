"""The statistic of a weighted sample: what a local or an empirical method computes at one x."""

import numpy as np
import numpy.typing as npt

from multiobs import statistics
from multiobs._types import FloatArray
from multiobs.statistics import Statistic
from multiobs.statistics.kernels import (
    Equality,
    Exponent,
    Kernel,
    Monomials,
    Opaque,
    OrderStatistic,
    distinct_sum,
    powers,
)

_PAIRS_AT_ONCE = 2_000_000


def plug_in(
    statistic: str | Statistic, y: npt.ArrayLike, weights: npt.ArrayLike | None = None
) -> FloatArray:
    r"""Statistic of each weighted sample, by the weighted U-statistic of its kernels.

    For a kernel psi of m observations,
    :math:`\hat\Gamma = \sum w_{i_1} \cdots w_{i_m} \psi(y_{i_1}, .., y_{i_m}) / \sum w_{i_1} \cdots
    w_{i_m}` over distinct i; equal weights give the ordinary, unbiased U-statistic (the variance
    with n - 1; the mean minimum of all m-subsets). Ratios are taken of two such numbers, and roots
    (standard deviation, UCB, skewness) of the variance. This is what the paper's empirical approach
    computes from the labels at one x.

    Parameters
    ----------
    statistic : str or Statistic
    y : array of shape (n,), (q, n), or with a last axis of two columns for a pair of outputs
        One sample, or a sample in each row.
    weights : array of shape (n,) or (q, n), optional
        Nonnegative weights; several rows weigh one y in several ways. Equal weights by default.

    Returns
    -------
    array of shape (q,), or () when y and weights are one sample
        NaN where fewer than m rows have a positive weight.

    Examples
    --------
    >>> plug_in("variance", [1.0, 2.0, 3.0]).round(12)
    np.float64(1.0)
    >>> plug_in("minvar", [[1.0, 2.0], [5.0, 4.0]])
    array([1., 4.])
    """
    what = statistics.resolve(statistic)
    labels = np.asarray(y, dtype=np.float64)
    paired = what.n_columns > 1
    if paired and labels.shape[-1] != what.n_columns:
        raise ValueError(
            f"{what.name} needs y with {what.n_columns} columns, got shape {labels.shape}"
        )
    samples = labels.shape[:-1] if paired else labels.shape
    weight = np.ones(samples[-1]) if weights is None else np.asarray(weights, dtype=np.float64)
    if weight.shape[-1:] != samples[-1:] or len(samples) not in (1, 2) or weight.ndim not in (1, 2):
        raise ValueError(
            f"weights must fit the samples in y, got shapes {weight.shape} and {samples}"
        )
    single = len(samples) == 1 and weight.ndim == 1
    W = np.atleast_2d(weight)
    Y = labels[None] if len(samples) == 1 else labels
    if np.any(W < 0):
        raise ValueError(f"weights must be nonnegative, got {float(W.min())}")
    total = W.sum(axis=1, keepdims=True)
    with np.errstate(divide="ignore", invalid="ignore"):
        values = _statistic(what, Y, W / total)
        values = np.where(np.count_nonzero(W > 0, axis=1) >= _support(what), values, np.nan)
    return np.asarray(values[0]) if single else values


def _support(what: Statistic) -> int:
    """How many rows the kernels really use: skewness from a root of six labels needs three."""
    return {"skewness": 3, "ucb": 2, "standard_deviation": 2}.get(what.name, what.arity)


def _statistic(what: Statistic, Y: FloatArray, W: FloatArray) -> FloatArray:
    if what.name == "variance":  # a shorter way to the same number
        deviation = Y - np.sum(W * Y, axis=1, keepdims=True)
        return np.asarray(np.sum(W * deviation**2, axis=1) / (1.0 - np.sum(W**2, axis=1)))
    if what.psi is not None:
        psi = _mean_of(what.psi, Y, W, what.shift)
        return psi if what.chi is None else psi / _mean_of(what.chi, Y, W, None)
    if what.name in ("standard_deviation", "ucb"):
        spread = np.sqrt(np.maximum(_statistic(statistics.variance(), Y, W), 0.0))
        if what.name == "standard_deviation":
            return spread
        return np.asarray(np.sum(W * Y, axis=1) + float(what.parameters["lam"]) * spread)
    if what.name == "skewness":
        variance = _statistic(statistics.variance(), Y, W)
        return _statistic(statistics.central_moment(3), Y, W) / variance**1.5
    raise ValueError(
        f"a plug-in needs a statistic with a kernel or a catalogue name, got {what.name!r}"
    )


def _mean_of(kernel: Kernel, Y: FloatArray, W: FloatArray, shift: str | None) -> FloatArray:
    """Weighted U-statistic of a kernel, chosen by the kernel's type; weights sum to one."""
    if isinstance(kernel, Monomials):
        return _monomials(kernel, Y, W, shift)
    if isinstance(kernel, OrderStatistic):
        return _ordered(kernel, Y, W)
    if isinstance(kernel, Equality):
        return _equal(kernel, Y, W)
    if isinstance(kernel, Opaque) and kernel.arity <= 2:
        return _pairs(kernel, Y, W)
    raise ValueError(
        f"a plug-in of a kernel without structure must have arity 1 or 2, got {kernel!r}"
    )


def _monomials(kernel: Monomials, Y: FloatArray, W: FloatArray, shift: str | None) -> FloatArray:
    columns = Y[..., None] if kernel.n_columns == 1 else Y
    if shift == "invariant":  # power sums of raw labels would cancel
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


def _pairs(kernel: Opaque, Y: FloatArray, W: FloatArray) -> FloatArray:
    if kernel.arity == 1:
        values = kernel(Y.reshape(-1, 1, *Y.shape[2:])).reshape(Y.shape[:2])
        return np.asarray(np.sum(W * values, axis=1))
    i, j = np.triu_indices(W.shape[1], 1)
    step = max(1, _PAIRS_AT_ONCE // max(len(i), 1))
    out = np.empty(len(W))
    for start in range(0, len(W), step):
        rows = slice(start, start + step) if len(Y) > 1 else slice(0, 1)
        pairs = np.stack([Y[rows][:, i], Y[rows][:, j]], axis=2)
        values = kernel(pairs.reshape(-1, *pairs.shape[2:])).reshape(pairs.shape[:2])
        weight = W[start : start + step][:, i] * W[start : start + step][:, j]
        out[start : start + step] = np.sum(weight * values, axis=1) / np.sum(weight, axis=1)
    return out


def check_enough(what: Statistic, rows: int) -> None:
    """Refuse fewer rows than the statistic has observations."""
    if rows < _support(what):
        raise ValueError(
            f"{what.name} needs at least {_support(what)} labels, got {rows} "
            f"{'sample' if rows == 1 else 'samples'}"
        )
