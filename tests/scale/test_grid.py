"""Every statistic by every sampler, cut into 1, 2, 7 and 64 ranges: the fit in memory."""

import re
from itertools import product

import numpy as np
import pytest
from tables import STATISTICS

from multiobs import MultiObservationRegressor, samplers
from multiobs.scale import Serial, fit

pytestmark = pytest.mark.filterwarnings("ignore")

SAMPLERS = {
    "sliding": samplers.SlidingWindow(),
    "adjacent": samplers.Adjacent(9),
    "nearby": samplers.Nearby(0.03),
    "wide": samplers.Nearby(0.4),
    "disjoint": samplers.Disjoint(),
    "replicates": samplers.Replicates(),
    "auto": "auto",
}
KINDS = ("plain", "ties", "gaps")
CUTS = (1, 2, 7, 64)
ROWS = 300


def possible(statistic, sampler, kind):
    """Whether there are tuples at all, and not too many to be listed one by one."""
    case = STATISTICS[statistic]
    if sampler == "replicates" and kind != "ties":
        return False
    if sampler == "disjoint" and kind == "ties":  # the order of ties is drawn, by another hand
        return False
    many = sampler in ("adjacent", "nearby", "wide", "replicates", "auto")
    return not (case.slow and many)


GRID = [each for each in product(STATISTICS, SAMPLERS, KINDS) if possible(*each)]
SOME = GRID[:: max(1, len(GRID) // 40)]


def pairs(statistic, sampler, kind, rows, table, cut):
    """The fit in memory and the fit by parts, or None where both are refused alike."""
    case = STATISTICS[statistic]
    x, y = rows(kind, ROWS, case.labels)
    labels = "y" if y.ndim == 1 else ["y0", "y1"]
    options = dict(transport=None)
    inside = MultiObservationRegressor(case.make(), SAMPLERS[sampler], random_state=0, **options)
    how = dict(
        statistic=case.make(), sampler=SAMPLERS[sampler], ranges=cut, engine=Serial(),
        errors=case.make().arity == 2, **options,
    )  # fmt: skip
    try:
        inside.fit(x[:, None], y)
    except ValueError as error:
        with pytest.raises(ValueError, match=re.escape(str(error)[:20])):
            fit(table(x, y), "x", labels, **how)
        return None
    return inside, fit(table(x, y), "x", labels, **how)


def check(statistic, sampler, kind, rows, table, distance):
    number = GRID.index((statistic, sampler, kind))
    cut = CUTS[number % len(CUTS)]
    for each in CUTS if number % 7 == 0 else (cut,):
        found = pairs(statistic, sampler, kind, rows, table, each)
        if found is None:
            return
        inside, by_parts = found
        assert by_parts.n_metasamples_ == inside.n_metasamples_
        expected = np.append(inside.coef_, inside.intercept_)
        if not np.all(np.isfinite(expected)):
            continue
        if np.isnan(inside.coef_cov_).any() or not inside.solution_.status.success:
            continue  # no minimum: nothing that two ways could agree on
        assert distance(np.append(by_parts.coef_, by_parts.intercept_), expected) < 1e-9
        if STATISTICS[statistic].make().arity == 2:
            assert distance(by_parts.coef_cov_, inside.coef_cov_) < 1e-8


@pytest.mark.parametrize(("statistic", "sampler", "kind"), SOME)
def test_some_of_the_grid(statistic, sampler, kind, rows, table, distance):
    check(statistic, sampler, kind, rows, table, distance)


@pytest.mark.slow
@pytest.mark.parametrize(("statistic", "sampler", "kind"), GRID)
def test_all_of_the_grid(statistic, sampler, kind, rows, table, distance):
    check(statistic, sampler, kind, rows, table, distance)
