"""Several columns: leaves of a forest by parts are the same leaves with all rows in memory."""

from itertools import pairwise

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from multiobs import MultiObservationRegressor, samplers, statistics
from multiobs.fit import fit_linear
from multiobs.inference import covariance
from multiobs.scale import Serial, Threads, fit, fitting, opening
from multiobs.scale.columns import ReadRows
from multiobs.scale.leaf_buckets import leaf_ranges
from multiobs.scale.leaf_draws import numbered_tuples

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")
SIZES = (1, 290, 2, 330, 77)  # uneven files, one of a single row
MOMENTS = {
    "variance": "variance",
    "third": statistics.central_moment(3),
    "ratio": "squared_cv",
    "mean": "mean",
    "covariance": "covariance",
}
BUCKETS = {"gini": "gini_mean_difference", "minvar": "minvar", "ucb": "ucb", "tau": "kendall_tau"}


def table(seed=0, ties=False, columns=2):
    rng = np.random.default_rng(seed)
    n = sum(SIZES)
    X = rng.random((n, columns))
    if ties:
        X[rng.random(n) < 0.3] = 0.5
    common = rng.normal(size=n)
    y = 3.0 + np.sin(5 * X[:, 0]) + rng.normal(size=n) * (1 + X[:, 1])
    return pa.table(
        {f"x{c}": X[:, c] for c in range(columns)}
        | {"y": y, "z": common + 0.3 * y, "w": rng.integers(0, 4, n).astype(float)}
        | {"g": rng.choice(["a", "b"], n, p=[0.8, 0.2])}
    )


@pytest.fixture
def watched(monkeypatch):
    """What a fit by parts chose, and the rows it read."""
    seen = {}
    choose, sort = fitting.choose_leaves, opening.sort_source

    def chosen(*args, **options):
        seen["recipe"] = (found := choose(*args, **options)).recipe
        return found

    def sorted_rows(*args):
        found = sort(*args)
        parts = [run.layout.unpack(run.read(0, run.rows)) for run in found.runs]

        def joined(name):
            values = [getattr(part, name) for part in parts]
            return None if values[0] is None else np.concatenate(values)

        seen["rows"] = ReadRows(*(joined(name) for name in ("key", "x", "y", "weight", "draw")))
        seen["runs"] = len(found.runs)
        return found

    monkeypatch.setattr(fitting, "choose_leaves", chosen)
    monkeypatch.setattr(opening, "sort_source", sorted_rows)
    return seen


def files(folder, frame):
    at = 0
    for i, size in enumerate(SIZES):
        pq.write_table(frame.slice(at, size), folder / f"{i}.parquet")
        at += size
    return folder


def agree(reg, seen, distance, alpha=0.0):
    recipe = seen["recipe"]
    inside = fit_linear(recipe.problem(seen["rows"]), recipe.design, alpha)
    assert reg.n_metasamples_ == inside.problem.tuples.count()
    slopes, intercept = inside.coefficients()
    assert distance(np.append(reg.coef_, reg.intercept_), np.append(slopes, intercept)) < 1e-9
    known, found = covariance(inside), reg.inference_.covariance
    assert distance(found.matrix, known.matrix) < 1e-8
    assert distance(found.naive, known.naive) < 1e-8
    assert found.df == pytest.approx(known.df, rel=1e-8)
    z = recipe.design.columns(recipe.columns(seen["rows"]))[:5]
    skewness = known.skewness(z)
    if skewness is not None:
        assert distance(found.skewness(z).bend, skewness.bend) < 1e-7


@pytest.mark.parametrize("name", [*MOMENTS, *BUCKETS])
def test_leaves_by_parts_are_leaves_in_memory(name, watched, tmp_path, distance):
    statistic = MOMENTS.get(name, BUCKETS.get(name))
    labels = ["y", "z"] if name in ("covariance", "tau") else "y"
    source = files(tmp_path, table())
    transport = "location" if name in ("variance", "ucb") else None
    reg = fit(
        source, ["x0", "x1"], labels, statistic=statistic, transport=transport, engine=Serial()
    )
    assert watched["runs"] == len(SIZES)
    assert watched["recipe"].in_moments() == (name in MOMENTS)
    agree(reg, watched, distance)


@pytest.mark.parametrize("name", ["variance", "gini"])
def test_weights_groups_categories_ties_and_penalty(name, watched, tmp_path, distance):
    source = files(tmp_path, table(ties=True))
    statistic = MOMENTS.get(name, BUCKETS.get(name))
    reg = fit(
        source, ["x0", "x1", "g"], "y", statistic=statistic, transport=None, engine=Serial(),
        sample_weight="w", alpha=0.2,
    )  # fmt: skip
    assert reg.coef_.shape == (3,)
    agree(reg, watched, distance, 0.2 * watched["recipe"].units.penalty)


def test_the_problem_is_that_of_the_estimator_given_the_leaves(watched, tmp_path, distance):
    reg = fit(files(tmp_path, table()), ["x0", "x1"], "y", transport=None, engine=Serial())
    problem, rows = watched["recipe"].problem(watched["rows"]), watched["rows"]
    codes = watched["recipe"].forest.codes(rows.x, (rows.draw * 2.0**40).astype(np.int64) % 2, None)
    inside = MultiObservationRegressor("variance", samplers.Leaves(codes), transport=None)
    inside.fit(rows.x, rows.y[:, 0], sample_weight=problem.weight)
    assert distance(reg.coef_, inside.coef_) < 1e-9
    assert distance(reg.coef_cov_, inside.coef_cov_) < 1e-8


@pytest.mark.parametrize("name", ["variance", "minvar"])
def test_whoever_works_the_bits_are_the_same(name, tmp_path):
    source = files(tmp_path, table())
    options = dict(statistic=name, transport=None)
    one = fit(source, ["x0", "x1"], "y", engine=Serial(), **options)
    other = fit(source, ["x0", "x1"], "y", engine=Threads(3), **options)
    assert np.array_equal(one.coef_, other.coef_)
    assert np.array_equal(one.coef_cov_, other.coef_cov_)
    assert "rows that share leaves of" in str(one.plan_)
    assert "5 runs" in str(one.plan_)


def test_nothing_is_left_behind_and_a_second_attempt_resumes(tmp_path, monkeypatch):
    from multiobs.scale import leaf_fit

    source, scratch = files(tmp_path, table()), tmp_path / "scratch"
    options = dict(transport=None, engine=Serial(), scratch=scratch)
    expected = fit(source, ["x0", "x1"], "y", **options)
    assert list(scratch.iterdir()) == []

    def broken(*args):
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(leaf_fit, "covariance_of_rows", broken)
        with pytest.raises(KeyboardInterrupt):
            fit(source, ["x0", "x1"], "y", **options)
    left = sorted(path.name for path in scratch.rglob("*.bin"))
    assert len(left) == len(SIZES)
    monkeypatch.setattr(leaf_fit.CodeRun, "_make", lambda *args: pytest.fail("coded again"))
    again = fit(source, ["x0", "x1"], "y", **options)
    assert np.array_equal(again.coef_cov_, expected.coef_cov_)
    assert list(scratch.iterdir()) == []


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"sampler": samplers.Nearest(8)}, r"got Nearest.*Nearest and ball Nearby need all rows"),
        ({"sampler": samplers.Nearby(0.1)}, r"got Nearby.*Nearest and ball Nearby need all rows"),
        ({"features": object()}, "features must be None for several numeric columns"),
        ({"transport": "location-scale"}, "transport must be 'location' or None for several"),
    ],
)
def test_what_cannot_be_done_is_said(options, message):
    with pytest.raises(ValueError, match=message):
        fit(table(), ["x0", "x1"], "y", engine=Serial(), **options)


def test_numbered_tuples_are_those_of_windows():
    sizes = np.array([3, 0, 4, 1, 5])
    from multiobs.tuples import Windows, numbered

    leaf = np.repeat(np.arange(5), sizes)
    stop = np.searchsorted(leaf, leaf, side="right")
    rank = np.arange(leaf.size) - np.searchsorted(leaf, leaf)
    for m in (2, 3):
        windows = Windows(np.arange(leaf.size), stop, m)
        numbers = np.arange(windows.count())
        members = numbered(windows, numbers).members
        found = numbered_tuples(numbers, sizes, m)
        assert found.leaf.tolist() == leaf[members].tolist()
        assert found.rank.tolist() == rank[members].tolist()


def test_ranges_hold_whole_leaves():
    sizes = np.random.default_rng(0).integers(0, 9, 50)
    ranges = leaf_ranges(sizes, 20)
    edges = [int(each.first[0]) for each in ranges] + [50]
    assert edges[0] == 0
    assert all(a < b for a, b in pairwise(edges))
    assert all(sizes[a:b].sum() <= 20 for a, b in pairwise(edges))
