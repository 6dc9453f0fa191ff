"""Held-out rows put together into metasamples, and predictions averaged over their members."""

from dataclasses import dataclass
from typing import Any, final

import numpy as np
import numpy.typing as npt

from multiobs import _check, samplers, statistics
from multiobs._check.labelling import codes as group_codes
from multiobs._types import FloatArray, IntArray
from multiobs.samplers import Adjacent, Nearest, Sampler, narrowest
from multiobs.scoring._frames import PlacedRows, read_positions
from multiobs.scoring._moved import PAIR, Moved, residuals, warn_far
from multiobs.statistics import Statistic
from multiobs.sums.contraction import LIMIT, enumerate_tuples, tuple_weights
from multiobs.transport import leverage_corrected
from multiobs.tuples import Anchored, Tuples, TupleSet, Windows, binomial, concatenate

MANY = 2_000_000  # metasamples of equally near rows; of more, some are drawn
PARTNERS = 8  # of each row in a pair of residuals: no nearer rows are needed, and noise is less
LAGS = 4  # the same in one column, on each side


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
    residual : ndarray (n,) or (n, s), optional
        Labels less a pilot of their mean, which take the place of labels.
    level : ndarray (n,), optional
        The pilot, where the statistic moves with it.
    """

    X: FloatArray
    y: FloatArray
    members: IntArray
    weight: FloatArray
    residual: FloatArray | None = None
    level: FloatArray | None = None

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
        """Labels of the metasamples, moved to the representative, (t, m) or (t, m, s)."""
        if self.residual is None:
            return self.y[self.members]
        moved = self.residual[self.members]
        if self.level is None:
            return moved
        return np.asarray(moved + self.level[self.members].mean(axis=1)[:, None])

    @property
    def x(self) -> FloatArray:
        """Representatives, the means of the members' positions, (t, d)."""
        return np.asarray(self.X[self.members].mean(axis=1))

    def at(self, prediction: npt.ArrayLike, name: str = "prediction") -> FloatArray:
        """Prediction of each metasample, the mean of its members', (t,)."""
        r = _check.numbers(name, prediction)
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
    *,
    transport: Moved = "auto",
) -> HeldOut:
    """Build metasamples of held-out rows.

    Parameters
    ----------
    statistic : Statistic
        Gives the number m of observations.
    X : array-like (n, d) or (n,), or data frame
        Positions; text columns are categories, which no metasample crosses.
    y : array-like (n,) or (n, s)
        Labels.
    sampler : "adjacent", str or Sampler
        "adjacent" is SlidingWindow in one column, Nearest in more: the least biased. Pairs of
        residuals are of a few more rows.
    sample_weight, groups : array-like (n,), optional
        Weights, multiplied within a tuple; groups that a tuple never crosses.
    transport : "auto", None, array-like (n,) or callable
        A pilot of the mean along which labels are moved; see :func:`score`.
    """
    at = read_positions(X)
    labels = checked_labels(statistic, at.place, y)
    n = labels.shape[0]
    codes = at.cells
    if groups is not None:
        codes = _crossed(group_codes("groups", groups, n), codes)
    weight = None
    if sample_weight is not None:
        weight = _per_row("sample_weight", _check.numbers("sample_weight", sample_weight), n)
        if not (np.all(weight >= 0) and np.all(np.isfinite(weight))):
            raise ValueError("sample_weight must be finite and nonnegative, got another value")
        if weight.ndim != 1:
            raise ValueError(f"sample_weight must be one column, got shape {weight.shape}")
        if not np.any(weight > 0):
            raise ValueError("sample_weight must be positive somewhere, got only zeros")
        weight = weight / weight.max()  # products of tiny or huge weights stay numbers
    # A row of zero weight is absent: its neighbours then go with each other.
    present = np.arange(n) if weight is None else np.flatnonzero(weight > 0)
    keys = [at.columns[present], labels[present].reshape(present.size, -1)]
    keys += [] if weight is None else [weight[present, None]]
    keys += [] if codes is None else [codes[present, None].astype(np.float64)]
    rng = np.random.default_rng(0)
    present = present[order_of_chance(keys, rng)]
    here = PlacedRows(at.place[present], at.columns[present], None)
    own = None if codes is None else codes[present]
    share = None if weight is None else weight[present]
    wanted = transport
    if not (transport is None or isinstance(transport, str) or callable(transport)):
        wanted = _check.numbers("transport", transport)
        wanted = _per_row("transport", wanted, n)[present]
    moved = residuals(wanted, statistic, _rows_of(X, present), here, labels[present], share)
    folds = None if moved is None else moved.folds
    crossed = own if folds is None else _crossed(folds, own)
    tuples = _tuples(sampler, statistic.arity, here.place, crossed, moved is not None, rng)
    inside = from_tuples(statistic, tuples, here.place, labels[present], share)
    members = present[inside.members]
    if moved is None:
        if isinstance(sampler, str):
            warn_far(at.place, members)
        return HeldOut(at.place, labels, members, inside.weight)
    residual, level = np.zeros_like(labels), None
    residual[present] = leverage_corrected(moved, here.columns, tuples, rng).labels
    if moved.offset is not None:
        level = np.zeros(n)
        level[present] = moved.offset
    return HeldOut(at.place, labels, members, inside.weight, residual, level)


def order_of_chance(keys: list[FloatArray], rng: np.random.Generator) -> IntArray:
    """Rows of tables (n, k) in random order, the same whatever order they come in."""
    table = np.concatenate(keys, axis=1)
    return np.lexsort(table.T[::-1])[rng.permutation(table.shape[0])].astype(np.int64)


def _tuples(
    sampler: str | Sampler,
    arity: int,
    place: FloatArray,
    codes: IntArray | None,
    moved: bool,
    rng: np.random.Generator,
) -> TupleSet:
    """Metasamples of rows; those of a row's neighbours weigh as much as those of any other's."""
    if not (isinstance(sampler, str) and sampler == "adjacent"):
        return samplers.resolve(sampler).build(place, arity, rng, codes)
    if place.shape[1] == 1 and moved and arity == PAIR:
        near = Adjacent(LAGS).build(place, arity, rng, codes)
        if near.count() < 2 * LAGS * place.shape[0]:  # no long ties, which would weigh too much
            return near
    if place.shape[1] == 1 or arity == 1:
        return narrowest(place.shape[1], arity).build(place, arity, rng, codes)
    partners = PARTNERS if moved and arity == PAIR else arity - 1
    found = Nearest(partners).build(place, arity, rng, codes)
    assert isinstance(found, Anchored)
    if isinstance(found, Windows):  # blocks of equal x: the rows of each are in random order
        ends = found.stop
        if found.count() > MANY:
            narrow = np.minimum(ends, np.arange(ends.size) + arity)
            return Windows(found.order, narrow.astype(np.int64), arity, found.n_rows)
        size = ends - np.searchsorted(ends, ends, side="left")
        each = np.zeros(found.n_rows)
        each[found.order] = size / np.maximum(binomial(size, arity), 1.0)
    else:
        each = 1.0 / np.maximum(binomial(found.n_partners, arity - 1), 1.0)
    drawn = found.listed() if found.count() <= MANY else found.sample(MANY, rng)
    return Tuples(drawn.members, drawn.rows, None, each[drawn.members[:, 0]])


def _crossed(first: IntArray, second: IntArray | None) -> IntArray:
    """Codes that change when either of two codes does."""
    if second is None:
        return first.astype(np.int64)
    return np.asarray(first * (int(second.max(initial=0)) + 1) + second, dtype=np.int64)


def _rows_of(X: npt.ArrayLike, rows: IntArray) -> npt.ArrayLike:
    """Return the rows of an array or a data frame, for whoever wants what the user passed."""
    if type(X).__module__.startswith("pandas"):
        frame: Any = X
        found: npt.ArrayLike = frame.iloc[rows]
        return found
    if type(X).__module__.startswith("polars"):
        return X[rows.tolist()]  # type: ignore[index]
    return np.asarray(X)[rows]


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
    share = w / total
    if not np.all(np.isfinite(share)):
        raise ValueError("sample_weight must differ by less than floats do, got products near zero")
    return HeldOut(X, y, part.members, share)


def checked_rows(
    statistic: Statistic, X: npt.ArrayLike, y: npt.ArrayLike
) -> tuple[FloatArray, FloatArray]:
    """Positions (n, d) and labels (n,) or (n, s) as finite floats of one length."""
    at = read_positions(X)
    return at.columns, checked_labels(statistic, at.columns, y)


def checked_labels(statistic: Statistic, positions: FloatArray, y: npt.ArrayLike) -> FloatArray:
    """Labels (n,) or (n, s) as finite floats, as many as positions (n, d)."""
    labels = _check.numbers("y", y)
    if labels.ndim == 2 and labels.shape[1] == 1:
        labels = labels[:, 0]
    columns = labels.shape[1] if labels.ndim == 2 else 1
    if columns != statistic.n_columns or labels.ndim not in (1, 2):
        raise ValueError(
            f"{statistic.name} needs y with {statistic.n_columns} column"
            f"{'s' if statistic.n_columns > 1 else ''}, got shape {labels.shape}"
        )
    _per_row("y", labels, positions.shape[0])
    if not np.all(np.isfinite(labels)):
        raise ValueError("y must be finite, got NaN or infinity")
    _check.refuse_wide("y", labels)
    if not statistic.trusted and positions.shape[0] >= statistic.arity:
        drawn = np.random.default_rng(0).integers(0, len(labels), size=(64, statistic.arity))
        statistics.verify(statistic, labels[drawn])
    return labels


def _per_row(name: str, values: FloatArray, n: int) -> FloatArray:
    if values.ndim == 0 or values.shape[0] != n:
        found = values.shape[0] if values.ndim else "one number"
        raise ValueError(f"{name} must have one entry per row, {n}, got {found}")
    return values
