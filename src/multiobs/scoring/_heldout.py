"""Held-out rows put together into metasamples, and predictions averaged over their members."""

from dataclasses import dataclass
from typing import final

import numpy as np
import numpy.typing as npt

from multiobs import samplers, statistics
from multiobs._types import FloatArray, IntArray
from multiobs.samplers import Sampler
from multiobs.statistics import Statistic
from multiobs.sums.contraction import LIMIT, enumerate_tuples, tuple_weights
from multiobs.tuples import TupleSet, concatenate


@final
@dataclass(frozen=True)
class HeldOut:
    """Metasamples of held-out rows.

    Attributes
    ----------
    X : ndarray (n, d)
        Positions of the rows.
    y : ndarray (n,) or (n, s)
        Labels of the rows.
    members : ndarray of int (t, m)
        Row numbers of each metasample.
    weight : ndarray (t,)
        Weights, of sum one.
    """

    X: FloatArray
    y: FloatArray
    members: IntArray
    weight: FloatArray

    @property
    def n_rows(self) -> int:
        """The number n of rows."""
        return int(self.X.shape[0])

    @property
    def rows_used(self) -> int:
        """How many rows are in some metasample of positive weight."""
        return int(np.unique(self.members[self.weight > 0]).size)

    @property
    def Y(self) -> FloatArray:
        """Labels of the metasamples, (t, m) or (t, m, s)."""
        return self.y[self.members]

    @property
    def x(self) -> FloatArray:
        """Representatives, the means of the members' positions, (t, d)."""
        return np.asarray(self.X[self.members].mean(axis=1))

    def at(self, prediction: npt.ArrayLike, name: str = "prediction") -> FloatArray:
        """Prediction of each metasample, the mean of its members', (t,)."""
        r = np.asarray(prediction, dtype=np.float64)
        if r.ndim == 2 and r.shape[1] == 1:
            r = r[:, 0]
        if r.shape not in ((), (self.n_rows,)):
            raise ValueError(
                f"{name} must be a number or hold one number per row, shape ({self.n_rows},), "
                f"got shape {r.shape}"
            )
        if not np.all(np.isfinite(r)):
            raise ValueError(f"{name} must be finite, got NaN or infinity")
        if r.ndim == 0:
            return np.full(self.members.shape[0], float(r))
        return np.asarray(r[self.members].mean(axis=1))

    def mean(self, values: FloatArray) -> float:
        """Weighted mean over the metasamples."""
        return float(self.weight @ values)


def held_out(
    statistic: Statistic,
    X: npt.ArrayLike,
    y: npt.ArrayLike,
    sampler: str | Sampler = "adjacent",
    sample_weight: npt.ArrayLike | None = None,
    groups: npt.ArrayLike | None = None,
) -> HeldOut:
    """Build metasamples of held-out rows.

    Parameters
    ----------
    statistic : Statistic
        Gives the number m of observations.
    X : array-like (n, d) or (n,)
        Positions.
    y : array-like (n,) or (n, s)
        Labels.
    sampler : "adjacent", str or Sampler
        "adjacent" is SlidingWindow in one column, Nearest(m - 1) in more: the least biased.
    sample_weight, groups : array-like (n,), optional
        Weights, multiplied within a tuple; groups that a tuple never crosses.
    """
    positions, labels = checked_rows(statistic, X, y)
    n = positions.shape[0]
    codes = None
    if groups is not None:
        _same_length("groups", np.asarray(groups), n)
        codes = np.unique(np.asarray(groups), return_inverse=True)[1].reshape(-1).astype(np.int64)
    weight = None
    if sample_weight is not None:
        weight = np.asarray(sample_weight, dtype=np.float64)
        _same_length("sample_weight", weight, n)
        if not (np.all(weight >= 0) and np.all(np.isfinite(weight))):
            raise ValueError("sample_weight must be finite and nonnegative, got another value")
    build = _sampler(sampler, positions, statistic.arity)
    present = None if weight is None or np.all(weight > 0) else np.flatnonzero(weight > 0)
    if present is None:
        found = build.build(positions, statistic.arity, np.random.default_rng(0), codes)
        return from_tuples(statistic, found, positions, labels, weight)
    # A row of zero weight is absent: its neighbours then go with each other.
    found = build.build(
        positions[present],
        statistic.arity,
        np.random.default_rng(0),
        None if codes is None else codes[present],
    )
    assert weight is not None
    inside = from_tuples(statistic, found, positions[present], labels[present], weight[present])
    return HeldOut(positions, labels, present[inside.members], inside.weight)


def from_tuples(
    statistic: Statistic,
    tuples: TupleSet,
    X: FloatArray,
    y: FloatArray,
    weight: FloatArray | None = None,
) -> HeldOut:
    """Held-out metasamples of tuples that are already built."""
    m = statistic.arity
    if tuples.count() == 0:
        raise ValueError(f"scoring needs at least {m} rows near each other, got {X.shape[0]} rows")
    part = concatenate(list(enumerate_tuples(tuples, LIMIT)), m, X.shape[0])
    given = tuple_weights(part, weight)
    w = np.ones(part.count()) if given is None else given
    total = float(w.sum())
    if not total > 0:
        raise ValueError("sample_weight must be positive on some whole metasample, got zeros")
    return HeldOut(X, y, part.members, w / total)


def checked_rows(
    statistic: Statistic, X: npt.ArrayLike, y: npt.ArrayLike
) -> tuple[FloatArray, FloatArray]:
    """Positions (n, d) and labels (n,) or (n, s) as finite floats of one length."""
    positions: FloatArray = np.asarray(X, dtype=np.float64)
    positions = positions[:, None] if positions.ndim == 1 else positions
    labels: FloatArray = np.asarray(y, dtype=np.float64)
    if labels.ndim == 2 and labels.shape[1] == 1:
        labels = labels[:, 0]
    columns = 1 if labels.ndim == 1 else labels.shape[1]
    if columns != statistic.n_columns:
        raise ValueError(
            f"{statistic.name} needs y with {statistic.n_columns} column"
            f"{'s' if statistic.n_columns > 1 else ''}, got shape {labels.shape}"
        )
    _same_length("y", labels, positions.shape[0])
    for name, values in (("X", positions), ("y", labels)):
        if not np.all(np.isfinite(values)):
            raise ValueError(f"{name} must be finite, got NaN or infinity")
    if not statistic.trusted and positions.shape[0] >= statistic.arity:
        drawn = np.random.default_rng(0).integers(0, len(labels), size=(64, statistic.arity))
        statistics.verify(statistic, labels[drawn])
    return positions, labels


def _sampler(sampler: str | Sampler, X: FloatArray, arity: int) -> Sampler:
    if isinstance(sampler, str) and sampler == "adjacent":
        return samplers.narrowest(X.shape[1], arity)
    return samplers.resolve(sampler)


def _same_length(name: str, values: npt.NDArray[np.generic], n: int) -> None:
    if values.shape[0] != n:
        raise ValueError(f"{name} must have one entry per row, {n}, got {values.shape[0]}")
