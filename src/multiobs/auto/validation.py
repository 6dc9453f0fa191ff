"""Window width and number of neighbours by validation on adjacent held-out rows.

Adjacent rows are the least biased metasamples there are.  Rows are split in two, each half fits
every candidate and is scored on the adjacent rows of the other.  One pilot serves all, and one sum
over the adjacent rows: the held-out risk is a function of the coefficients.
"""

import numpy as np

from multiobs._types import FloatArray, IntArray
from multiobs.fit.design import make_design
from multiobs.fit.linear import fit_linear
from multiobs.fit.risk import empirical_risk
from multiobs.samplers import (
    Nearby,
    Nearest,
    Sampler,
    column_scales,
    narrowest,
    paper_epsilon,
)
from multiobs.statistics import Statistic
from multiobs.transport import Carried

WIDTHS = (0.5, 1.0, 2.0, 4.0, 8.0)  # times the paper's epsilon
NEIGHBOURS = (1, 2, 4, 8, 16)  # times m - 1
PROBE = 3_000  # rows that the choice is made on, or an eighth of them if these are more
MOST = 20_000  # but not more than these


def candidates(sampler: Nearby | Nearest, X: FloatArray, arity: int) -> list[Sampler]:
    """Samplers among which validation chooses."""
    if isinstance(sampler, Nearby):
        points = X if X.shape[1] == 1 else X / column_scales(X, sampler.scale)
        base = paper_epsilon(points)
        if base == 0.0:
            return [Nearby(0.0, sampler.scale)]
        return [Nearby(factor * base, sampler.scale) for factor in WIDTHS]
    most = max(X.shape[0] // 4, arity - 1, 1)
    counts = sorted({min(factor * max(arity - 1, 1), most) for factor in NEIGHBOURS})
    return [Nearest(count, sampler.scale) for count in counts if count >= arity - 1]


def by_validation(
    sampler: Sampler,
    statistic: Statistic,
    X: FloatArray,
    place: FloatArray,
    y: FloatArray,
    carried: Carried,
    weight: FloatArray | None,
    groups: IntArray | None,
) -> Sampler:
    """Return the candidate whose linear fit scores best on adjacent rows it has not seen.

    Parameters
    ----------
    sampler : Nearby("auto") or Nearest("auto")
        What is to be settled.
    statistic : Statistic
        What is estimated.
    X, place, y : ndarray
        Columns of the class (n, d), positions that the sampler sees, labels in comfortable units.
    carried : Carried
        The same labels carried by transport.
    weight, groups : ndarray or None
        Weights and codes that a tuple never crosses.
    """
    assert isinstance(sampler, Nearby | Nearest)
    n, m = X.shape[0], statistic.arity
    options = candidates(sampler, place, m)
    if len(options) == 1 or n < 8 * m:
        return options[0]
    most = min(max(PROBE, n // 8), MOST)
    rows = np.arange(n) if n <= most else np.arange(0, n, n // most)
    rng = np.random.default_rng(0)  # nothing here is left to chance
    # Blocks of adjacent rows alternate between the halves, so that both cover all of x.
    order = rows[np.argsort(place[rows, 0], kind="stable")]
    half = np.empty(order.size, dtype=np.int64)
    half[:] = (np.arange(order.size) // (2 * m)) % 2
    total = np.zeros(len(options))
    for side in (0, 1):
        inside, outside = np.sort(order[half == side]), np.sort(order[half != side])
        part = Carried(
            carried.labels[inside],
            None if carried.offset is None else carried.offset[inside],
            carried.pilot,
        )
        codes = None if groups is None else groups[inside]
        importance = None if weight is None else weight[inside]
        design = make_design(None, X[inside], intercept=True)
        fresh = narrowest(place.shape[1], m).build(place[outside], m, rng)
        held_out = empirical_risk(statistic, fresh, design.columns(X[outside]), y[outside])
        for i, option in enumerate(options):
            tuples = option.build(place[inside], m, rng, codes)
            if tuples.count() == 0:
                total[i] = np.inf
                continue
            fitted = fit_linear(statistic, tuples, design, X[inside], part, importance, 0.0)
            total[i] += held_out.value(fitted.w) / fresh.count()
    return options[int(np.argmin(total))]
