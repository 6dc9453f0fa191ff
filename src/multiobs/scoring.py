"""Held-out scores of any prediction of a statistic, ours or a peer's."""

from typing import Literal

import numpy as np
import numpy.typing as npt

from multiobs import samplers, statistics
from multiobs._types import FloatArray
from multiobs.contract import tuple_weights
from multiobs.losses import RootLoss
from multiobs.samplers import Nearest, Sampler, SlidingWindow
from multiobs.statistics import Statistic


def score(
    statistic: str | Statistic,
    X: npt.ArrayLike,
    y: npt.ArrayLike,
    prediction: npt.ArrayLike,
    sampler: Literal["adjacent"] | str | Sampler = "adjacent",
    *,
    sample_weight: npt.ArrayLike | None = None,
) -> float:
    """Mean loss of a prediction on metasamples of held-out rows: smaller is better.

    Parameters
    ----------
    statistic : str or Statistic
        What was predicted.
    X : array-like (n, d)
        Held-out positions.
    y : array-like (n,) or (n, s)
        Held-out labels.
    prediction : array-like (n,) or float
        The predicted statistic at X; a metasample's prediction is the mean of its members'.
    sampler : "adjacent", str or Sampler
        How the rows are put together; "adjacent" is the least biased there is.
    sample_weight : array-like (n,), optional
        Weights, multiplied within a tuple.

    Examples
    --------
    >>> x = np.arange(4.0)[:, None]
    >>> score("variance", x, [0.0, 1.0, 0.0, 1.0], 0.5)
    0.0
    """
    chosen = statistics.resolve(statistic)
    positions: FloatArray = np.asarray(X, dtype=np.float64)
    positions = positions[:, None] if positions.ndim == 1 else positions
    labels: FloatArray = np.asarray(y, dtype=np.float64)
    if labels.ndim == 2 and labels.shape[1] == 1:
        labels = labels[:, 0]
    n = positions.shape[0]
    r = np.broadcast_to(np.asarray(prediction, dtype=np.float64), (n,))
    part = _sampler(sampler, positions, chosen.arity).build(
        positions, chosen.arity, np.random.default_rng(0)
    ).listed()
    if part.count() == 0:
        raise ValueError(f"scoring needs at least {chosen.arity} rows near each other, got {n}")
    at = r[part.members].mean(axis=1)
    loss = chosen.loss
    Y = labels[part.members]
    if isinstance(loss, RootLoss):
        level = loss.level(labels)
        loss = loss.at(level)
    values = loss.value(at, Y)
    weight = None if sample_weight is None else np.asarray(sample_weight, dtype=np.float64)
    return float(np.average(values, weights=tuple_weights(part, weight)))


def _sampler(sampler: str | Sampler, X: FloatArray, arity: int) -> Sampler:
    if isinstance(sampler, str) and sampler == "adjacent":
        return SlidingWindow() if X.shape[1] == 1 else Nearest(max(arity - 1, 1))
    return samplers.resolve(sampler)
