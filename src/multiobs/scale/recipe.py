"""What every range does with its rows: fixed by a sample before the first range is read.

Units, pilots, the sampler's width, the reference level of a root-type loss and the level of its
weights are taken of the sample, so that the ranges have nothing left to choose and their risks
add up to that of all rows.
"""

from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Any, final

import numpy as np

from multiobs._check.categories import Categories
from multiobs._types import FloatArray, IntArray
from multiobs.fit import Design, LabelUnits, Problem, Reweighting
from multiobs.samplers import Reach, Sampler, for_group
from multiobs.scale.columns import ReadRows
from multiobs.scale.ranges import Stretch
from multiobs.statistics import Statistic
from multiobs.transport import Piloted, Residuals, ScalePilot
from multiobs.tuples import Graph, Tuples, TupleSet, Windows

NODES = 16_384  # places at which a pilot in one column is tabulated


@final
@dataclass(frozen=True)
class TabulatedPilot:
    """A pilot in one column, read off between places at which it is known."""

    x: FloatArray
    value: FloatArray

    def predict(self, X: FloatArray) -> FloatArray:
        """Value at positions X (n, 1)."""
        return np.interp(X[:, 0], self.x, self.value)


def tabulated(pilot: Piloted, X: FloatArray) -> Piloted:
    """Return a pilot in one column as a table over a sample X (s, 1); any other as it is.

    As exact as the pilot at the rows of a small sample, and thirty times as fast.
    """
    if X.shape[1] != 1:
        return pilot
    nodes = np.unique(X[:, 0])
    if nodes.size > NODES:
        nodes = np.unique(nodes[np.linspace(0, nodes.size - 1, NODES).round().astype(np.int64)])
    table = TabulatedPilot(nodes, pilot.predict(nodes[:, None]))
    return Piloted(pilot.name, np.empty(0), None, (table,))


@final
@dataclass(frozen=True)
class Encoding:
    """How a key becomes the indicator columns of matched categories.

    Attributes
    ----------
    categories : Categories
        Levels and places of the matched columns among all columns of x.
    sizes : tuple of int
        How many levels each of them has.
    """

    categories: Categories
    sizes: tuple[int, ...]

    def decode(self, key: IntArray) -> dict[str, Any]:
        """Values of the matched columns by their name."""
        found, rest = {}, key
        names = list(self.categories.levels)
        for name, size in zip(reversed(names), reversed(self.sizes), strict=True):
            found[name] = np.array(self.categories.levels[name], dtype=object)[rest % size]
            rest = rest // size
        return found

    def expand(self, x: FloatArray, key: IntArray) -> FloatArray:
        """Columns of the class: numbers, then indicators."""
        n, places = x.shape[0], self.categories.places
        numeric = [c for c in range(x.shape[1] + len(places)) if c not in places]
        coded = np.zeros((n, len(numeric) + len(places)))
        if numeric:
            coded[:, numeric] = x[:, : len(numeric)]
        rest = key
        for place, size in zip(reversed(places), reversed(self.sizes), strict=True):
            coded[:, place] = rest % size
            rest = rest // size
        return self.categories.expand(coded)[0]


@final
@dataclass(frozen=True)
class Recipe:
    """Everything that makes a problem of the rows of a range.

    Attributes
    ----------
    statistic, sampler, reach, units, design
        What is estimated, how rows go together and how far, in which units, over which class.
    pilots : tuple of Piloted
        Of each column of y; empty without transport.
    share : float
        By which residuals are divided where the pilot saw the very same rows.
    scale : ScalePilot or None
        By which residuals are divided, with ``transport="location-scale"``.
    balanced : bool
        Whether every row counts alike.
    reweighting : Reweighting or None
        Level and deviations of the weights of an upper confidence bound.
    spread : ScalePilot or None
        The standard deviation that those weights start from.
    reference : ndarray (p,) or None
        Coefficients of the reference level of a root-type loss.
    pooled : bool
        Whether each anchor's tuples are pooled.
    encoding : Encoding or None
        Of matched categories.
    limit : int
        The most tuples that are enumerated.
    members : dict of int to int
        How many rows each key has, where the sampler asks for it.
    """

    statistic: Statistic
    sampler: Sampler
    reach: Reach
    units: LabelUnits
    design: Design
    pilots: tuple[Piloted, ...]
    share: float
    scale: ScalePilot | None
    balanced: bool
    reweighting: Reweighting | None
    spread: ScalePilot | None
    reference: FloatArray | None
    pooled: bool
    encoding: Encoding | None
    limit: int
    members: dict[int, int] = field(default_factory=dict)

    def columns(self, rows: ReadRows) -> FloatArray:
        """Positions of the class (n, d)."""
        if self.encoding is None or rows.key is None:
            return rows.x
        return self.encoding.expand(rows.x, rows.key)

    def residuals(self, X: FloatArray, y: FloatArray) -> Residuals:
        """Labels (n, s) less their pilots, in working units."""
        single = self.statistic.n_columns == 1
        labels = self.units.inward(y[:, 0] if single else y)
        if not self.pilots:
            return Residuals(np.ascontiguousarray(labels), None, None)
        levels = np.stack([pilot.predict(X) for pilot in self.pilots], axis=1)
        labels = (labels - (levels[:, 0] if single else levels)) / self.share
        if self.scale is not None:
            labels = labels / self.scale.predict(X)
        offset = levels[:, 0] if self.statistic.shift == "equivariant" else None
        return Residuals(np.ascontiguousarray(labels), offset, self.pilots[0], scale=self.scale)

    def weights(
        self, tuples: TupleSet, own: FloatArray | None, spread: FloatArray | None
    ) -> FloatArray | None:
        """Weights (n,) of the rows of a stretch, right wherever all tuples of a row are there."""
        weight = own
        if self.balanced:
            counts = tuples.membership_counts()
            factor = np.where(counts > 0, counts, 1.0) ** (-1.0 / tuples.arity)
            weight = factor if own is None else factor * own
        if self.reweighting is not None and spread is not None:
            factor = self.reweighting.factor(spread)
            weight = factor if weight is None else weight * factor
        return weight

    @property
    def before(self) -> int:
        """How many reaches before a range its risk needs."""
        # a row's weight needs every tuple that contains it
        return int(self.balanced) + int(self.reach.both) * (1 + int(self.balanced))

    @property
    def after(self) -> int:
        """How many reaches after a range its risk needs."""
        return 1 + int(self.balanced) + int(self.reach.both and self.balanced)

    def problem(self, stretch: Stretch, first_fit: FloatArray | None = None) -> Problem:
        """Problem of all rows of a stretch.

        Parameters
        ----------
        stretch : Stretch
            Sorted rows.
        first_fit : ndarray (p,) or None
            Coefficients of a first fit that improves the weights.
        """
        rows, statistic = stretch.rows, self.statistic
        X = self.columns(rows)
        residuals = self.residuals(X, rows.y)
        tuples = self.build(stretch)
        spread = None
        if self.reweighting is not None and residuals.offset is not None:
            if first_fit is not None:
                fitted = self.design.columns(X) @ first_fit
                spread = (fitted - residuals.offset) / self.reweighting.deviations
            elif self.spread is not None:
                spread = self.spread.predict(X)
        weight = self.weights(tuples, rows.weight, spread)
        return Problem(
            statistic, X, rows.x, residuals, tuples, weight, self.units,
            blocks=rows.key, limit=self.limit,
        )  # fmt: skip

    def build(self, stretch: Stretch) -> TupleSet:
        """Tuples of all rows of a stretch, cut where they are cut among all rows."""
        rows, m = stretch.rows, self.statistic.arity
        rng = np.random.default_rng(0)  # draws only where ties are too many to average over
        skip, place = 0, rows.x
        if self.reach.drawn and rows.size:
            same = rows.size if rows.key is None else int(np.sum(rows.key == rows.key[0]))
            skip = min((stretch.first - stretch.rank) % self.reach.blocks, same)
            # ties are in a drawn order already: no position is like another
            place = np.arange(rows.size, dtype=np.float64)[:, None]
        key = None if rows.key is None else rows.key[skip:]
        if key is not None and self.members:
            return self._build_each(place, key)
        found = self.sampler.build(place[skip:], m, rng, key)
        if self.reach.both and m > 1 and not isinstance(found, Graph):
            raise ValueError(
                f"{self.sampler!r} must not meet so many rows of equal x by parts: use Adjacent"
            )
        if skip:
            assert isinstance(found, Tuples)
            found = replace(found, members=found.members + skip, rows=rows.size)
        return found

    def _build_each(self, place: FloatArray, key: IntArray) -> Windows:
        """Tuples of a sampler that is another one for each key."""
        m, total = self.statistic.arity, sum(self.members.values())
        rng = np.random.default_rng(0)
        edges = np.flatnonzero(np.diff(key, prepend=key[0] - 1, append=key[-1] + 1))
        parts = []
        for begin, end in pairwise(edges.tolist()):
            each = for_group(self.sampler, self.members[int(key[begin])], total, m)
            found = each.build(place[begin:end], m, rng)
            assert isinstance(found, Windows)
            parts.append(found)
        return _joined(parts, m, key.size)


def _joined(parts: list[Windows], arity: int, n: int) -> Windows:
    """Windows of rows one after the other."""
    sizes = [part.order.size for part in parts]
    shift = np.cumsum(sizes) - sizes
    order = [part.order + at for part, at in zip(parts, shift, strict=True)]
    stop = [part.stop + at for part, at in zip(parts, shift, strict=True)]
    return Windows(np.concatenate(order), np.concatenate(stop), arity, n)


def anchored(tuples: TupleSet, stretch: Stretch) -> list[tuple[float, TupleSet]]:
    """Tuples whose first row is one of the range's own, as signed sets of tuples."""
    first, last = stretch.first, stretch.last
    if isinstance(tuples, Windows):
        m, n = tuples.arity, tuples.n_rows

        def beginning(at: int) -> Windows:
            return Windows(tuples.order[at:], tuples.stop[at:] - at, m, n)

        whole: list[tuple[float, TupleSet]] = [(1.0, beginning(first))]
        # those that begin after the range are taken out again: additions only, nothing is lost
        return whole if last == n else [*whole, (-1.0, beginning(last))]
    if isinstance(tuples, Graph):
        anchor = tuples.anchor_of_edges()
        return [(1.0, tuples.keep((anchor >= first) & (anchor < last)))]
    assert isinstance(tuples, Tuples)
    leftmost = tuples.members.min(axis=1)
    inside = np.flatnonzero((leftmost >= first) & (leftmost < last))
    return [(1.0, _taken(tuples, inside))]


def _taken(tuples: Tuples, which: IntArray) -> Tuples:
    def take(values: Any) -> Any:
        return None if values is None else values[which]

    return Tuples(
        tuples.members[which], tuples.rows, take(tuples.representative), take(tuples.weight)
    )
