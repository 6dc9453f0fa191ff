"""The statistic of a weighted sample: what a local or an empirical method computes at one x."""

import numpy as np
import numpy.typing as npt

from multiobs import _check, statistics
from multiobs._types import FloatArray
from multiobs.statistics import KernelMeans, Statistic


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
        Of several samples NaN where fewer than m rows have a positive weight.

    Examples
    --------
    >>> plug_in("variance", [1.0, 2.0, 3.0]).round(12)
    np.float64(1.0)
    >>> plug_in("minvar", [[1.0, 2.0], [5.0, 4.0]])
    array([1., 4.])
    """
    what = statistics.resolve(statistic)
    labels = _check.numbers("y", y)
    paired = what.n_columns > 1
    if paired and labels.shape[-1:] != (what.n_columns,):
        raise ValueError(
            f"{what.name} needs y with {what.n_columns} columns, got shape {labels.shape}"
        )
    samples = labels.shape[:-1] if paired else labels.shape
    if len(samples) not in (1, 2) or 0 in samples:
        raise ValueError(f"y must hold samples (n,) or (q, n), got shape {labels.shape}")
    check_enough(what, samples[-1])
    weight = np.ones(samples[-1]) if weights is None else _check.numbers("weights", weights)
    if weight.shape[-1:] != samples[-1:] or len(samples) not in (1, 2) or weight.ndim not in (1, 2):
        raise ValueError(
            f"weights must fit the samples in y, got shapes {weight.shape} and {samples}"
        )
    for name, values in (("y", labels), ("weights", weight)):
        if not np.isfinite(values).all():
            raise ValueError(f"{name} must be finite, got NaN or infinity")
    single = len(samples) == 1 and weight.ndim == 1
    W = np.atleast_2d(weight)
    Y = labels[None] if len(samples) == 1 else labels
    if np.any(W < 0):
        raise ValueError(f"weights must be nonnegative, got {float(W.min())}")
    largest = W.max(axis=1, keepdims=True)
    W = W / np.where(largest > 0, largest, 1.0)  # sums of huge weights stay numbers
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        W = W / W.sum(axis=1, keepdims=True)
        enough = np.count_nonzero(W > 0, axis=1) >= _means(what).support
        if single and not enough[0]:
            raise ValueError(
                f"weights must be positive for at least {_means(what).support} labels, got "
                f"{np.count_nonzero(W[0] > 0)} such"
            )
        values = _statistic(what, Y, W)
        if not np.isfinite(values[np.broadcast_to(enough, values.shape)]).all():
            refuse_large(what, Y)
            raise ValueError(
                f"weights must leave {_means(what).support} labels that count, got such that only "
                "one does"
            )
        values = np.where(enough, values, np.nan)
    return np.asarray(values[0]) if single else values


def refuse_large(what: Statistic, y: FloatArray) -> None:
    """Refuse labels so large that the sums of their powers overflow."""
    size = float(np.abs(y).max())
    if size > 1e50:
        raise ValueError(
            f"y must have powers that a float holds for {what.name}, got values up to {size:g}"
        )


def _statistic(what: Statistic, Y: FloatArray, W: FloatArray) -> FloatArray:
    means = _means(what)
    found = [statistics.weighted_mean(kernel, Y, W) for kernel in means.kernels]
    return means.combine(*found)


def _means(what: Statistic) -> KernelMeans:
    if what.means is None:
        raise ValueError(f"a plug-in needs a statistic of means of kernels, got {what!r}")
    return what.means


def check_enough(what: Statistic, rows: int) -> None:
    """Refuse fewer rows than the kernels of the statistic have observations."""
    if rows < _means(what).support:
        raise ValueError(
            f"{what.name} needs at least {_means(what).support} labels, got {rows} "
            f"{'sample' if rows == 1 else 'samples'}"
        )
