"""Which columns interact: pairs that a test finds in what the terms of single columns leave.

Every pair that a fit has room for costs it some noise, one it lacks costs it what is there.  Each
is therefore tested by the score test of :mod:`multiobs.inference.terms` at the additive fit,
without being fitted itself, and the few surest come in.
"""

from dataclasses import replace
from itertools import combinations

import numpy as np

from multiobs._types import FloatArray
from multiobs.fit.terms import LevelsTerm, SmoothTerm, interaction
from multiobs.inference.additive import AdditiveFit, Pair, Part, variance_of_rows
from multiobs.inference.terms import Score, p_value, score_of

SURE = 0.05  # p-value below which a pair comes in,
FALSE = 0.25  # of all pairs expected to come in where none interacts
MOST = 3  # pairs of one part


def interacting_pairs(fitted: AdditiveFit, X: FloatArray) -> tuple[Pair, ...]:
    """Return the pairs of columns that interact in any part, in order.

    Parameters
    ----------
    fitted : AdditiveFit
        A fit with terms of single columns.
    X : ndarray (n, d)
        Positions of its rows.

    Examples
    --------
    >>> from multiobs import MultiObservationRegressor, Smooth
    >>> X = np.random.default_rng(0).uniform(size=(400, 3))
    >>> spread = np.where((X[:, 0] > 0.5) == (X[:, 2] > 0.5), 2.0, 0.5)
    >>> y = spread * np.random.default_rng(1).normal(size=400)
    >>> reg = MultiObservationRegressor("variance", features=Smooth(interactions="auto")).fit(X, y)
    >>> [term.name for term in reg.summary().terms]
    ['s(x0)', 's(x1)', 's(x2)', 's(x0):s(x2)']
    """
    found: set[Pair] = set()
    for part in fitted.parts:
        tests = sorted((p, pair) for pair, p in pair_tests(part, X))
        sure = min(SURE, FALSE / max(len(tests), 1))
        found |= {pair for p, pair in tests[:MOST] if p < sure}
    return tuple(sorted(found))


def pair_tests(part: Part, X: FloatArray) -> list[tuple[Pair, float]]:
    """Test each pair of numeric columns that has no interaction in the class.

    Parameters
    ----------
    part : Part
        A part with terms of single columns.
    X : ndarray (n, d)
        Positions of its rows.

    Returns
    -------
    list of ((int, int), float)
        Pairs of columns, and p-values of the hypothesis that they do not interact.
    """
    return [(pair, _p_value(score)) for pair, score in pair_scores(part, X)]


def pair_scores(part: Part, X: FloatArray) -> list[tuple[Pair, Score]]:
    """Score of each pair's interaction, at the fit without it; parameters as in pair_tests."""
    own = [term for term in part.design.terms if not isinstance(term, LevelsTerm)]
    return [
        ((one.inputs[0], two.inputs[0]), _score(part, interaction(one, two, X), X))
        for one, two in combinations(own, 2)
    ]


def _score(part: Part, term: SmoothTerm, X: FloatArray) -> Score:
    """Score of a term that is not in the class, its groups counted as in the term."""
    p, Z, groups = part.rows.groups.size, term.columns(X), term.groups
    first = int(part.rows.groups.max()) + 1
    rows = replace(
        part.rows,
        Z=np.column_stack([part.rows.Z, Z]),
        groups=np.concatenate([part.rows.groups, groups + first]),
    )
    columns = np.arange(p, p + groups.size)
    variance_at = variance_of_rows(part.problem, rows)
    score = score_of(rows, variance_at, columns, part.fit.w, part.fit.ridge)
    return replace(score, groups=groups)


def _p_value(score: Score) -> float:
    """Twice the smaller of two: of all parts, and of the product of the straight ones alone.

    Most interactions show there, and in a test of all parts it is one direction among many.
    """
    both = (score, score.of_groups(0))
    return min(1.0, 2 * min(p_value(*each.statistic()) for each in both))
