"""Window width and number of neighbours by validation on adjacent held-out rows.

Adjacent rows are the least biased metasamples there are.  Rows are split in two, each half fits
every candidate and is scored on the adjacent rows of the other.  One pilot serves all, and one sum
over the adjacent rows: the held-out risk is a function of the coefficients.
"""

from dataclasses import replace

import numpy as np

from multiobs._check.rows import Rows
from multiobs.fit import SAME_UNITS, Problem, fit_linear, make_design, risk_of_loss
from multiobs.samplers import Sampler, narrowest
from multiobs.statistics import Statistic
from multiobs.transport import Residuals
from multiobs.tuples import Tuples

PROBE = 3_000  # rows that the choice is made on, or an eighth of them if these are more
MOST = 20_000  # but not more than these


def by_validation(
    sampler: Sampler, statistic: Statistic, working: Rows, residuals: Residuals
) -> Sampler:
    """Return the candidate whose linear fit scores best on adjacent rows it has not seen.

    Parameters
    ----------
    sampler : Sampler
        What is to be settled.
    statistic : Statistic
        What is estimated.
    working : Rows
        The rows, with labels in working units and codes that a tuple never crosses.
    residuals : Residuals
        The same labels less a pilot.
    """
    X, place, y = working.X, working.place, working.y
    n, m = X.shape[0], statistic.arity
    options = sampler.candidates(place, m)
    if len(options) == 1 or n < 8 * m:
        return options[0]
    most = min(max(PROBE, n // 8), MOST)
    rows = np.arange(n) if n <= most else np.arange(0, n, n // most)
    rng = np.random.default_rng(0)  # only ties are left to chance
    # Blocks of adjacent rows alternate between the halves, so that both cover all of x.
    order = rng.permutation(rows)
    order = order[np.argsort(place[order, 0], kind="stable")]
    half = np.empty(order.size, dtype=np.int64)
    half[:] = (np.arange(order.size) // (2 * m)) % 2
    total = np.zeros(len(options))
    nothing = Tuples(np.empty((0, m), dtype=np.int64), n)  # each half has tuples of its own
    plain = replace(residuals, scale=None)
    whole = Problem(statistic, X, place, plain, nothing, working.weight, SAME_UNITS)
    # Neighbours in several columns are far: a change of the mean between them is not spread.
    moved = place.shape[1] > 1 and residuals.pilot is not None and not residuals.located
    judged = residuals.labels if moved and residuals.scale is None else y
    for side in (0, 1):
        inside, outside = np.sort(order[half == side]), np.sort(order[half != side])
        codes = None if working.groups is None else working.groups[inside]
        design = make_design(None, X[inside], intercept=True)
        folds = None if not moved or residuals.folds is None else residuals.folds[outside]
        fresh = narrowest(place.shape[1], m).build(place[outside], m, rng, folds)
        held_out = risk_of_loss(statistic.loss, fresh, design.columns(X[outside]), judged[outside])
        for i, option in enumerate(options):
            tuples = option.build(place[inside], m, rng, codes)
            if tuples.count() == 0:
                total[i] = np.inf
                continue
            fitted = fit_linear(whole.at(inside, tuples), design, 0.0)
            total[i] += held_out.value(fitted.w) / fresh.total_weight()
    return options[int(np.argmin(total))]
