"""Sorted runs and ranges against one sort of all rows in memory."""

from itertools import pairwise

import numpy as np
import pyarrow as pa
import pytest

from multiobs.samplers import Reach
from multiobs.scale import runs as scale_runs
from multiobs.scale.columns import SourceColumns
from multiobs.scale.ranges import cut, load
from multiobs.scale.runs import Layout, Sorting, merged_sample, sort_part
from multiobs.scale.sources import table_part


def sorted_parts(folder, tables, *, keyed=False, most=37, rate=1.0, missing="refuse"):
    columns = SourceColumns(("x",), (), ("y",), None, "g" if keyed else None)
    levels = ((0, 1, 2),) if keyed else ()
    layout = Layout(keyed, 1, False)
    how = Sorting(folder, columns, levels, layout, missing, False, most, rate, 10**6, 0)
    parts = [table_part(f"table {i}", t) for i, t in enumerate(tables)]
    return [sort_part((how, i, part, part.stamp())) for i, part in enumerate(parts)]


def tables_of(x, g, cuts):
    frame = pa.table({"x": x, "y": np.arange(x.size, dtype=float), "g": g})
    edges = [0, *cuts, x.size]
    return [frame.slice(a, b - a) for a, b in pairwise(edges)]


def positions(rng, kind, n):
    if kind == "ties":
        return np.where(rng.random(n) < 0.3, 0.5, np.round(rng.random(n), 2))
    return rng.normal(size=n) * (1e9 if kind == "offset" else 1.0) + (1e12 * (kind == "offset"))


@pytest.mark.parametrize("kind", ["plain", "ties", "offset"])
@pytest.mark.parametrize("keyed", [False, True])
@pytest.mark.parametrize("count", [1, 2, 7, 64])
def test_ranges_partition_all_rows_in_the_order_of_one_sort(tmp_path, kind, keyed, count):
    rng = np.random.default_rng(count)
    n = 300
    x, g = positions(rng, kind, n), rng.integers(0, 3, n)
    found = sorted_parts(tmp_path, tables_of(x, g, [1, 100, 101, 250]), keyed=keyed)
    runs = [run for part in found for run in part.runs]
    order = np.lexsort((np.arange(n), x, g)) if keyed else np.argsort(x, kind="stable")
    sample = rng.integers(0, n, 40)
    keys = g[sample].astype(float) if keyed else np.zeros(40)
    seen = []
    for each in cut(keys, x[sample], count):
        stretch = load(runs, each, Reach(), 0, 0)
        assert (stretch.first, stretch.last) == (0, stretch.rows.size)
        seen.append(stretch.rows.y[:, 0])
    assert np.concatenate(seen).tolist() == order.tolist()


@pytest.mark.parametrize("reach", [Reach(rows=3), Reach(width=0.065), Reach(rows=50)])
@pytest.mark.parametrize(("times", "page"), [(1, 4), (2, 4), (2, 512)])
def test_halo_is_the_smallest_that_holds_whole_ties_of_one_key(
    tmp_path, monkeypatch, reach, times, page
):
    monkeypatch.setattr(scale_runs, "PAGE", page)
    rng = np.random.default_rng(5)
    n = 200
    x, g = np.round(rng.random(n), 2), rng.integers(0, 3, n)
    found = sorted_parts(tmp_path, tables_of(x, g, [60, 61]), keyed=True)
    runs = [run for part in found for run in part.runs]
    order = np.lexsort((np.arange(n), x, g))
    sx, sg = x[order], g[order]
    for each in cut(g[:30].astype(float), x[:30], 13):
        stretch = load(runs, each, reach, times, times)
        if stretch.first == stretch.last:
            continue
        inside = stretch.rows.y[:, 0].astype(int)
        low = int(np.flatnonzero(order == inside[stretch.first])[0])
        high = low + stretch.last - stretch.first
        begin, end = low, high
        for _ in range(times):  # the obvious way: one row at a time
            start, stop = begin, end
            while (
                begin > 0
                and sg[begin - 1] == sg[low]
                and _near(
                    sx[start] - sx[begin - 1],
                    start - begin,
                    sx[begin - 1] == sx[begin],
                    reach,
                    begin < start,
                )
            ):
                begin -= 1
            while (
                end < n
                and sg[end] == sg[high - 1]
                and _near(
                    sx[end] - sx[stop - 1], end - stop, sx[end] == sx[end - 1], reach, end > stop
                )
            ):
                end += 1
        assert inside.tolist() == order[begin:end].tolist()
        assert stretch.rank == int(np.sum(sg[:low] == sg[low]))


def _near(gap, taken, tied, reach, moved):
    if reach.width:
        return gap <= reach.width
    return taken < reach.rows or (tied and moved)


def test_sample_is_uniform_and_in_the_order_of_the_rows(tmp_path):
    x = np.arange(2000.0)
    found = sorted_parts(tmp_path, tables_of(x, np.zeros(2000, int), [700]), rate=0.2, most=150)
    sample = merged_sample(found, 200)
    assert sample.shape == (2, 200)
    assert np.all(np.diff(sample[1]) > 0)
    assert abs(np.mean(sample[0]) - 1000) < 5 * 577 / np.sqrt(200)
    assert np.array_equal(
        merged_sample(
            sorted_parts(tmp_path, tables_of(x, np.zeros(2000, int), [700]), rate=0.2, most=150),
            200,
        ),
        sample,
    )


def test_missing_rows_are_refused_or_dropped_and_counted(tmp_path):
    x = np.array([0.1, np.nan, 0.3, np.inf, 0.2])
    tables = tables_of(x, np.zeros(5, int), [])
    with pytest.raises(ValueError, match="rows must hold finite numbers, got 2 with"):
        sorted_parts(tmp_path / "a", tables)
    (found,) = sorted_parts(tmp_path / "b", tables, missing="drop")
    assert (found.rows, found.dropped) == (3, 2)


def test_a_run_that_was_cut_short_is_not_read(tmp_path):
    (found,) = sorted_parts(tmp_path, tables_of(np.arange(9.0), np.zeros(9, int), []))
    run = found.runs[0]
    run.path.write_bytes(run.path.read_bytes()[:-8])
    with pytest.raises(OSError, match="cut short"):
        run.read(0, 9)
