"""The metasamples themselves, for people who want to look at them or take them elsewhere."""

from dataclasses import dataclass
from typing import Any, final

import numpy as np
import numpy.typing as npt

from multiobs import samplers, statistics
from multiobs._types import FloatArray, IntArray
from multiobs.samplers import Nearby, Nearest, Sampler
from multiobs.statistics import Statistic
from multiobs.sums.contraction import enumerate_tuples, representatives, tuple_weights
from multiobs.tuples import concatenate


@final
@dataclass(frozen=True)
class Metasamples:
    """Metasamples with their provenance.

    Attributes
    ----------
    x : ndarray (t, d)
        Representatives.
    Y : ndarray (t, m) or (t, m, s)
        Labels.
    members : ndarray of int (t, m)
        Row numbers the labels came from.
    weight : ndarray (t,)
        Weights.
    diameter : ndarray (t,)
        Largest distance of two members.
    n_rows : int
        How many rows there were.
    """

    x: FloatArray
    Y: FloatArray
    members: IntArray
    weight: FloatArray
    diameter: FloatArray
    n_rows: int

    def __len__(self) -> int:
        return int(self.x.shape[0])

    @property
    def label_use(self) -> IntArray:
        """How often each row's label is used, (n,)."""
        return np.bincount(self.members.reshape(-1), minlength=self.n_rows).astype(np.int64)

    @property
    def unused(self) -> IntArray:
        """Row numbers that are in no metasample."""
        return np.flatnonzero(self.label_use == 0).astype(np.int64)

    def summary(self) -> dict[str, float]:
        """How many, how wide, how often each label is used, how many rows are in none."""
        use = self.label_use
        wide = self.diameter if len(self) else np.zeros(1)
        return {
            "metasamples": float(len(self)),
            "arity": float(self.members.shape[1]),
            "rows": float(self.n_rows),
            "rows unused": float(self.unused.size),
            "label use, mean": float(use.mean()) if use.size else 0.0,
            "label use, max": float(use.max(initial=0)),
            "diameter, median": float(np.median(wide)),
            "diameter, max": float(wide.max()),
        }

    def to_frame(self) -> Any:
        """Return a pandas DataFrame: x, y, row number of each member, weight and diameter."""
        import pandas as pd  # an optional package: only this method needs it

        columns: dict[str, Any] = {}
        for c in range(self.x.shape[1]):
            columns["x" if self.x.shape[1] == 1 else f"x{c}"] = self.x[:, c]
        labels = self.Y[:, :, None] if self.Y.ndim == 2 else self.Y
        for a in range(labels.shape[1]):
            for c in range(labels.shape[2]):
                name = f"y{a + 1}" if labels.shape[2] == 1 else f"y{a + 1}_{c}"
                columns[name] = labels[:, a, c]
        for a in range(self.members.shape[1]):
            columns[f"row{a + 1}"] = self.members[:, a]
        return pd.DataFrame({**columns, "weight": self.weight, "diameter": self.diameter})


def metasamples(
    X: npt.ArrayLike,
    y: npt.ArrayLike,
    statistic: str | Statistic = "variance",
    sampler: str | Sampler = "auto",
    *,
    sample_weight: npt.ArrayLike | None = None,
    groups: npt.ArrayLike | None = None,
    random_state: int | np.random.Generator | None = None,
    limit: int = 10_000_000,
) -> Metasamples:
    """Build the metasamples that an estimator would use, one by one.

    Parameters
    ----------
    X : array-like (n, d) or (n,)
        Positions.
    y : array-like (n,) or (n, s)
        Labels.
    statistic : str or Statistic
        Gives the number m of observations.
    sampler : str or Sampler
        "auto" is Nearby("paper") in one column and Nearest() in more.
    sample_weight, groups : array-like (n,), optional
        Weights, multiplied within a tuple; groups that a tuple never crosses.
    random_state : int, Generator or None
        Seed of the samplers that draw.
    limit : int
        The most metasamples that are listed.

    Examples
    --------
    >>> found = metasamples([0.1, 0.3, 0.2], [1.0, 2.0, 4.0], sampler="sliding")
    >>> found.members.tolist(), found.Y.tolist()
    ([[0, 2], [2, 1]], [[1.0, 4.0], [4.0, 2.0]])
    """
    chosen = statistics.resolve(statistic)
    positions: FloatArray = np.asarray(X, dtype=np.float64)
    positions = positions[:, None] if positions.ndim == 1 else positions
    labels: FloatArray = np.asarray(y, dtype=np.float64)
    if labels.shape[0] != positions.shape[0]:
        raise ValueError(
            f"X and y must have the same number of rows, got {positions.shape[0]} and "
            f"{labels.shape[0]}"
        )
    for name, values in (("X", positions), ("y", labels)):
        if not np.all(np.isfinite(values)):
            raise ValueError(f"{name} must be finite, got NaN or infinity")
    if isinstance(sampler, str) and sampler == "auto":
        build: Sampler = Nearby("paper") if positions.shape[1] == 1 else Nearest()
    else:
        build = samplers.resolve(sampler)
    codes = None
    if groups is not None:
        codes = np.unique(np.asarray(groups), return_inverse=True)[1].reshape(-1).astype(np.int64)
    rng = np.random.default_rng(random_state)
    found = build.build(positions, chosen.arity, rng, codes)
    part = concatenate(list(enumerate_tuples(found, limit)), chosen.arity, positions.shape[0])
    weight = None if sample_weight is None else np.asarray(sample_weight, dtype=np.float64)
    w = tuple_weights(part, weight)
    return Metasamples(
        representatives(part, positions),
        labels[part.members],
        part.members,
        np.ones(part.count()) if w is None else w,
        _diameters(positions, part.members),
        positions.shape[0],
    )


def _diameters(X: FloatArray, members: IntArray) -> FloatArray:
    out = np.zeros(members.shape[0])
    for a in range(members.shape[1]):
        for b in range(a):
            gap = X[members[:, a]] - X[members[:, b]]
            np.maximum(out, np.sqrt(np.einsum("td,td->t", gap, gap)), out=out)
    return out
