"""The metasamples themselves, for people who want to look at them or take them elsewhere."""

from dataclasses import dataclass
from typing import Any, final

import numpy as np
import numpy.typing as npt

from multiobs import _check, samplers, statistics
from multiobs._check.rows import Labels, generator, read_table, valid_rows
from multiobs._types import FloatArray, IntArray
from multiobs.auto import Request, prepare
from multiobs.samplers import Sampler
from multiobs.statistics import Statistic
from multiobs.sums import enumerate_tuples, representatives, tuple_weights
from multiobs.transport import Transport
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

    Examples
    --------
    >>> import numpy as np
    >>> found = metasamples([[0.0], [0.1], [5.0]], [1.0, 2.0, 9.0], sampler="sliding")
    >>> found.members.tolist(), found.Y.tolist()
    ([[0, 1], [1, 2]], [[1.0, 2.0], [2.0, 9.0]])
    >>> found.label_use.tolist()
    [1, 2, 1]
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


@_check.arithmetic("X, y and sample_weight")
def metasamples(
    X: npt.ArrayLike,
    y: npt.ArrayLike,
    statistic: str | Statistic = "variance",
    sampler: str | Sampler = "auto",
    *,
    transport: Transport = "auto",
    sample_weight: npt.ArrayLike | None = None,
    groups: npt.ArrayLike | None = None,
    random_state: Any = None,
    limit: int = 10_000_000,
) -> Metasamples:
    """List the metasamples that an estimator with the same parameters would use.

    Parameters
    ----------
    X : array-like or data frame (n, d) or (n,)
        Positions.
    y : array-like (n,) or (n, s)
        Labels.
    statistic : str or Statistic
        Gives the number m of observations.
    sampler : str or Sampler
        As in :class:`MultiObservationRegressor`, "auto" included.
    transport : "auto", "location", "location-scale" or None
        As in :class:`MultiObservationRegressor`; a pilot that is cross-fitted keeps its folds
        in different metasamples.  The labels listed are those of y all the same.
    sample_weight, groups : array-like (n,), optional
        Weights, multiplied within a tuple; groups that a tuple never crosses.
    random_state : int, Generator or None
        Seed of the samplers that draw.
    limit : int
        The most metasamples that are listed.

    Examples
    --------
    >>> found = metasamples([0.1, 0.3, 0.2], [1.0, 2.0, 4.0], sampler="sliding", transport=None)
    >>> found.members.tolist(), found.Y.tolist()
    ([[0, 2], [2, 1]], [[1.0, 4.0], [4.0, 2.0]])
    """
    chosen = statistics.resolve(statistic)
    if not isinstance(sampler, str) or sampler != "auto":
        samplers.resolve(sampler)
    given = read_table(_as_columns(X))
    labels = Labels(chosen.name, chosen.n_columns, samplers.takes_replicates(sampler))
    rows = valid_rows(
        "metasamples", given, y, labels=labels, sample_weight=sample_weight, groups=groups
    )
    limit = _check.integer("limit", limit, low=0)
    request = Request(chosen, sampler, transport, may_be_empty=True)
    ready = prepare(request, rows, generator(random_state))
    n = rows.X.shape[0]
    part = concatenate(list(enumerate_tuples(ready.problem.tuples, limit)), chosen.arity, n)
    given_weight, members = rows.weight, part.members
    if sample_weight is not None:
        # rows of weight zero are absent, and all numbers are those of the rows as given
        whole = np.asarray(sample_weight, dtype=np.float64)
        repeats = np.size(y) // (whole.size * chosen.n_columns)
        whole = np.repeat(whole, repeats)
        present = np.flatnonzero(whole > 0)
        given_weight, members, n = whole[present], present[members], whole.size
    w = tuple_weights(part, given_weight)
    return Metasamples(
        representatives(part, rows.place),
        rows.y[part.members],
        members,
        np.ones(part.count()) if w is None else w,
        _diameters(rows.place, part.members),
        n,
    )


def _as_columns(X: Any) -> Any:
    """Return one column as a table, anything else as it is."""
    if isinstance(X, list | tuple):
        X = _check.numbers("X", X)
    return np.reshape(X, (-1, 1)) if len(getattr(X, "shape", ())) == 1 else X


def _diameters(X: FloatArray, members: IntArray) -> FloatArray:
    out = np.zeros(members.shape[0])
    for a in range(members.shape[1]):
        for b in range(a):
            gap = X[members[:, a]] - X[members[:, b]]
            np.maximum(out, np.sqrt(np.einsum("td,td->t", gap, gap)), out=out)
    return out
