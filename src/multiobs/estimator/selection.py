"""``estimator="auto"``: the class of functions chosen by its held-out multi-observation score."""

import warnings
from dataclasses import dataclass
from typing import Any, final

import numpy as np
from sklearn.base import clone
from sklearn.ensemble import HistGradientBoostingRegressor
from sklearn.preprocessing import FunctionTransformer

from multiobs import scoring
from multiobs._check.rows import Rows
from multiobs._tables import aligned
from multiobs._types import FloatArray
from multiobs.fit import Smooth
from multiobs.statistics import Statistic

FOLDS = 3
MARGIN = 2.0  # standard errors of the difference by which a richer class must be better
INTERACTING = 4  # columns up to which all pairs may interact


@final
@dataclass(frozen=True)
class Candidate:
    """A class of functions that may be chosen.

    Attributes
    ----------
    name : str
        For the table of scores.
    features, estimator : object
        As in MultiObservationRegressor.
    """

    name: str
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
    behind, errors : ndarray (k,)
        How far each is behind the best, and the standard error of that under shared labels.
    chosen : str
        The simplest one that is within two standard errors of the best.
    """

    names: tuple[str, ...]
    scores: FloatArray
    behind: FloatArray
    errors: FloatArray
    chosen: str

    def simplest(self, *allowed: str) -> str:
        """Return the simplest of some candidates within two standard errors of the best of all.

        Where none is, the best of them.
        """
        fair = [k for k, name in enumerate(self.names) if name in allowed]
        fine = (k for k in fair if self.behind[k] <= MARGIN * self.errors[k])
        return self.names[next(fine, min(fair, key=lambda k: float(self.scores[k])))]

    def __str__(self) -> str:
        rows = [
            (name, f"{score:.6g}", f"{gap:.3g}", f"{error:.3g}", "*" * (name == self.chosen))
            for name, score, gap, error in zip(
                self.names, self.scores, self.behind, self.errors, strict=True
            )
        ]
        return "\n".join(aligned([("class", "loss", "behind", "error", ""), *rows]))


def candidates(statistic: Statistic, n_columns: int, n_rows: int) -> list[Candidate]:
    """Classes from the simplest on, that the statistic and the number of columns allow.

    >>> from multiobs import statistics
    >>> [each.name for each in candidates(statistics.variance(), 1, 1000)]
    ['constant', 'line', 'smooth', 'boosting']
    """
    flat = FunctionTransformer(_flat, check_inverse=False, feature_names_out=_flat_name)
    found = [Candidate("constant", features=flat), Candidate("line")]
    if statistic.psi is not None or statistic.parts is not None:
        found.append(Candidate("smooth", features=Smooth()))
        if 1 < n_columns <= INTERACTING:
            both = Smooth(interactions=True)
            found.append(Candidate("smooth with interactions", features=both))
    if statistic.form != "loss":
        leaf = max(20, n_rows // 50)  # a leaf of few pseudo-observations follows their noise
        trees = HistGradientBoostingRegressor(
            max_iter=100, min_samples_leaf=leaf, early_stopping=False, random_state=0
        )
        found.append(Candidate("boosting", estimator=trees))
    return found


def _flat(X: FloatArray) -> FloatArray:
    """Return a feature that says nothing about x."""
    return np.ones((X.shape[0], 1))


def _flat_name(_: Any, __: Any) -> list[str]:
    return ["1"]


def chosen_class(
    template: Any, statistic: Statistic, rows: Rows, rng: np.random.Generator
) -> tuple[Candidate, ClassScores]:
    """Score the candidates on rows they were not fitted to, and take the simplest good one.

    Parameters
    ----------
    template : MultiObservationRegressor
        Cloned with each candidate's class.
    statistic : Statistic
        What is estimated.
    rows : Rows
        Validated rows.
    rng : Generator
        Deals the rows into folds.
    """
    n = rows.X.shape[0]
    ready = candidates(statistic, rows.X.shape[1], n)
    fold = rng.permutation(np.arange(n) % FOLDS)
    predictions = {each.name: np.zeros(n) for each in ready}
    for k in range(FOLDS):
        out, kept = np.flatnonzero(fold == k), np.flatnonzero(fold != k)
        groups = None if rows.groups is None else rows.groups[kept]
        weight = None if rows.weight is None else rows.weight[kept]
        for each in ready:
            model = clone(template).set_params(
                features=each.features, estimator=each.estimator, random_state=0, verbose=False
            )
            with warnings.catch_warnings():  # what is wrong with a class shows in its score
                warnings.simplefilter("ignore")
                model.fit(rows.X[kept], rows.y[kept], sample_weight=weight, groups=groups)
            predictions[each.name][out] = model.predict(rows.X[out])
    table = scoring.compare(
        statistic, rows.X, rows.y, predictions, sample_weight=rows.weight, groups=rows.groups
    )
    order = [table.names.index(each.name) for each in ready]
    behind = np.array([table.differences[at].difference for at in order])
    errors = np.array([table.differences[at].se for at in order])
    fine = np.flatnonzero(behind <= MARGIN * errors)
    at = int(fine[0])
    names = tuple(each.name for each in ready)
    return ready[at], ClassScores(names, table.scores[order], behind, errors, names[at])
