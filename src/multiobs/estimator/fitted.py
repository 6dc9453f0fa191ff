"""Everything a fit found out, in one record that the estimator replaces whole."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import Any, final

import numpy as np

from multiobs._check.categories import Categories
from multiobs._types import FloatArray
from multiobs.auto import Prepared
from multiobs.estimator.selection import ClassScores
from multiobs.fit import LinearFit, RegressorFit, StreamFit, fit_regressor
from multiobs.inference import (
    AdditiveFit,
    Covariance,
    Doubts,
    Inference,
    doubts_about,
    free_rows,
    rank_of,
)
from multiobs.inference.bootstrap import Refits
from multiobs.samplers import Sampler
from multiobs.statistics import Statistic
from multiobs.sums import Plan


@final
@dataclass(frozen=True)
class FitPlan:
    """What a fit did and why; ``print`` it.

    Attributes
    ----------
    reasons : tuple of str
        What was chosen, a sentence each.
    branches : tuple of (int, Plan)
        How the sum for each power of r was formed.
    solver : str
        Name of the solver, or of the regressor.
    scores : ClassScores or None
        Held-out scores of the classes, with ``estimator="auto"``.
    """

    reasons: tuple[str, ...]
    branches: tuple[tuple[int, Plan], ...]
    solver: str
    scores: ClassScores | None = None

    def __str__(self) -> str:
        sums = [f"sum for r^{k}: {each}" for k, each in self.branches]
        held_out = [] if self.scores is None else ["class, by held-out score:", str(self.scores)]
        return "\n".join([*self.reasons, *sums, f"solver: {self.solver}", *held_out])


@final
@dataclass(frozen=True)
class Beside:
    """A simpler fit that predictions are averaged with.

    Attributes
    ----------
    fitted : Fitted
        The simpler fit.
    weight : float
        Its weight; the rest is that of the other.
    """

    fitted: "Fitted"
    weight: float


@final
@dataclass(frozen=True)
class Fitted:
    """What a fit found out.

    Attributes
    ----------
    result : LinearFit, RegressorFit, AdditiveFit or StreamFit
        The fitted class of functions, with the problem it was fitted to.
    statistic : Statistic
        What is estimated.
    sampler : Sampler
        What built the tuples.
    count : int
        How many tuples there were.
    plan : FitPlan
        What was chosen and why.
    categories : Categories or None
        Categorical columns of X.
    names : tuple of str
        Names of the columns of the linear class, without the intercept.
    unshrunken : LinearFit or None
        The minimiser itself, where slopes were shrunk: intervals and tests are about it.
    seed : SeedSequence
        Of the replicates of a bootstrap.
    known : Covariance or None
        Of the coefficients, where the fit computed it, or from more rows than the problem holds.
    rows : int or None
        How many rows there were, where the problem of the result holds only a sample of them.
    effective : float or None
        How many tuples without a common label theirs were worth, where they were dropped.
    beside : Beside or None
        A simpler fit that predictions are averaged with; limits and tests are about this one,
        since limits of a line that is too simple would be too narrow.
    """

    result: LinearFit | RegressorFit | AdditiveFit | StreamFit
    statistic: Statistic
    sampler: Sampler
    count: int
    plan: FitPlan
    categories: Categories | None = None
    names: tuple[str, ...] = ()
    unshrunken: LinearFit | None = None
    seed: np.random.SeedSequence = field(default_factory=partial(np.random.SeedSequence, 0))
    replicates: dict[int, Refits] = field(default_factory=dict)  # by how many
    known: Covariance | None = None
    rows: int | None = None
    effective: float | None = None
    beside: Beside | None = None

    def predict(self, X: FloatArray) -> FloatArray:
        """Return the statistic (n,) at positions X (n, d)."""
        own = self.result.predict(X)
        if self.beside is None:
            return own
        weight = self.beside.weight
        return weight * self.beside.fitted.predict(X) + (1.0 - weight) * own

    @cached_property
    def doubts(self) -> Doubts:
        """Reasons to doubt the standard errors; none are looked for without the rows."""
        result = self.result if self.unshrunken is None else self.unshrunken
        if self.rows is not None or isinstance(result, StreamFit):
            return Doubts()
        return doubts_about(result.problem, n_coefficients(result))

    @property
    def too_few(self) -> bool:
        """Whether no row is left to estimate an error from."""
        result = self.result
        if self.rows is not None or isinstance(result, StreamFit):
            return False
        return free_rows(result.problem, n_coefficients(result)) < 1.0

    @cached_property
    def inference(self) -> Inference | None:
        """Inference about a linear fit; None for another class, or where the rows are gone."""
        about = self.result if self.unshrunken is None else self.unshrunken
        if not isinstance(about, LinearFit) or (self.rows is not None and self.known is None):
            return None
        return Inference(about, self.known, by_parts=self.rows is not None)


def with_regressor(
    ready: Prepared, regressor: Any, rng: np.random.Generator, found: Categories | None
) -> Fitted:
    """Fit a regressor to the pseudo-observations of prepared tuples.

    Parameters
    ----------
    ready : Prepared
        The tuples.
    regressor : scikit-learn regressor
        The class of functions.
    rng : Generator
        Draws what a bootstrap begins with.
    found : Categories or None
        Categorical columns.
    """
    result = fit_regressor(ready.problem, regressor, rng)
    plan = FitPlan(ready.reasons, (), type(regressor).__name__)
    seed = np.random.SeedSequence(int(rng.integers(2**63 - 1)))
    what = ready.problem.statistic, ready.sampler, ready.count, plan, found
    return Fitted(result, *what, seed=seed)


def averaged(fits: Sequence[Fitted], scores: ClassScores) -> Fitted:
    """Return the one fit, or the second of two with the first beside it, and why.

    Parameters
    ----------
    fits : sequence of Fitted
        Of the classes with a weight, from the simplest on.
    scores : ClassScores
        What the weights come from.
    """
    *simpler, last = fits
    weight = float(scores.weights[scores.weights > 0][0])
    beside = Beside(simpler[0], weight) if simpler else None
    return replace(last, beside=beside, plan=replace(last.plan, scores=scores))


def n_coefficients(result: LinearFit | RegressorFit | AdditiveFit) -> float:
    """How many coefficients were fitted, or effective degrees of freedom; at least one."""
    if isinstance(result, AdditiveFit):
        return result.edf
    return rank_of(result) if isinstance(result, LinearFit) else 1.0
