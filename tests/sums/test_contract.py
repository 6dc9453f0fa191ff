"""Every fast sum equals the oracle's, in exact arithmetic, whatever the data look like."""

from fractions import Fraction
from itertools import combinations

import numpy as np
import oracle
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from native_switch import use_native

from multiobs import contract, plan
from multiobs.samplers import Nearby, Nearest, Replicates, SlidingWindow
from multiobs.statistics.kernels import (
    Equality,
    Kernel,
    Monomials,
    Opaque,
    OrderStatistic,
    Square,
    constant,
    moment,
)
from multiobs.sums.contraction import LIMIT, Lifted, contract_all
from multiobs.tuples import Graph, Tuples, Windows, sorted_windows

VARIANCE = moment(2) - moment(1) * moment(1)
THIRD = moment(3) - moment(2) * moment(1) * 3.0 + moment(1) * moment(1) * moment(1) * 2.0

# name: the kernel, the oracle's, highest power of the features that has a fast sum
KERNELS = {
    "one": (constant(1.0, 2), oracle.one, 4),
    "one of three": (constant(1.0, 3), oracle.one, 4),
    "mean of one": (moment(1), oracle.mean, 4),
    "mean of two": (moment(1).with_arity(2), oracle.first_of_two, 4),
    "product": (moment(1) * moment(1), oracle.product_of_two, 4),
    "variance": (VARIANCE, oracle.variance, 4),
    "variance of three": (
        VARIANCE.with_arity(3),
        oracle.symmetric(lambda a, b, c: (a - b) ** 2 / 2),
        3,
    ),
    "covariance": (moment(1, 1) - moment(1, 0) * moment(0, 1), oracle.covariance, 4),
    "third moment": (THIRD, oracle.third_moment, 2),
    "fourth moment": (
        moment(4)
        - moment(3) * moment(1) * 4.0
        + moment(2) * moment(1) * moment(1) * 6.0
        - moment(1) * moment(1) * moment(1) * moment(1) * 3.0,
        oracle.fourth_moment,
        2,
    ),
    "variance squared": (VARIANCE * VARIANCE, oracle.variance_squared, 2),
    "minimum of two": (OrderStatistic([1, 0]), oracle.minimum, 1),
    "minimum of four": (OrderStatistic([1, 0, 0, 0]), oracle.minimum, 1),
    "maximum of three": (OrderStatistic([0, 0, 1]), oracle.maximum, 1),
    "difference": (OrderStatistic([-1, 1]), oracle.difference, 1),
    "l-moment 3": (OrderStatistic([1 / 3, -2 / 3, 1 / 3]), oracle.l_moment, 1),
    "l-moment 4": (OrderStatistic([-0.25, 0.75, -0.75, 0.25]), oracle.l_moment, 1),
    "equal": (Equality(2), oracle.equal, 4),
    "opaque": (Opaque(lambda Y: np.abs(Y[:, 0] - Y[:, 1]), 2), oracle.difference, 2),
}


def branch_of(kernel: Kernel) -> str:
    """The fast branch, forced so that small cases do not fall back on the list."""
    if isinstance(kernel, Monomials):
        return "running sums"
    if isinstance(kernel, OrderStatistic):
        return "rank tree"
    return "categories" if isinstance(kernel, Equality) else "list"


def bound(kernel):
    """Upper bound of the absolute terms of a kernel: a power of the range, or of the size, of y."""
    if isinstance(kernel, Equality):
        return lambda *ys: 1
    degree, invariant = 1, isinstance(kernel, Opaque)
    if isinstance(kernel, Monomials):
        degree = max((sum(sum(e) for e in term) for term in kernel.terms), default=0)
    if isinstance(kernel, Monomials | OrderStatistic):
        invariant = kernel.shift_invariant

    def value(*ys):
        columns = list(zip(*ys, strict=True)) if isinstance(ys[0], list) else [ys]
        sizes = [max(c) - min(c) if invariant else max(abs(v) for v in c) for c in columns]
        return max(sizes) ** degree

    return value


def agree(found, expected, size, tolerance=1e-9):
    """Within 1e-9 of the sum of the absolute values of all terms."""
    for entry, value in expected.items():
        error = abs(Fraction(float(found[entry])) - value)
        assert error <= tolerance * size[entry], (entry, float(value), float(found[entry]))


def check(kernel, reference, top, tuples, listed, Z, y, weight, tolerance=1e-9):
    """Compare all powers of the features, by the fast branch and by the list."""
    Z_exact, y_exact = oracle.exact(Z.tolist()), oracle.exact(y.tolist())
    w_exact = None if weight is None else oracle.exact(weight.tolist())
    terms = oracle.terms(listed, reference, Z_exact, y_exact, w_exact)
    Z_size = [[abs(v) for v in row] for row in Z_exact]
    sizes = oracle.terms(listed, bound(kernel), Z_size, y_exact, w_exact)
    for k in range(top + 1):
        expected = oracle.power_sum(terms, Z.shape[1], k)
        size = oracle.power_sum(sizes, Z.shape[1], k)
        for branch in {branch_of(kernel), "list"}:
            found = contract(tuples, kernel, Z, y, k, weight=weight, branch=branch)
            assert found.shape == (Z.shape[1],) * k
            agree(found, expected, size, tolerance)


# ---------------------------------------------------------------- hypothesis: rows of all kinds

few = settings(max_examples=max(settings.default.max_examples // 5, 20))
tied = st.integers(-3, 3).map(float)
anything = st.integers(-6400, 6400).map(lambda v: v / 64)
OFFSETS = st.sampled_from([0.0, 0.0, 1e8, -1e8])


@st.composite
def rows(draw, columns=1):
    """Positions with ties and gaps, labels with ties, outliers and offsets, weights, groups."""
    n = draw(st.integers(1, 8))
    x = draw(st.lists(tied | anything, min_size=n, max_size=n))
    label = tied | anything
    y = np.array(draw(st.lists(label, min_size=n * columns, max_size=n * columns)))
    y = y.reshape(n, columns)
    if draw(st.booleans()):
        y[draw(st.integers(0, n - 1))] *= 1e5  # an outlier
    if draw(st.booleans()):
        y[np.array(x) > 0] += 1e6  # a jump, at a gap or inside a window
    y = y + draw(OFFSETS)
    x = np.array(x) + draw(OFFSETS)
    weight = groups = None
    if draw(st.booleans()):
        weight = np.array(
            draw(st.lists(st.sampled_from([0.25, 0.5, 1.0, 3.0, 7.25]), min_size=n, max_size=n))
        )
    if draw(st.booleans()):
        groups = np.array(draw(st.lists(st.integers(0, 2), min_size=n, max_size=n)))
    native = draw(st.sampled_from(["0", "1"]))
    return x, y[:, 0] if columns == 1 else y, weight, groups, native


def features(x):
    """Constant, x from its middle, and something affine in more columns."""
    middle = (x.max() + x.min()) / 2
    return np.column_stack([np.ones(x.size), x - middle])


@pytest.mark.parametrize("name", KERNELS)
@few
@given(data=st.data(), epsilon=st.sampled_from([0.0, 0.5, 1.0, 2.0, 50.0, 1e9]))
def test_window_sums_equal_the_oracle(name, data, epsilon):
    kernel, reference, top = KERNELS[name]
    x, y, weight, groups, native = data.draw(rows(kernel.n_columns))
    m = kernel.arity
    tuples = sorted_windows(x, epsilon, m, groups)
    listed = oracle.nearby(
        [[v] for v in x.tolist()], m, epsilon, None if groups is None else groups.tolist()
    )
    with pytest.MonkeyPatch.context() as patch:
        use_native(patch, native)
        check(kernel, reference, top, tuples, listed, features(x), y, weight)


@pytest.mark.parametrize("name", KERNELS)
@few
@given(data=st.data(), k=st.integers(1, 8))
def test_graph_sums_equal_the_oracle(name, data, k):
    kernel, reference, top = KERNELS[name]
    x, y, weight, groups, native = data.draw(rows(kernel.n_columns))
    m = kernel.arity
    if k < m - 1:
        k = m - 1
    X = np.round(np.column_stack([x, x[::-1]]))  # whole numbers: distances are exact
    tuples = Nearest(k, scale="none").build(X, m, np.random.default_rng(0), groups)
    listed = oracle.nearest(
        oracle.exact(X.tolist()), m, k, None if groups is None else groups.tolist()
    )
    Z = np.column_stack([np.ones(x.size), X - X.mean(axis=0)])
    with pytest.MonkeyPatch.context() as patch:
        use_native(patch, native)
        check(kernel, reference, min(top, 2), tuples, listed, Z, y, weight)


@few
@given(rows(), st.integers(1, 3))
def test_every_branch_of_a_whole_loss_agrees(case, m):
    x, y, weight, groups, _ = case
    tuples = sorted_windows(x, 2.0, m, groups)
    kernels = [None, moment(1).with_arity(m), None, constant(1.0, m)]
    fast = contract_all(tuples, kernels, features(x), y, weight=weight, branch="running sums")
    slow = contract_all(tuples, kernels, features(x), y, weight=weight, branch="list")
    assert fast[0] is None
    assert fast[2] is None
    for k in (1, 3):
        sizes = contract_all(
            tuples, kernels, np.abs(features(x)), np.abs(y), weight=weight, branch="list"
        )
        assert np.all(np.abs(fast[k] - slow[k]) <= 1e-9 * sizes[k])


# ---------------------------------------------------------------- sizes that fill several chunks


@pytest.mark.parametrize("name", ["variance", "third moment", "l-moment 3", "equal", "product"])
@pytest.mark.parametrize("native", ["0", "1"])
def test_many_windows(name, native, monkeypatch):
    use_native(monkeypatch, native)
    kernel, reference, _ = KERNELS[name]
    rng = np.random.default_rng(5)
    n = 2600  # running sums are cut into runs of some 2000 anchors
    x = np.sort(np.round(rng.random(n), 4))[rng.permutation(n)]
    y = np.round(np.cumsum(rng.normal(size=n)), 1)
    epsilon = 1e-3
    tuples = sorted_windows(x, epsilon, kernel.arity, None)
    line = sorted(range(n), key=lambda i: x[i])
    listed = []
    for a, i in enumerate(line):
        near = []
        for j in line[a + 1 :]:
            if x[j] - x[i] > epsilon:
                break
            near.append(j)
        listed += [((i, *rest), None) for rest in combinations(near, kernel.arity - 1)]
    assert tuples.count() == len(listed) > n
    check(kernel, reference, 1, tuples, listed, features(x), y, None, 1e-12)


@pytest.mark.parametrize("name", ["variance", "third moment", "minimum of two", "equal"])
def test_rows_of_weight_zero_are_absent(name):
    kernel = KERNELS[name][0]
    rng = np.random.default_rng(4)
    n = 50
    x, y = rng.random(n), rng.integers(0, 4, n).astype(float)
    weight = rng.integers(0, 3, n).astype(float)
    some = weight > 0
    sums = [
        contract(
            sorted_windows(x[rows], 0.2, kernel.arity, None),
            kernel,
            np.column_stack([np.ones(n), x])[rows],
            y[rows],
            1,
            weight=weight[rows],
            branch=branch_of(kernel),
        )
        for rows in (np.full(n, True), some)
    ]
    np.testing.assert_allclose(sums[0], sums[1], rtol=1e-11)


def test_windows_that_hold_everything():
    n = 60
    rng = np.random.default_rng(3)
    y = rng.normal(size=n)
    tuples = Windows(np.arange(n), np.full(n, n), arity=2)
    assert tuples.count() == n * (n - 1) // 2
    found = contract(tuples, VARIANCE, np.ones((n, 1)), y, 0, branch="running sums")
    assert found == pytest.approx(y.var(ddof=1) * n * (n - 1) / 2, rel=1e-12)


def test_no_tuple_gives_zero():
    lonely = Windows(np.arange(3), np.arange(1, 4), arity=2)
    for kernel in (VARIANCE, OrderStatistic([1, 0]), Equality(2)):
        for branch in (branch_of(kernel), "list"):
            found = contract(lonely, kernel, np.ones((3, 2)), np.arange(3.0), 1, branch=branch)
            assert found.tolist() == [0.0, 0.0]


# ---------------------------------------------------------------- partitions, listings, limits


def test_parts_of_the_tuples_add_up_to_the_whole():
    rng = np.random.default_rng(8)
    n = 40
    x, y = rng.random(n), rng.normal(size=n)
    Z = features(x)
    whole = sorted_windows(x, 0.2, 3, None)
    listed = whole.listed()
    for _ in range(10):
        cut = rng.integers(0, 4, listed.count())
        for kernel, k in ((THIRD, 2), (OrderStatistic([1, 0, 0]), 1), (constant(1.0, 3), 4)):
            parts = [
                contract(Tuples(listed.members[cut == c], n), kernel, Z, y, k) for c in range(4)
            ]
            together = contract(whole, kernel, Z, y, k, branch=branch_of(kernel))
            np.testing.assert_allclose(np.sum(parts, axis=0), together, atol=1e-10)


def test_listed_tuples_keep_representatives_and_weights():
    part = Tuples(np.array([[0, 1], [2, 1]]), 3, np.array([2, 0]), np.array([2.0, 5.0]))
    Z, y = np.array([[1.0, 3.0], [1.0, 4.0], [1.0, 7.0]]), np.array([1.0, 3.0, 9.0])
    listed = [((0, 1), 2), ((2, 1), 0)]
    for k in range(4):
        parts = [
            oracle.contract([each], oracle.variance, Z.tolist(), y.tolist(), k) for each in listed
        ]
        found = contract(part, VARIANCE, Z, y, k)
        for entry in parts[0]:
            assert found[entry] == pytest.approx(2 * parts[0][entry] + 5 * parts[1][entry])


def test_features_that_are_not_affine_use_the_representative():
    rng = np.random.default_rng(2)
    X, y = rng.random((12, 1)), rng.normal(size=12)
    tuples = SlidingWindow().build(X, 2, rng)
    found = contract(tuples, VARIANCE, Lifted(X, lambda x: x**3), y, 1)
    expected = sum(
        (y[a] - y[b]) ** 2 / 2 * ((X[a, 0] + X[b, 0]) / 2) ** 3
        for (a, b), _ in oracle.sliding(X.tolist(), 2)
    )
    assert found[0] == pytest.approx(expected)
    assert plan(tuples, VARIANCE, affine=False).branch == "list"


def test_enumeration_stops_at_its_limit_with_the_count():
    n = 300
    wide = Windows(np.arange(n), np.full(n, n), arity=2)
    opaque = KERNELS["opaque"][0]
    y = np.arange(float(n))
    with pytest.raises(ValueError, match=r"below 1e\+03 tuples, got 4.485e\+04.*max_tuples"):
        contract(wide, opaque, np.ones((n, 1)), y, 0, limit=1000)
    assert contract(wide, opaque, np.ones((n, 1)), y, 0, limit=44_850) == pytest.approx(
        contract(wide, OrderStatistic([-1, 1]), np.ones((n, 1)), y, 0, branch="rank tree")
    )
    assert LIMIT > 1_000_000


def test_incomplete_sums_are_unbiased_and_seeded():
    rng = np.random.default_rng(11)
    n = 30
    y = rng.normal(size=n)
    Z = np.column_stack([np.ones(n), rng.random(n)])
    for whole in (
        sorted_windows(rng.random(n), 0.5, 2, None),
        Nearest(6).build(rng.random((n, 2)), 2, rng),
        sorted_windows(rng.random(n), 0.5, 2, None).listed(),
    ):
        truth = contract(whole, VARIANCE, Z, y, 1)
        draws = np.array(
            [
                contract(whole.sample(60, np.random.default_rng(s)), VARIANCE, Z, y, 1)
                for s in range(300)
            ]
        )
        error = draws.std(axis=0) / np.sqrt(len(draws))
        assert np.all(np.abs(draws.mean(axis=0) - truth) < 4 * error)
        again = whole.sample(60, np.random.default_rng(0))
        assert again.count() == 60
        np.testing.assert_array_equal(
            again.members, whole.sample(60, np.random.default_rng(0)).members
        )


# ---------------------------------------------------------------- plan


def test_plan_says_what_it_chose():
    n = 1000
    wide = Windows(np.arange(n), np.full(n, n), arity=2)
    graph = Nearest(40).build(np.random.default_rng(0).random((n, 2)), 2, np.random.default_rng(0))
    assert isinstance(graph, Graph)
    for tuples in (wide, graph):
        assert plan(tuples, VARIANCE, 4).branch == "running sums"
        assert plan(tuples, OrderStatistic([1, 0]), 1).branch == "rank tree"
        assert plan(tuples, OrderStatistic([1, 0]), 2).branch == "list"
        assert plan(tuples, Equality(2), 3).branch == "categories"
        assert plan(tuples, Square(VARIANCE), 0).branch == "list"
        assert plan(tuples, KERNELS["opaque"][0], 1).branch == "list"
        assert plan(tuples, VARIANCE).tuples == tuples.count()
    assert plan(wide.listed(), VARIANCE).branch == "list"
    few_tuples = Replicates().build(np.arange(9.0)[:, None], 2, np.random.default_rng(0))
    assert plan(few_tuples, VARIANCE).branch == "list"
    assert "running sums" in str(plan(wide, VARIANCE))


def test_the_plan_does_not_change_the_sum():
    rng = np.random.default_rng(1)
    n = 400
    x, y = rng.random(n), rng.integers(0, 4, n).astype(float)
    tuples = Nearby(0.5).build(x[:, None], 2, rng)
    for kernel in (VARIANCE, OrderStatistic([1, 0]), Equality(2)):
        chosen = contract(tuples, kernel, features(x), y, 1)
        assert plan(tuples, kernel).branch == branch_of(kernel)
        listed = contract(tuples, kernel, features(x), y, 1, branch="list")
        np.testing.assert_allclose(chosen, listed, rtol=1e-11, atol=1e-9)
