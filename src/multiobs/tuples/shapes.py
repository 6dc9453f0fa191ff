"""Which rows go together: only row numbers, no values.

Three shapes.  :class:`Tuples` lists them.  :class:`Windows` stands for all m-subsets of sorted
runs of rows that contain the run's first row (its anchor).
:class:`~multiobs.tuples.graph.Graph` stands for all m-subsets {anchor} + neighbours of it.  The
last two are never listed unless somebody asks.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from math import comb
from typing import final

import numpy as np

from multiobs._types import FloatArray, IntArray
from multiobs.native.window_sums import stable_argsort, window_sums

CHUNK = 1 << 17  # tuples held at once while enumerating


class TupleSet(ABC):
    """A set of m-tuples of row numbers, listed or implied.

    Attributes
    ----------
    arity : int
        The number m of rows in a tuple.
    n_rows : int
        The number of rows the tuples were drawn from.

    Examples
    --------
    >>> isinstance(Tuples(np.array([[0, 1]]), rows=2), TupleSet)
    True
    """

    arity: int
    n_rows: int

    @abstractmethod
    def count(self) -> int:
        """How many tuples there are, exactly."""

    @abstractmethod
    def chunks(self, size: int = CHUNK) -> Iterator["Tuples"]:
        """List the tuples in a fixed order, at most about ``size`` at a time."""

    @abstractmethod
    def sample(self, size: int, rng: np.random.Generator) -> "Tuples":
        """Return a uniform random subset, weighted so that its sums are unbiased."""

    @abstractmethod
    def total_weight(self) -> float:
        """Summed weight of the tuples: their number where none is given."""

    @abstractmethod
    def membership_counts(self) -> FloatArray:
        """How many tuples contain each row, (n,), without listing them."""

    @final
    def balance(self, weight: FloatArray | None = None) -> FloatArray:
        r"""Row weights :math:`c_i^{-1/m}`, with :math:`c_i` the number of tuples that hold row i.

        All m-subsets of a window are many where rows are dense and few at the ends of the data.
        Equal weights of tuples then give the ends of x, on which a slope depends most, almost no
        say.  These multiply within a tuple, so each row's tuples together weigh about the same.

        Parameters
        ----------
        weight : ndarray (n,), optional
            The user's own weights, which are kept as factors.

        Returns
        -------
        ndarray (n,)
            Weights of mean one over the rows that are in a tuple.
        """
        counts = self.membership_counts()
        used = counts > 0
        factor = np.ones(counts.size)
        factor[used] = counts[used] ** (-1.0 / self.arity)
        factor /= factor[used].mean() if np.any(used) else 1.0
        return factor if weight is None else factor * weight

    @final
    def listed(self) -> "Tuples":
        """All tuples as one list."""
        return concatenate(list(self.chunks()), self.arity, self.n_rows)


@final
@dataclass(frozen=True)
class Tuples(TupleSet):
    """Tuples as a table of row numbers.

    Parameters
    ----------
    members : ndarray of int, (t, m)
        Row numbers.
    rows : int
        How many rows there are.
    representative : ndarray of int, (t,), optional
        The row whose x stands for the tuple; by default the mean of the members' x does.
    weight : ndarray, (t,), optional
        How much each tuple counts; 1 by default.

    Examples
    --------
    >>> pairs = Tuples(np.array([[0, 1], [1, 2]]), rows=3)
    >>> pairs.count(), pairs.arity
    (2, 2)
    """

    members: IntArray
    rows: int
    representative: IntArray | None = None
    weight: FloatArray | None = None
    arity: int = field(init=False, repr=False)
    n_rows: int = field(init=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "arity", int(self.members.shape[1]))
        object.__setattr__(self, "n_rows", self.rows)

    def count(self) -> int:
        return int(self.members.shape[0])

    def membership_counts(self) -> FloatArray:
        weight = np.ones(self.count()) if self.weight is None else self.weight
        return bincount(self.members.reshape(-1), np.repeat(weight, self.arity), self.rows)

    def total_weight(self) -> float:
        return float(self.count()) if self.weight is None else float(self.weight.sum())

    def chunks(self, size: int = CHUNK) -> Iterator["Tuples"]:
        for start in range(0, self.count(), size):
            yield self.take(slice(start, start + size))

    def sample(self, size: int, rng: np.random.Generator) -> "Tuples":
        total = self.count()
        if size >= total:
            return self
        chosen = np.sort(rng.choice(total, size=size, replace=False))
        part = self.take(chosen)
        weight = np.ones(size) if part.weight is None else part.weight
        return Tuples(part.members, self.rows, part.representative, weight * (total / size))

    def take(self, which: slice | IntArray) -> "Tuples":
        """Return some of the tuples."""
        rep = None if self.representative is None else self.representative[which]
        weight = None if self.weight is None else self.weight[which]
        return Tuples(self.members[which], self.rows, rep, weight)


def concatenate(parts: list[Tuples], arity: int, n_rows: int) -> Tuples:
    """Join lists of tuples of the same rows."""
    if not parts:
        return Tuples(np.empty((0, arity), dtype=np.int64), n_rows)
    rep = weight = None
    if parts[0].representative is not None:
        rep = np.concatenate([p.representative for p in parts if p.representative is not None])
    if parts[0].weight is not None:
        weight = np.concatenate([p.weight for p in parts if p.weight is not None])
    return Tuples(np.concatenate([p.members for p in parts]), n_rows, rep, weight)


class Anchored(TupleSet):
    """Tuples made of an anchor and m - 1 of its partners."""

    @property
    @abstractmethod
    def n_partners(self) -> IntArray:
        """How many partners each anchor has."""

    @property
    @abstractmethod
    def n_pairs(self) -> int:
        """How many pairs of an anchor and a partner there are."""

    @abstractmethod
    def rows_of(self, anchors: IntArray, partners: IntArray) -> IntArray:
        """Row numbers (t, m) of anchors (t,) with partner numbers (t, m-1)."""

    @abstractmethod
    def sums_over_members(self, values: FloatArray) -> FloatArray:
        """Sum (n, q), over the tuples that contain each row, of values (a, q) of their anchors."""

    def membership_counts(self) -> FloatArray:
        return self.sums_over_members(np.ones((self.n_partners.size, 1)))[:, 0]

    def _anchor_counts(self) -> tuple[FloatArray, FloatArray]:
        """How many tuples each anchor has, and how many of them contain one given partner."""
        partners, q = self.n_partners, self.arity - 1
        shared = binomial(partners - 1, q - 1) if q else np.zeros(partners.size)
        return binomial(partners, q), shared

    def count(self) -> int:
        return self._counted

    def total_weight(self) -> float:
        return float(self.count()) if self.count() < 10**300 else np.inf

    @cached_property
    def _counted(self) -> int:
        q = self.arity - 1
        if q == 1:
            return self.n_pairs
        times = np.bincount(self.n_partners)
        return sum(comb(int(w), q) * int(times[w]) for w in np.flatnonzero(times))

    def chunks(self, size: int = CHUNK) -> Iterator[Tuples]:
        if self.count() == 0:
            return
        if self.count() > np.iinfo(np.int64).max // 2:
            raise ValueError(
                f"listing needs fewer than 2^62 tuples, got {shown(self.count())}: "
                "narrow the windows, or take a random subset of the tuples"
            )
        q = self.arity - 1
        per_anchor = subset_counts(self.n_partners, q)
        ends = np.cumsum(per_anchor)
        total = int(ends[-1]) if ends.size else 0
        for start in range(0, total, size):
            numbers = np.arange(start, min(start + size, total), dtype=np.int64)
            anchors = np.searchsorted(ends, numbers, side="right").astype(np.int64)
            within = numbers - (ends[anchors] - per_anchor[anchors])
            partners = unrank_subsets(within, q, int(self.n_partners.max(initial=0)))
            yield Tuples(self.rows_of(anchors, partners), self.n_rows)

    def sample(self, size: int, rng: np.random.Generator) -> Tuples:
        total = self.count()
        if size >= total:
            return self.listed()
        q = self.arity - 1
        if total < 2**62:
            # Draw tuple numbers without replacement, then find out which tuples they name.
            numbers = _distinct_integers(total, size, rng)
            per_anchor = subset_counts(self.n_partners, q)
            ends = np.cumsum(per_anchor)
            anchors = np.searchsorted(ends, numbers, side="right").astype(np.int64)
            within = numbers - (ends[anchors] - per_anchor[anchors])
            partners = unrank_subsets(within, q, int(self.n_partners.max(initial=0)))
        else:
            # Repeats are then so improbable that independent draws serve as well.
            different, where = np.unique(self.n_partners, return_inverse=True)
            # as shares of the largest: the numbers themselves may be beyond all floats
            most = comb(int(different[-1]), q)
            share = np.array([comb(int(w), q) * 2**53 // most for w in different], dtype=np.float64)
            weight = share[where.reshape(-1)]
            anchors = rng.choice(weight.size, size=size, p=weight / weight.sum())
            partners = np.stack(
                [np.sort(rng.choice(self.n_partners[a], size=q, replace=False)) for a in anchors]
            ).astype(np.int64)
        members = self.rows_of(anchors, partners)
        return Tuples(members, self.n_rows, None, np.full(size, self.total_weight() / size))


@final
class Windows(Anchored):
    """All m-subsets of sorted rows i, i+1, … stop[i]-1 that contain row i, for every i.

    Sliding windows, disjoint blocks, intervals of width epsilon and groups of replicates are
    all of this shape; they differ in ``stop`` only.

    Parameters
    ----------
    order : ndarray of int, (n,)
        Row numbers in sorted order.
    stop : ndarray of int, (n,)
        One past the last sorted position that may go with the anchor; nondecreasing.
    arity : int
        The number m of rows in a tuple.

    Examples
    --------
    >>> pairs = Windows(np.array([2, 0, 1]), np.array([2, 3, 3]), arity=2)
    >>> pairs.listed().members.tolist(), pairs.membership_counts().tolist()
    ([[2, 0], [0, 1]], [2.0, 1.0, 1.0])
    """

    def __init__(self, order: IntArray, stop: IntArray, arity: int, n_rows: int | None = None):
        self.order = order
        self.stop = stop
        self.arity = arity
        self.n_rows = int(order.size) if n_rows is None else n_rows

    @property
    def n_partners(self) -> IntArray:
        return self.stop - np.arange(1, self.stop.size + 1)

    @property
    def n_pairs(self) -> int:
        n = int(self.stop.size)
        return int(self.stop.sum()) - n * (n + 1) // 2

    def sums_over_members(self, values: FloatArray) -> FloatArray:
        own, shared = (each[:, None] for each in self._anchor_counts())
        place = np.arange(self.stop.size, dtype=np.int64)
        found = own * values + window_sums(shared * values, self.first_anchors(), place)
        # a row may have several places
        return np.stack([bincount(self.order, each, self.n_rows) for each in found.T], axis=1)

    def first_anchors(self) -> IntArray:
        """First sorted position whose window reaches each position, (n,).

        >>> Windows(np.arange(4), np.array([2, 4, 4, 4]), arity=2).first_anchors().tolist()
        [0, 0, 1, 1]
        """
        n = self.stop.size
        # the first anchor that reaches position j comes after all that stop at or before j
        first = np.cumsum(np.bincount(self.stop, minlength=n + 1)[:n])
        return np.minimum(first, np.arange(n)).astype(np.int64, copy=False)

    def rows_of(self, anchors: IntArray, partners: IntArray) -> IntArray:
        positions = np.concatenate([anchors[:, None], anchors[:, None] + 1 + partners], axis=1)
        return np.asarray(self.order[positions])

    def refined(self, codes: IntArray) -> "Windows":
        """Return the same windows cut so that only rows of equal code go together."""
        n = self.order.size
        here = codes[self.order]
        by_code = stable_argsort(here.astype(np.float64))  # codes are small: exact, and quicker
        # Positions of one code stay in sorted order, so its partners are again contiguous, and
        # (code, position) as one number is increasing.
        here = here[by_code]
        here *= n + 1
        asked = self.stop[by_code]
        asked += here
        here += by_code
        stop = np.searchsorted(here, asked, side="left").astype(np.int64, copy=False)
        del here, asked  # as large as the data
        return Windows(self.order[by_code], stop, self.arity, self.n_rows)


def shown(count: int) -> str:
    """Write a number of tuples, which may be beyond all floats.

    >>> shown(12_345_678), shown(10**400)
    ('1.235e+07', '10^400')
    """
    return f"{count:.4g}" if count < 10**300 else f"10^{len(str(count)) - 1}"


def subset_counts(sizes: IntArray, q: int) -> IntArray:
    """Binomial coefficients C(size, q) as integers; the largest integer where they are larger.

    >>> subset_counts(np.array([4, 100]), 2).tolist()
    [6, 4950]
    """
    different, where = np.unique(sizes, return_inverse=True)
    most = int(np.iinfo(np.int64).max)
    # Python's integers: a product on the way may be too large even where the result is not
    counts = [min(comb(int(size), q), most) if size >= 0 else 0 for size in different]
    return np.array(counts, dtype=np.int64)[where.reshape(-1)]


def unrank_subsets(numbers: IntArray, q: int, largest: int) -> IntArray:
    """q-subsets of 0, 1, 2, … by their number in colexicographic order, (t, q) ascending.

    >>> unrank_subsets(np.array([0, 1, 2]), 2, largest=3).tolist()
    [[0, 1], [0, 2], [1, 2]]
    """
    out = np.empty((numbers.size, q), dtype=np.int64)
    rest = numbers.copy()
    values = np.arange(largest + 1, dtype=np.int64)
    for j in range(q, 0, -1):
        if j == 1:
            out[:, 0] = rest
            break
        table = subset_counts(values, j)
        top = np.searchsorted(table, rest, side="right") - 1
        out[:, j - 1] = top
        rest = rest - table[top]
    return out


def _distinct_integers(total: int, size: int, rng: np.random.Generator) -> IntArray:
    """``size`` distinct integers below ``total``, sorted, without a table of ``total``."""
    chosen = np.unique(rng.integers(0, total, size=size))
    while chosen.size < size:
        more = rng.integers(0, total, size=2 * (size - chosen.size))
        chosen = np.unique(np.concatenate([chosen, more]))
    return np.sort(rng.permutation(chosen)[:size]).astype(np.int64)


def binomial(sizes: IntArray, q: int) -> FloatArray:
    """Binomial coefficients C(size, q) as floats, zero where the size is too small."""
    out = np.where(sizes >= 0, 1.0, 0.0)
    for j in range(q):
        out = out * np.maximum(sizes - j, 0) / (j + 1)
    return out


def bincount(rows: IntArray, weights: FloatArray, n: int) -> FloatArray:
    """Summed weight of each of n rows."""
    return np.asarray(np.bincount(rows, weights=weights, minlength=n), dtype=np.float64)
