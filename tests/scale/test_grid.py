"""Every statistic by every sampler, from random pieces in random ranges: the fit in memory.

A cell of the grid is a statistic, a sampler and a kind of rows.  Its rows come in files cut at
random, some of a single row, and are fitted in 1, 2, 7 or 64 ranges, some of a single row, too.
"""

import re
from itertools import pairwise, product

import numpy as np
import pyarrow.feather as feather
import pytest
from tables import STATISTICS

from multiobs import MultiObservationRegressor, samplers
from multiobs.scale import DaskFutures, Serial, fit, opening
from multiobs.scale.ranges import END, Range
from multiobs.tuples import Tuples

pytestmark = pytest.mark.filterwarnings("ignore")

SAMPLERS = {
    "sliding": samplers.SlidingWindow(),
    "adjacent": samplers.Adjacent(9),
    "nearby": samplers.Nearby(0.03),
    "wide": samplers.Nearby(0.4),  # halos wider than a range
    "paper": samplers.Nearby("paper"),
    "validated": "nearby",
    "disjoint": samplers.Disjoint(),
    "replicates": samplers.Replicates(),
    "auto": "auto",
}
KINDS = ("plain", "ties", "gaps")
CUTS = (1, 2, 7, 64)
ROWS = 300


def possible(statistic, sampler, kind):
    """Whether there are tuples at all, and the same in memory."""
    if sampler == "replicates":
        return kind == "ties"
    return sampler != "disjoint" or kind != "ties"  # whose order is drawn, by another hand


GRID = [each for each in product(STATISTICS, SAMPLERS, KINDS) if possible(*each)]
CELLS = len(GRID) // len(STATISTICS)  # of each statistic: SAMPLERS by KINDS, less the impossible
SOME = [each for each in GRID if each[0] == "variance"]
SOME += [GRID[i * CELLS + i % CELLS] for i in range(len(STATISTICS))]  # another sampler for each
SOME += [("maxvar(2)", "validated", "gaps")]  # features that hardly differ where most tuples are
FEW = SOME[:: len(SOME) // 4]


def pieces(folder, table, count, rng):
    """Files of the rows, cut at random: the second holds a single row."""
    edges = np.sort(rng.choice(np.arange(2, table.num_rows), count - 1, replace=False))
    if count > 2:
        edges[1] = edges[0] + 1
    for i, (a, b) in enumerate(pairwise([0, *np.unique(edges).tolist(), table.num_rows])):
        feather.write_feather(table.slice(a, b - a), folder / f"{i:03d}.feather")
    return folder


def random_ranges(rng):
    """Ranges that end at any row of the sample; of several, the second holds a single x."""

    def cut(keys, x, count):
        distinct = np.unique(x)
        places = np.sort(rng.integers(0, distinct.size - 1, count - 1))
        if count > 2:
            places[1] = places[0] + 1
        edges = [(-np.inf, -np.inf), *((0.0, float(v)) for v in distinct[np.sort(places)]), END]
        return tuple(Range(i, a, b) for i, (a, b) in enumerate(pairwise(edges)))

    return cut


def drawn(inside, sampler, kind):
    """Whether the orders of ties were too many, and one was drawn, by another hand."""
    listed = isinstance(inside.result_.problem.tuples, Tuples)
    return sampler == "sliding" and kind == "ties" and not listed and inside.statistic_.arity > 1


def too_many_to_pair(inside):
    """Whether all orders of ties are listed, and their tuples overlap too often to be paired."""
    listed = isinstance(inside.result_.problem.tuples, Tuples)
    return listed and inside.inference_.covariance.kind == "rows"


def check(cell, cuts, folder, *, rows, table, equal, monkeypatch, engine=None):
    statistic, sampler, kind = cell
    case = STATISTICS[statistic]
    x, y = rows(kind, ROWS, case.labels)
    labels = "y" if y.ndim == 1 else ["y0", "y1"]
    inside = MultiObservationRegressor(
        case.make(), SAMPLERS[sampler], random_state=0, transport=None
    )
    how = dict(statistic=case.make(), sampler=SAMPLERS[sampler], transport=None)
    refused = None
    try:
        inside.fit(x[:, None], y)
    except ValueError as error:
        refused = str(error)
    for count in cuts:
        rng = np.random.default_rng([count, GRID.index(cell)])
        (folder / str(count)).mkdir()
        source = pieces(folder / str(count), table(x, y), min(count, 7), rng)
        monkeypatch.setattr(opening, "cut", random_ranges(rng))
        how |= dict(ranges=count, engine=engine or Serial(), scratch=folder / "scratch")
        if refused is not None:
            with pytest.raises(ValueError, match=re.escape(refused[:20])):
                fit(source, "x", labels, **how)
            continue
        if too_many_to_pair(inside):
            with pytest.raises(ValueError, match="overlapping tuples need too much memory"):
                fit(source, "x", labels, **how)
            by_parts = fit(source, "x", labels, errors=False, **how)
            np.testing.assert_allclose(by_parts.coef_, inside.coef_, rtol=1e-9)
            continue
        by_parts = fit(source, "x", labels, **how)
        if not inside.solution_.status.success or np.isnan(inside.coef_cov_).any():
            continue  # no minimum: nothing that two ways could agree on
        if drawn(inside, sampler, kind):
            assert by_parts.n_metasamples_ == inside.n_metasamples_
            assert abs(by_parts.coef_[0] - inside.coef_[0]) < 5 * np.sqrt(inside.coef_cov_[-1, -1])
            continue
        equal(inside, by_parts)


@pytest.mark.parametrize("cell", SOME, ids=str)
def test_some_of_the_grid(cell, tmp_path, rows, table, equal, monkeypatch):
    cuts = (CUTS[SOME.index(cell) % len(CUTS)],)
    check(cell, cuts, tmp_path, rows=rows, table=table, equal=equal, monkeypatch=monkeypatch)


@pytest.mark.slow
@pytest.mark.parametrize("statistic", STATISTICS)
def test_all_of_the_grid(statistic, tmp_path, rows, table, equal, monkeypatch):
    for number, cell in enumerate(each for each in GRID if each[0] == statistic):
        (tmp_path / str(number)).mkdir()
        check(cell, CUTS, tmp_path / str(number), rows=rows, table=table, equal=equal,
              monkeypatch=monkeypatch)  # fmt: skip


@pytest.fixture(scope="module")
def cluster():
    distributed = pytest.importorskip("distributed")
    with distributed.Client(
        n_workers=1, threads_per_worker=2, processes=False, dashboard_address=None
    ) as client:
        yield DaskFutures(client)


@pytest.mark.parametrize("cell", FEW, ids=str)
def test_a_few_cells_on_dask(cell, cluster, tmp_path, rows, table, equal, monkeypatch):
    check(cell, (7,), tmp_path, rows=rows, table=table, equal=equal,
          monkeypatch=monkeypatch, engine=cluster)  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("statistic", STATISTICS)
def test_the_grid_on_dask(statistic, cluster, tmp_path, rows, table, equal, monkeypatch):
    for number, cell in enumerate(each for each in GRID if each[0] == statistic):
        (tmp_path / str(number)).mkdir()
        check(cell, (1 + number % 9,), tmp_path / str(number), rows=rows, table=table, equal=equal,
              monkeypatch=monkeypatch, engine=cluster)  # fmt: skip
