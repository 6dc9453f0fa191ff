"""The paper's first two algorithms: representatives, and batches of candidates for them."""

from dataclasses import dataclass
from typing import Literal, final

import numpy as np

from multiobs import _check
from multiobs._types import FloatArray, IntArray
from multiobs.samplers import matching
from multiobs.samplers.base import Sampler
from multiobs.samplers.geometry import by_group, no_tuples, paper_epsilon
from multiobs.tuples import Tuples


@final
@dataclass(frozen=True)
class Naive(Sampler):
    r"""Algorithm 1 of the paper: fresh candidates for each representative.

    The first n rows of a random order are representatives, the others are dealt out, N/n
    candidates to each, of which the m nearest give their labels.  Every label is used at most once.

    Parameters
    ----------
    n_metasamples : int or "auto"
        The number n; "auto" solves :math:`N = m\,n^{(d+3)/2}` (the sampling lemma without its
        constants) for the rows at hand.
    shuffle : bool
        Deal the rows in random order, so that the order in which they come does not matter.
        False takes it as it is: right only for rows that come in an order of chance.

    Examples
    --------
    >>> import numpy as np
    >>> x = np.linspace(0, 1, 101)[:, None]
    >>> tuples = Naive(10).build(x, 2, np.random.default_rng(0))
    >>> tuples.count()
    10
    """

    n_metasamples: int | Literal["auto"] = "auto"
    shuffle: bool = True

    def __post_init__(self) -> None:
        _check.integer_or("auto", "n_metasamples", self.n_metasamples, low=1)
        _check.flags(shuffle=self.shuffle)

    def build(
        self,
        X: FloatArray,
        arity: int,
        rng: np.random.Generator,
        groups: IntArray | None = None,
    ) -> Tuples:
        X, groups = _check.sampling(X, arity, rng, groups)

        def one(rows: IntArray) -> tuple[IntArray, IntArray]:
            total = rows.size
            n = self._size(total, arity, X.shape[1])
            per = (total - n) // n if n else 0
            if n == 0 or per < arity:
                return no_tuples(arity)
            candidates = rows[n : n + n * per].reshape(n, per)
            gap = X[candidates] - X[rows[:n], None, :]
            distance = np.einsum("ijk,ijk->ij", gap, gap)
            nearest = np.argsort(distance, axis=1, kind="stable")[:, :arity]
            return np.take_along_axis(candidates, nearest, axis=1), rows[:n]

        return by_group(one, X.shape[0], arity, rng, groups, self.shuffle)

    def _size(self, total: int, arity: int, d: int) -> int:
        if self.n_metasamples == "auto":
            n = int((total / arity) ** (2 / (d + 3)))
            return min(max(n, 1), total // (arity + 1))
        n = self.n_metasamples
        if n * (arity + 1) > total:
            raise ValueError(
                f"n_metasamples must be at most {total // (arity + 1)} for {total} rows and "
                f"{arity} observations, got {n}"
            )
        return n


@final
@dataclass(frozen=True)
class Improved(Sampler):
    r"""Algorithm 2 of the paper: batches of candidates in a maximum matching.

    The first n rows of a random order are representatives, the others form m batches (m - 1 when
    the representative's own label is used) that are each matched to the representatives within
    epsilon; a maximum matching, and whoever is left over is matched in order.  On a fixed data
    set the paper's appendix searches for the largest n with a perfect matching; for m = 2 it
    uses one batch and the representative's own label, which generalises to m - 1 batches.

    Parameters
    ----------
    epsilon : float or "paper"
        Largest distance of a match, in the units of x; "paper" is :math:`1/(2\sqrt{n})`
        scaled to the data.
    n_metasamples : int or "search"
        The number n of representatives.
    own_label : bool
        Whether the label of the representative itself is the first of the m.
    shuffle : bool
        Deal the rows in random order, so that the order in which they come does not matter.
        False takes it as it is: right only for rows that come in an order of chance.

    Examples
    --------
    >>> import numpy as np
    >>> x = np.linspace(0, 1, 101)[:, None]
    >>> tuples = Improved(0.2, 10).build(x, 2, np.random.default_rng(0))
    >>> tuples.members.shape
    (10, 2)
    """

    epsilon: float | Literal["paper"] = "paper"
    n_metasamples: int | Literal["search"] = "search"
    own_label: bool = True
    shuffle: bool = True

    def __post_init__(self) -> None:
        if isinstance(self.epsilon, str):
            _check.choice("epsilon", self.epsilon, ("paper",))
        else:
            _check.positive("epsilon", self.epsilon)
        _check.integer_or("search", "n_metasamples", self.n_metasamples, low=1)
        _check.flags(own_label=self.own_label, shuffle=self.shuffle)

    def build(
        self,
        X: FloatArray,
        arity: int,
        rng: np.random.Generator,
        groups: IntArray | None = None,
    ) -> Tuples:
        X, groups = _check.sampling(X, arity, rng, groups)
        epsilon = paper_epsilon(X) if self.epsilon == "paper" else float(self.epsilon)
        batches = arity - 1 if self.own_label else arity

        def one(rows: IntArray) -> tuple[IntArray, IntArray]:
            points = X[rows]
            if self.n_metasamples == "search":
                n = matching.largest_perfect(points, batches, epsilon)
            else:
                n = self.n_metasamples
                if n * (batches + 1) > rows.size:
                    raise ValueError(
                        f"n_metasamples must be at most {rows.size // (batches + 1)} for "
                        f"{rows.size} rows and {arity} observations, got {n}"
                    )
            if n == 0:
                return no_tuples(arity)
            matched = [
                first + matching.complete(points[:n], points[first:last], epsilon)
                for first, last in matching.batch_bounds(rows.size, n, batches)
            ]
            members = [np.arange(n), *matched] if self.own_label else matched
            return rows[np.stack(members, axis=1)], rows[:n]

        return by_group(one, X.shape[0], arity, rng, groups, self.shuffle)
