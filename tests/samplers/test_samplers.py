"""Samplers against the oracle's listing of the same tuples, with ties, groups and bad input."""

import numpy as np
import oracle
import pytest
from scipy import stats
from tables import EPSILON, SAMPLERS, draw_positions

from multiobs import samplers
from multiobs.samplers import (
    Adjacent,
    Disjoint,
    Improved,
    Naive,
    Nearby,
    Nearest,
    Replicates,
    SlidingWindow,
    column_scales,
    paper_epsilon,
)

PRODUCTS = [(name, d) for name, case in SAMPLERS.items() for d in case.columns]


def build(case, X, m, groups=None, seed=0):
    return case.make().build(X, m, np.random.default_rng(seed), groups).listed()


def as_listed(part):
    reps = [None] * part.count() if part.representative is None else part.representative.tolist()
    return list(zip(map(tuple, part.members.tolist()), reps, strict=True))


@pytest.mark.parametrize("grouped", [False, True])
@pytest.mark.parametrize("m", [1, 2, 3, 5])
@pytest.mark.parametrize(("name", "d"), PRODUCTS)
def test_tuples_are_the_oracles(name, d, m, grouped):
    case = SAMPLERS[name]
    for seed in range(6):
        rng = np.random.default_rng(seed)
        n = int(rng.integers(3, 18)) if m == 5 else int(rng.integers(m, 28))
        if name == "naive(2)":
            n, grouped_now = max(n, 2 * (m + 1)), False  # the asked size must be possible
        else:
            grouped_now = grouped
        X = draw_positions(rng, n, d, case.ties)
        groups = rng.integers(0, 3, n) if grouped_now else None
        part = build(case, X, m, groups)
        listed = case.listed(X.tolist(), m, None if groups is None else groups.tolist())
        assert oracle.as_multiset(as_listed(part)) == oracle.as_multiset(listed)
        assert part.n_rows == n
        assert part.weight is None


@pytest.mark.parametrize("m", [2, 3])
@pytest.mark.parametrize("name", [name for name, case in SAMPLERS.items() if case.once])
def test_each_label_is_used_at_most_once(name, m):
    for seed in range(5):
        rng = np.random.default_rng(seed)
        X = draw_positions(rng, 40, 1)
        part = build(SAMPLERS[name], X, m)
        use = np.bincount(part.members.ravel(), minlength=40)
        assert part.count() > 0
        assert use.max() <= 1
        if name in ("naive", "naive(2)", "improved, other labels"):
            # a representative gives its x and not its label
            assert use[part.representative].max() == 0


@pytest.mark.parametrize("m", [1, 2, 3, 5])
def test_label_use_of_the_samplers_that_reuse(m):
    rng = np.random.default_rng(1)
    n = 31
    x = rng.random(n)
    place = np.empty(n, dtype=int)
    place[np.argsort(x, kind="stable")] = np.arange(n)
    sliding = SlidingWindow().build(x[:, None], m, rng).listed()
    assert sliding.count() == n - m + 1
    use = np.bincount(sliding.members.ravel(), minlength=n)
    # inner labels m times, the i-th from either end i times
    np.testing.assert_array_equal(use, np.minimum(np.minimum(place + 1, n - place), m))
    blocks = Disjoint().build(x[:, None], m, rng)
    assert blocks.count() == n // m
    assert np.bincount(blocks.members.ravel(), minlength=n).sum() == (n // m) * m
    nearby = Nearby(0.3).build(x[:, None], m, rng)
    listed = oracle.nearby(x[:, None].tolist(), m, 0.3)
    found = np.bincount(nearby.listed().members.ravel(), minlength=n)
    assert found.tolist() == oracle.label_use(listed, n)


def test_sliding_is_the_narrowest_nearby():
    x = np.arange(20.0)[:, None]
    rng = np.random.default_rng(0)
    for m in (2, 3):
        one = Nearby(float(m - 1)).build(x, m, rng).listed().members
        assert one.tolist() == SlidingWindow().build(x, m, rng).listed().members.tolist()


def test_nearby_holds_every_subset_of_small_diameter():
    rng = np.random.default_rng(2)
    X = draw_positions(rng, 20, 1)
    members = Nearby(EPSILON).build(X, 3, rng).listed().members
    assert np.ptp(X[members][:, :, 0], axis=1).max() <= EPSILON
    anchors = members[:, 0]
    assert np.all(X[anchors, 0] <= X[members][:, :, 0].min(axis=1))  # leftmost


def test_improved_matches_within_epsilon_and_grows_with_it():
    rng = np.random.default_rng(0)
    X = rng.random((300, 1))
    sizes = []
    for epsilon in (0.01, 0.03, 0.3):
        part = Improved(epsilon, shuffle=False).build(X, 2, rng)
        gap = np.abs(X[part.members[:, 1], 0] - X[part.members[:, 0], 0])
        assert gap.max() <= epsilon
        assert part.members[:, 0].tolist() == part.representative.tolist()
        assert part.representative.tolist() == list(range(part.count()))
        sizes.append(part.count())
    assert sizes[0] < sizes[1] < sizes[2] <= 150


@pytest.mark.parametrize("own", [True, False])
@pytest.mark.parametrize("d", [1, 2])
def test_improved_with_a_given_size_completes_its_matching(d, own):
    rng = np.random.default_rng(4)
    X = rng.random((90, d))
    part = Improved(0.02, n_metasamples=15, own_label=own, shuffle=False).build(X, 3, rng)
    assert part.members.shape == (15, 3)
    assert np.bincount(part.members.ravel()).max() == 1
    batches = 2 if own else 3
    per = (90 - 15) // batches
    for b in range(batches):
        chosen = part.members[:, b + own]
        assert np.all((chosen >= 15 + b * per) & (chosen < 15 + (b + 1) * per))
        points, pool = X[:15].tolist(), X[15 + b * per : 15 + (b + 1) * per].tolist()
        within = np.linalg.norm(X[:15] - X[chosen], axis=1) <= 0.02
        assert within.sum() >= oracle.matching_size(points, pool, 0.02)


def test_improved_in_two_columns_is_perfect():
    rng = np.random.default_rng(6)
    X = rng.random((200, 2))
    part = Improved(0.15).build(X, 2, rng)
    assert part.count() > 20
    gap = np.linalg.norm(X[part.members[:, 0]] - X[part.members[:, 1]], axis=1)
    assert gap.max() <= 0.15


def test_shuffling_is_seeded_and_deals_all_rows():
    X = np.sort(np.random.default_rng(0).random((60, 1)), axis=0)
    for sampler in (Naive(5), Improved(0.3)):
        one, two, other = (
            sampler.build(X, 2, np.random.default_rng(seed)).members for seed in (1, 1, 2)
        )
        np.testing.assert_array_equal(one, two)
        assert one.shape != other.shape or not np.array_equal(one, other)


def test_representatives_of_naive_are_a_random_sample_when_shuffled():
    X = np.sort(np.random.default_rng(0).random((2000, 1)), axis=0)
    part = Naive(100).build(X, 2, np.random.default_rng(3))
    assert stats.kstest(X[part.representative, 0], "uniform").pvalue > 0.01


def test_groups_are_never_crossed():
    rng = np.random.default_rng(7)
    X, groups = rng.random((60, 1)), rng.integers(0, 4, 60)
    for name, case in SAMPLERS.items():
        if case.columns == (2,):
            continue
        members = build(case, X, 2, groups).members
        assert members.size or name == "replicates"
        assert np.all(groups[members[:, 0]] == groups[members[:, 1]])


# ---------------------------------------------------------------- widths and scales


def test_the_papers_epsilon_is_in_the_units_of_x():
    rng = np.random.default_rng(0)
    n = 4000
    x = rng.random((n, 1))
    paper = 1 / (2 * np.sqrt(n))
    assert paper_epsilon(x) == pytest.approx(paper, rel=0.1)
    assert paper_epsilon(86_400e9 * x + 1.7e18) == pytest.approx(86_400e9 * paper, rel=0.1)
    outlier = np.vstack([x, [[1e9]]])
    assert paper_epsilon(outlier) == pytest.approx(paper, rel=0.1)
    assert paper_epsilon(np.zeros((50, 1))) == 0.0
    assert paper_epsilon(np.array([[3.0]])) == 0.0
    assert paper_epsilon(np.array([[1.0], [3.0]])) > 0


def test_paper_and_auto_take_the_same_width_on_their_own():
    x = np.random.default_rng(0).random((300, 1))
    rng = np.random.default_rng(0)
    paper = Nearby("paper").build(x, 2, rng)
    assert paper.count() == Nearby("auto").build(x, 2, rng).count()
    assert paper.count() == Nearby(paper_epsilon(x)).build(x, 2, rng).count()


def test_distances_do_not_depend_on_the_units_of_columns():
    rng = np.random.default_rng(3)
    X = rng.normal(size=(50, 3))
    units = np.array([1.0, 1024.0, 2.0**-20])
    for sampler in (Nearest(4), Nearby("paper")):
        here, there = (sampler.build(Z, 2, rng).listed().members for Z in (X, X * units))
        np.testing.assert_array_equal(here, there)
    assert column_scales(X, "none").tolist() == [1.0, 1.0, 1.0]
    assert column_scales(X, [1.0, 2.0, 3.0]).tolist() == [1.0, 2.0, 3.0]
    flat = np.column_stack([np.zeros(50), X[:, 0], (np.arange(50) == 7).astype(float)])
    scales = column_scales(flat, "robust")
    assert scales[0] == 1.0
    assert scales[2] == pytest.approx(flat[:, 2].std())


# ---------------------------------------------------------------- awkward input


def test_one_row_and_fewer_rows_than_m():
    rng = np.random.default_rng(0)
    for d in (1, 2):
        for n in (1, 2):
            X = np.arange(float(n * d)).reshape(n, d)
            for name, case in SAMPLERS.items():
                if d not in case.columns or name == "naive(2)":
                    continue
                assert case.make().build(X, 3, rng).count() == 0


def test_constant_x_puts_all_rows_together():
    rng = np.random.default_rng(0)
    X = np.full((7, 1), 3.5)
    for sampler in (Nearby("paper"), Nearby(0.0), Replicates()):
        assert sampler.build(X, 2, rng).count() == 21
    assert Nearest(2).build(X, 2, rng).count() == 42  # every ordered pair: all are ties
    assert Improved(0.1).build(X, 2, rng).count() == 3


def test_adjacent_rows_do_not_depend_on_the_order_of_ties():
    rng = np.random.default_rng(3)
    x = rng.integers(0, 12, size=(60, 1)).astype(float)
    x[40:] = 20.0  # a run longer than the window keeps to itself
    shuffled = rng.permutation(60)

    def pairs(X, names):
        members = Adjacent(4).build(X, 2, rng).listed().members
        return {frozenset((names[i], names[j])) for i, j in members.tolist()}

    assert pairs(x, np.arange(60)) == pairs(x[shuffled], shuffled)
    alone = [pair for pair in pairs(x, np.arange(60)) if max(pair) >= 40 > min(pair)]
    reached = {min(pair) for pair in alone}
    assert reached <= set(np.flatnonzero(x[:, 0] >= np.sort(x[:40, 0])[-8]).tolist())
    outlier = np.append(np.arange(10.0), 1e6)[:, None]
    assert {10} < {i for pair in pairs(outlier, np.arange(11)) for i in pair}


def test_neighbours_do_not_depend_on_the_order_of_the_rows():
    rng = np.random.default_rng(5)
    X = rng.integers(0, 5, (60, 2)) / 4
    order = rng.permutation(60)
    here = Nearest(4, scale="none").build(X, 3, rng).listed().members
    there = Nearest(4, scale="none").build(X[order], 3, rng).listed().members
    back = order[there]

    def key(rows):
        return sorted((row[0], *sorted(row[1:])) for row in rows.tolist())

    assert key(here) == key(back)


@pytest.mark.parametrize("sampler", [SlidingWindow(), Disjoint(), Adjacent()])
def test_one_column_samplers_name_nearest(sampler):
    with pytest.raises(ValueError, match="needs one column of x, got 2: use Nearest"):
        sampler.build(np.zeros((5, 2)), 2, np.random.default_rng(0))


BAD = [
    (lambda: Adjacent(0), ValueError, "n_rows must be at least 1, got 0"),
    (lambda: Nearby(-0.1), ValueError, "epsilon must be nonnegative, got -0.1"),
    (lambda: Nearby(np.nan), ValueError, "epsilon must be finite, got nan"),
    (lambda: Nearby("wide"), ValueError, "epsilon must be one of 'paper', 'auto', got 'wide'"),
    (lambda: Improved(0.0), ValueError, "epsilon must be positive, got 0.0"),
    (lambda: Improved(-1), ValueError, "epsilon must be positive, got -1"),
    (lambda: Improved(0.1, 0), ValueError, "n_metasamples must be at least 1, got 0"),
    (lambda: Naive(0), ValueError, "n_metasamples must be at least 1, got 0"),
    (lambda: Naive(2.5), TypeError, "n_metasamples must be an integer, got 2.5"),
    (lambda: Nearest(0), ValueError, "n_neighbors must be at least 1, got 0"),
    (lambda: samplers.resolve("slidign"), ValueError, "sampler must be one of 'auto', 'naive'"),
    (lambda: samplers.resolve(2), TypeError, "a name or a Sampler, got 2"),
]


@pytest.mark.parametrize(("make", "error", "message"), BAD)
def test_bad_parameters_are_refused(make, error, message):
    with pytest.raises(error, match=message):
        make()


def test_impossible_sizes_are_refused_with_the_largest_possible():
    X, rng = np.random.default_rng(0).random((20, 1)), np.random.default_rng(0)
    with pytest.raises(ValueError, match="n_metasamples must be at most 6 for 20 rows and 2"):
        Naive(7).build(X, 2, rng)
    with pytest.raises(ValueError, match="n_metasamples must be at most 10 for 20 rows and 2"):
        Improved(0.1, 11).build(X, 2, rng)
    with pytest.raises(ValueError, match=r"n_neighbors must be at least 3 for 4 obs.*, got 2"):
        Nearest(2).build(X, 4, rng)
    with pytest.raises(ValueError, match="scale must be positive numbers"):
        Nearest(2, scale=[1.0, -1.0]).build(np.zeros((5, 2)), 2, rng)


def test_names_are_the_default_objects():
    for name, sampler in samplers.SAMPLERS.items():
        assert samplers.resolve(name) == sampler
        assert eval(repr(sampler), vars(samplers)) == sampler  # a repr that builds it again
