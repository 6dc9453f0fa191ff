r"""``estimator="auto"``: the class of functions chosen by its held-out multi-observation score.

A loss that grows with the power g of the labels' scale is dominated by the x at which y spreads
most, and so is its noise.  Tuples are therefore weighted by :math:`\sigma(x)^{-g}`, with a pilot of
the standard deviation: the score remains consistent for the statistic at each x, and differences
of scores are as sure as those of standardised labels.
"""

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, final

import numpy as np
from scipy.special import expit

from multiobs import scoring
from multiobs._check.rows import Rows
from multiobs._tables import aligned
from multiobs._types import FloatArray, IntArray
from multiobs.auto import Prepared, Request, prepare
from multiobs.fit import Problem, Smooth
from multiobs.inference import Pair
from multiobs.samplers import Adjacent
from multiobs.statistics import Statistic
from multiobs.transport import completed, fit_scale_pilot, one_thread, spread_folds
from multiobs.tuples import canonical_order

FOLDS = 3
# Standard errors of the difference by which a class must be better than the simpler ones.  A slope
# that is not there costs little, one that is missed costs much: a constant has to win clearly.  A
# smooth class falls back to a line by its own penalty, and interactions are in it only where a test
# found them, so that the better score will do.  Trees have no such way back, and where labels are
# heavy-tailed two standard errors happen by chance.
LINE, SMOOTH, INTERACTIONS, BOOSTING = -2.0, 0.0, 0.0, 3.0
PAIRS = "smooth with interactions"
CURVES = ("smooth", PAIRS)
INTERACT = (PAIRS, "boosting")  # classes that can tell how two columns interact
AVERAGED = (-3.0, 4.0)  # standard errors of gain between which line and curve are averaged
EQUAL = 1e-9  # relative difference of scores that counts as none
PARTNERS = 4  # of a row in the pairs that are scored
INTERACTING = 10  # numeric columns up to which pairs of them may interact


@final
@dataclass(frozen=True)
class Candidate:
    """A class of functions that may be chosen.

    Attributes
    ----------
    name : str
        For the table of scores.
    margin : float
        Standard errors by which it must be better than the simpler ones; below zero, by which it
        may be worse.
    features, estimator : object
        As in MultiObservationRegressor.
    """

    name: str
    margin: float = 0.0
    features: Any = None
    estimator: Any = None


@final
@dataclass(frozen=True)
class ClassScores:
    """Held-out scores of the candidates, from the simplest on; ``print`` it.

    Attributes
    ----------
    names : tuple of str
        The candidates.
    scores : ndarray (k,)
        Mean held-out losses: smaller is better.
    errors : ndarray (k, k)
        Standard errors of the differences of two scores under shared labels.
    margins : tuple of float
        Standard errors by which each must be better than the simpler ones.
    interacting : tuple of str
        Columns that interact by the tests of every fold. A test sees this long before a held-out
        score does, and classes without interactions are then not taken.
    """

    names: tuple[str, ...]
    scores: FloatArray
    errors: FloatArray
    margins: tuple[float, ...]
    interacting: tuple[str, ...] = ()

    @property
    def chosen(self) -> str:
        """The one class to take, by :meth:`simplest` of all candidates."""
        return self.simplest(*self.names)

    @property
    def weights(self) -> FloatArray:
        r"""Weight of each class in the prediction, (k,): that of the chosen one is often 1.

        A choice between line and curve that the scores leave open would follow their noise.  The
        line and the better curve are then averaged with exponential weights,
        :math:`w \propto \exp(-s / e)` of scores s whose difference has the standard error e.
        """
        out = np.array([float(name == self.chosen) for name in self.names])
        if self.interacting:  # a line is not among those that are left
            return out
        curves = [name for name in CURVES if name in self.names]
        if self.chosen in ("line", *curves) and curves and "line" in self.names:
            line, curve = map(self.names.index, ("line", self.simplest(*curves)))
            gain, error = self.scores[line] - self.scores[curve], self.errors[line, curve]
            low, high = AVERAGED
            if low * error <= gain < high * error:
                out[:] = 0.0
                out[curve] = expit(gain / error)
                out[line] = 1.0 - out[curve]
            elif gain < 0:  # they may be equal, without an error
                out[:] = 0.0
                out[line] = 1.0
        return out

    def simplest(self, *allowed: str) -> str:
        """Go through some candidates from the simplest on, and on to those that win by a margin."""
        left = self.left(*allowed)
        first, *richer = (k for k, name in enumerate(self.names) if name in left)
        for k in richer:
            better = self.scores[first] - self.scores[k] - self.margins[k] * self.errors[first, k]
            if better > EQUAL * abs(self.scores[first]):  # or rounding would decide among equals
                first = k
        return self.names[first]

    def left(self, *allowed: str) -> tuple[str, ...]:
        """Return those of some candidates that the tests of interactions leave."""
        if not (self.interacting and PAIRS in allowed):
            return allowed
        return tuple(name for name in allowed if name in INTERACT)

    def __str__(self) -> str:
        best = int(np.argmin(self.scores))
        behind, weights = self.scores - self.scores[best], self.weights
        rows = [
            (name, f"{self.scores[k]:.6g}", f"{behind[k]:.3g}", f"{self.errors[best, k]:.3g}",
             f"{weights[k]:.2f}" if weights[k] else "")
            for k, name in enumerate(self.names)
        ]  # fmt: skip
        lines = aligned([("class", "loss", "behind", "error", "weight"), *rows])
        if self.interacting:
            lines.append(f"interact by the tests of every fold: {', '.join(self.interacting)}")
        return "\n".join(lines)


def candidates(statistic: Statistic, n_numeric: int, n_rows: int) -> list[Candidate]:
    """Classes from the simplest on, that the statistic and the number of numeric columns allow.

    >>> from multiobs import statistics
    >>> [each.name for each in candidates(statistics.variance(), 1, 1000)]
    ['constant', 'line', 'smooth', 'boosting']
    """
    # Imported here: a fit whose class is given needs neither.
    from sklearn.ensemble import HistGradientBoostingRegressor
    from sklearn.preprocessing import FunctionTransformer

    flat = FunctionTransformer(_flat, check_inverse=False, feature_names_out=_flat_name)
    found = [Candidate("constant", features=flat), Candidate("line", LINE)]
    if statistic.psi is not None or statistic.parts is not None:
        found.append(Candidate("smooth", SMOOTH, features=Smooth()))
        if 1 < n_numeric <= INTERACTING:
            pairs = Smooth(interactions="auto")
            found.append(Candidate(PAIRS, INTERACTIONS, features=pairs))
    if statistic.form != "loss":
        leaf = max(20, n_rows // 50)  # a leaf of few pseudo-observations follows their noise
        trees = HistGradientBoostingRegressor(
            max_iter=80, learning_rate=0.05, max_leaf_nodes=4, min_samples_leaf=leaf, max_bins=64,
            early_stopping=False, random_state=0,
        )  # fmt: skip
        found.append(Candidate("boosting", BOOSTING, estimator=trees))
    return found


def _flat(X: FloatArray) -> FloatArray:
    """Return a feature that says nothing about x."""
    return np.ones((X.shape[0], 1))


def _flat_name(_: Any, __: Any) -> list[str]:
    return ["1"]


Fit = Callable[[Candidate, Rows, Prepared], Any]  # to some rows and the tuples made of them


def scored_classes(fit: Fit, request: Request, rows: Rows) -> tuple[list[Candidate], ClassScores]:
    """Score the candidates on rows they were not fitted to.

    The rows of a tuple that is scored are in one fold, so that no candidate has seen its labels;
    these are moved along the pilot of all rows, the same for every candidate: one of fewer rows
    would miss the places of jumps.

    Parameters
    ----------
    fit : callable
        Fits a candidate to some rows.
    request : Request
        What is estimated, and how rows become tuples.
    rows : Rows
        Validated rows.
    """
    statistic, n = request.statistic, rows.X.shape[0]
    numeric = rows.X.shape[1] - sum(stop - start for start, stop in rows.indicators)
    ready = candidates(statistic, numeric, n)
    fold = np.empty(n, dtype=np.int64)
    fold[canonical_order(rows.place, rows.y, rows.weight)] = spread_folds(n, FOLDS)
    predictions = {each.name: np.zeros(n) for each in ready}
    tested: list[set[Pair]] = []
    # what is wrong with a class shows in its score; threads of trees would wait for each other
    with warnings.catch_warnings(), one_thread():
        warnings.simplefilter("ignore")
        whole = prepare(request, rows, np.random.default_rng(0)).problem
        for k in range(FOLDS):
            out, kept = np.flatnonzero(fold == k), rows.at(np.flatnonzero(fold != k))
            prepared = prepare(request, kept, np.random.default_rng(0))
            for each in ready:
                found = fit(each, kept, prepared)
                predictions[each.name][out] = found.result.predict(rows.X[out])
                if each.name == PAIRS:
                    tested.append(set(found.result.tested))
    # a value that is known to be wrong is NaN, and its class no candidate
    simplest, ready = ready[0], [e for e in ready if np.all(np.isfinite(predictions[e.name]))]
    if not ready:  # the fit itself will say so
        nothing = np.full((1, 1), np.nan)
        return [simplest], ClassScores((simplest.name,), nothing[0], nothing, (simplest.margin,))
    level, y, weight = _mean_at_rows(whole), rows.y, rows.weight
    if level is not None:
        # residuals with what the pilot took of their spread
        y = level + whole.units.scale * whole.residuals.labels
        columns = completed(rows.X, rows.indicators)  # no level of a category is a special one
        spread = fit_scale_pilot(columns, y - level, weight).predict(columns)
        even = (spread / np.median(spread)) ** (-statistic.loss_growth / statistic.arity)
        weight = even if weight is None else weight * even
    narrow = statistic.arity == 2 and rows.place.shape[1] == 1
    table = scoring.compare(
        statistic,
        rows.place,
        y,
        {each.name: predictions[each.name] for each in ready},
        sampler=Adjacent(PARTNERS) if narrow else "adjacent",
        sample_weight=weight,
        groups=_blocks(fold, whole.blocks, statistic.arity),
        transport="auto" if level is None else level,
    )
    order = [table.names.index(each.name) for each in ready]
    names, margins = tuple(each.name for each in ready), tuple(each.margin for each in ready)
    errors = np.array([[table.difference(a, b).se for b in names] for a in names])
    sure = sorted(set[Pair].intersection(*tested)) if PAIRS in names else []
    interacting = tuple(" and ".join(rows.names[j] for j in pair) for pair in sure)
    return ready, ClassScores(names, table.scores[order], errors, margins, interacting)


def _blocks(fold: IntArray, groups: IntArray | None, arity: int) -> IntArray | None:
    """Codes that a scored tuple never crosses: folds, unless rows are too few to find one there."""
    crossed = fold if groups is None else groups * FOLDS + fold
    return crossed if np.unique(crossed, return_counts=True)[1].max() >= arity else groups


def _mean_at_rows(problem: Problem) -> FloatArray | None:
    """Mean of the labels by the pilot of a problem; None where it has none, or several."""
    pilot, units = problem.residuals.pilot, problem.units
    if pilot is None or problem.residuals.labels.ndim > 1 or problem.residuals.scale is not None:
        return None
    return np.asarray(units.shift + units.scale * pilot.at_rows)
