"""What is done with the rows of several columns, fixed by a sample before they are read again."""

from dataclasses import dataclass, replace
from typing import final

import numpy as np

from multiobs import samplers
from multiobs._types import FloatArray, IntArray
from multiobs.auto import choose
from multiobs.fit import Design, LabelUnits, Problem, Reweighting, label_units, make_design
from multiobs.fit import reference_level as level_of
from multiobs.samplers import Leaves
from multiobs.scale.budget import refuse_tensors
from multiobs.scale.choosing import Sample, ScaleRequest
from multiobs.scale.columns import ReadRows
from multiobs.scale.forest import Forest, fold_of, grow, one_leaf
from multiobs.scale.recipe import Encoding
from multiobs.statistics import Statistic
from multiobs.sums import plan
from multiobs.transport import Piloted, Residuals, ScalePilot, fit_pilot, fit_scale_pilot
from multiobs.tuples import Windows, binomial

FEW = 20  # rows of a fold from which trees and pilots can be fitted


@final
@dataclass(frozen=True)
class Moved:
    """Labels (n, s) of rows less their pilot, and the pilot (n,) where it is added back."""

    labels: FloatArray
    offset: FloatArray | None


@final
@dataclass(frozen=True)
class LeafRecipe:
    """Everything that makes a problem of rows in several columns.

    Attributes
    ----------
    statistic, units, design
        What is estimated, in which units, over which class.
    pilots : tuple of tuple of Piloted
        Of each fold and column of y; empty without transport.
    forest : Forest
        Whose leaves tuples come from.
    levels : tuple of ndarray (leaves, s)
        A typical label of each leaf of each tree.
    reweighting : Reweighting or None
        Level and deviations of the weights of an upper confidence bound.
    spread : ScalePilot or None
        The standard deviation that those weights start from.
    reference : ndarray (p,) or None
        Coefficients of the reference level of a root-type loss.
    encoding : Encoding or None
        Of matched categories.
    """

    statistic: Statistic
    units: LabelUnits
    design: Design
    pilots: tuple[tuple[Piloted, ...], ...]
    forest: Forest
    levels: tuple[FloatArray, ...]
    reweighting: Reweighting | None
    spread: ScalePilot | None
    reference: FloatArray | None
    encoding: Encoding | None

    @property
    def located(self) -> bool:
        """Whether the pilot is added back."""
        return bool(self.pilots) and self.statistic.shift == "equivariant"

    def columns(self, rows: ReadRows) -> FloatArray:
        """Positions of the class (n, d)."""
        if self.encoding is None or rows.key is None:
            return rows.x
        return self.encoding.expand(rows.x, rows.key)

    def moved(self, X: FloatArray, y: FloatArray, fold: IntArray) -> Moved:
        """Labels (n, s) less the pilots of their fold, in working units."""
        inward = self.units.inward(y[:, 0] if self.statistic.n_columns == 1 else y)
        labels = np.array(inward.reshape(y.shape[0], -1))
        offset = np.empty(y.shape[0]) if self.located else None
        for each, pilots in enumerate(self.pilots):
            mine = np.flatnonzero(fold == each)
            if mine.size == 0:
                continue
            for c, pilot in enumerate(pilots):
                level = pilot.predict(X[mine])
                labels[mine, c] -= level
                if offset is not None and c == 0:
                    offset[mine] = level
        return Moved(labels, offset)

    def weights(self, counts: FloatArray, own: FloatArray | None) -> FloatArray | None:
        """Weights (n,) by which every row counts alike, from the number of its tuples."""
        m = self.statistic.arity
        if m == 1:
            return own
        factor = np.where(counts > 0, counts, 1.0) ** (-1.0 / m)
        return factor if own is None else factor * own

    def counts(self, codes: IntArray, size: tuple[FloatArray, ...]) -> FloatArray:
        """How many tuples contain each row, (n,)."""
        q, total = self.statistic.arity - 1, np.zeros(codes.shape[0])
        for tree, each in enumerate(size):
            total += binomial(each.astype(np.int64) - 1, q)[codes[:, tree]]
        return total

    def reweighted(
        self, X: FloatArray, offset: FloatArray | None, weight: FloatArray | None,
        first_fit: FloatArray | None,
    ) -> FloatArray | None:  # fmt: skip
        """Weights times those of an upper confidence bound, by a first fit where there is one."""
        if self.reweighting is None or self.spread is None or offset is None:
            return weight
        if first_fit is None:
            spread = self.spread.predict(X)
        else:
            spread = (self.design.columns(X) @ first_fit - offset) / self.reweighting.deviations
        factor = self.reweighting.factor(spread)
        return factor if weight is None else weight * factor

    def residuals(self, moved: Moved) -> Residuals:
        """The record that problems hold."""
        labels = moved.labels[:, 0] if self.statistic.n_columns == 1 else moved.labels
        return Residuals(np.ascontiguousarray(labels), moved.offset, self.pilot())

    def pilot(self) -> Piloted | None:
        """The mean of the folds' pilots, of the first column of y."""
        if not self.pilots:
            return None
        first = [pilots[0] for pilots in self.pilots]
        models = tuple(model for pilot in first for model in pilot.models)
        return Piloted(first[0].name, np.empty(0), None, models, None, first[0].indicators)

    def problem(self, rows: ReadRows) -> Problem:
        """Problem of rows that are all there are."""
        assert rows.draw is not None
        X, fold = self.columns(rows), fold_of(rows.draw)
        moved, codes = self.moved(X, rows.y, fold), self.forest.codes(X, fold, rows.key)
        m = self.statistic.arity
        tuples: Windows = Leaves(codes).build(rows.x, m, np.random.default_rng(0))
        size = tuple(
            np.bincount(codes[:, t], minlength=int(each)).astype(np.float64)
            for t, each in enumerate(self.forest.sizes)
        )
        own = self.weights(self.counts(codes, size), rows.weight)
        weight = self.reweighted(X, moved.offset, own, None)
        again = None
        if self.reweighting is not None:
            again = replace(self.reweighting, weight=np.ones(rows.size) if own is None else own)
        return Problem(
            self.statistic, X, rows.x, self.residuals(moved), tuples, weight, self.units,
            blocks=rows.key, reweighting=again,
        )  # fmt: skip

    def in_moments(self) -> bool:
        """Whether sums of each leaf are all that a fit and its errors need."""
        n, m = 10_000, self.statistic.arity
        many = Windows(np.arange(n), np.full(n, n), m)
        loss = self.statistic.loss
        return loss.level(np.zeros(1)) is None and all(
            k <= 2 and plan(many, kernel, k).branch == "running sums" for k, kernel in loss.sums
        )


@final
@dataclass(frozen=True)
class ChosenLeaves:
    """A recipe, the problem and leaves (s, trees) of the sample, and sentences for ``plan_``."""

    recipe: LeafRecipe
    problem: Problem
    codes: IntArray
    reasons: tuple[str, ...]


def choose_leaves(
    wanted: ScaleRequest, sample: Sample, encoding: Encoding | None, *, keys: int, most: int
) -> ChosenLeaves:
    """Settle everything by the sample.

    Parameters
    ----------
    wanted : Wanted
        What the user asked for.
    sample : Sample
        Rows to decide by.
    encoding : Encoding or None
        Of matched categories.
    keys : int
        How many combinations of groups and categories there are.
    most : int
        Leaves of all trees that fit into memory.
    """
    request, rows = wanted.request, sample.rows
    statistic = request.statistic
    _refuse(wanted)
    assert rows.draw is not None
    fold = fold_of(rows.draw)
    least = int(np.bincount(fold, minlength=2).min())
    if least < FEW:
        raise ValueError(
            f"several columns of x need at least {FEW} rows in each half of the sample, got {least}"
        )
    X = rows.x if encoding is None or rows.key is None else encoding.expand(rows.x, rows.key)
    labels = rows.y[:, 0] if statistic.n_columns == 1 else rows.y
    choice = choose(statistic, "auto", request.transport, rows.x)
    units = label_units(statistic, labels, request.may_shift, rows.weight)
    inward = units.inward(labels)
    design = _design(wanted, sample, X)
    refuse_tensors(statistic, design.n_columns)
    pilots: tuple[tuple[Piloted, ...], ...] = ()
    if choice.transport is not None:
        pilots = tuple(_pilots(X, inward, rows.weight, fold != each) for each in range(2))
    if statistic.arity == 1:
        forest = one_leaf(keys)
    else:
        forest = grow(
            X, inward, fold, arity=statistic.arity, total=sample.total, keys=keys, most=most,
            seed=wanted.seed,
        )  # fmt: skip
    bare = LeafRecipe(statistic, units, design, pilots, forest, (), None, None, None, encoding)
    moved = bare.moved(X, rows.y, fold)
    codes = forest.codes(X, fold, rows.key)
    sizes = forest.sizes
    levels = tuple(_medians(codes[:, t], int(sizes[t]), moved.labels) for t in range(forest.trees))
    recipe = replace(bare, levels=levels)
    residuals = recipe.residuals(moved)
    deviations = statistic.loss.deviations
    if deviations is not None and residuals.located:
        level = float(np.sqrt(np.mean(residuals.labels**2)))
        spread = fit_scale_pilot(X, residuals.labels, None)
        recipe = replace(
            recipe, reweighting=Reweighting(deviations, level, np.empty(0)), spread=spread
        )
    reference = level_of(statistic.loss, recipe.design.features(X), residuals.labels)
    recipe = replace(recipe, reference=reference)
    shown = "each row on its own"
    if statistic.arity > 1:
        shown = f"rows that share leaves of {forest.trees} trees, grown on rows of another fold"
    reasons = [f"sampler: {shown}", *choice.reasons[1:]]
    if pilots:
        reasons.append(f"pilot: {pilots[0][0].name}, fitted to rows of another fold")
    if not sample.complete:
        reasons.append(f"chosen on a sample of {sample.rows.size} of {sample.total} rows")
    return ChosenLeaves(recipe, recipe.problem(rows), codes, tuple(reasons))


def _refuse(wanted: ScaleRequest) -> None:
    """Say what several columns by parts cannot do."""
    request = wanted.request
    if not (isinstance(request.sampler, str) and request.sampler == "auto"):
        asked = samplers.resolve(request.sampler)
        raise ValueError(
            "sampler must be 'auto' (leaves of a forest) for several numeric columns by parts, got "
            f"{asked!r}: Nearest and ball Nearby need all rows in one memory to find neighbours by "
            "distance, and the other samplers need an order of x; fit a sample with "
            "MultiObservationRegressor, or use sampler='auto'"
        )
    if wanted.features is not None:
        raise ValueError(
            "features must be None for several numeric columns by parts, got "
            f"{wanted.features!r}: they would have to be taken at every tuple of a leaf"
        )
    if request.transport == "location-scale":
        raise ValueError(
            "transport must be 'location' or None for several numeric columns by parts, got "
            "'location-scale'"
        )


def _pilots(
    X: FloatArray, y: FloatArray, weight: FloatArray | None, seen: "np.typing.NDArray[np.bool_]"
) -> tuple[Piloted, ...]:
    columns = y[:, None] if y.ndim == 1 else y
    share = None if weight is None else weight[seen]
    found = [fit_pilot(X[seen], columns[seen, c], share) for c in range(columns.shape[1])]
    return tuple(replace(pilot, at_rows=np.empty(0), folds=None, smooth=None) for pilot in found)


def _design(wanted: ScaleRequest, sample: Sample, X: FloatArray) -> Design:
    """The class, in units that all rows respect."""
    d = sample.rows.x.shape[1]
    ends = np.repeat(X[:1], 2, axis=0)
    ends[:, :d] = sample.low[:d], sample.high[:d]
    return make_design(None, np.concatenate([X, ends]), wanted.fit_intercept)


def _medians(codes: IntArray, leaves: int, labels: FloatArray) -> FloatArray:
    """Median label (leaves, s) of the sample's rows in each leaf, zero where there are none."""
    found = np.zeros((leaves, labels.shape[1]))
    if not codes.size:
        return found
    for c in range(labels.shape[1]):
        order = np.lexsort((labels[:, c], codes))
        starts = np.flatnonzero(np.diff(codes[order], prepend=-1))
        sizes = np.diff(starts, append=codes.size)
        found[codes[order[starts]], c] = labels[order[starts + sizes // 2], c]
    return found
