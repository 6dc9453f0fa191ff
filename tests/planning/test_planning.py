"""Which rows to label, how many, and what becomes of the labels."""

import itertools
import json
import math
import os
import time

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial import KDTree

from multiobs import bounds, planning, statistics
from multiobs.experiments import SCENARIOS
from multiobs.planning import LabelPlan, Problem, store
from multiobs.planning.pool import assign

# Assigning candidates to anchors


def most_complete(anchors, candidates, m, epsilon):
    """Largest number of anchors with m candidates of their own, by trying everything."""
    near = [
        [j for j, c in enumerate(candidates) if np.linalg.norm(a - c) <= epsilon] for a in anchors
    ]
    best = 0

    def search(i, taken, count):
        nonlocal best
        best = max(best, count)
        if i == len(anchors) or count + len(anchors) - i <= best:
            return
        free = [j for j in near[i] if j not in taken]
        for chosen in itertools.combinations(free, m):
            search(i + 1, taken | set(chosen), count + 1)
        search(i + 1, taken, count)

    search(0, frozenset(), 0)
    return best


def check_assignment(members, anchors, candidates, epsilon):
    full = members[:, 0] >= 0
    assert np.all((members >= 0) == full[:, None])
    used = members[full]
    assert np.unique(used).size == used.size
    gaps = np.linalg.norm(candidates[used] - anchors[full][:, None, :], axis=2)
    assert np.all(gaps <= epsilon)
    return int(full.sum())


grid_points = st.lists(st.integers(0, 12), min_size=1, max_size=6)


@given(grid_points, st.lists(st.integers(0, 12), min_size=1, max_size=9), st.integers(1, 3))
def test_assignment_on_the_line_is_maximum(a, c, m):
    anchors, candidates = np.array(a, float)[:, None], np.array(c, float)[:, None]
    for epsilon in (0.5, 1.0, 3.0):
        found = check_assignment(
            assign(anchors, candidates, m, epsilon), anchors, candidates, epsilon
        )
        assert found == most_complete(anchors, candidates, m, epsilon)


@given(st.integers(0, 10_000), st.integers(1, 2))
def test_assignment_in_the_plane(seed, m):
    rng = np.random.default_rng(seed)
    anchors, candidates = rng.random((5, 2)), rng.random((10, 2))
    for epsilon in (0.2, 0.4, 0.7):
        found = check_assignment(
            assign(anchors, candidates, m, epsilon), anchors, candidates, epsilon
        )
        best = most_complete(anchors, candidates, m, epsilon)
        assert found <= best
        if m == 1 or best == len(anchors):
            assert found == best


def test_assignment_prefers_the_nearest_when_there_is_room():
    rng = np.random.default_rng(0)
    for d in (1, 2):
        anchors = rng.random((20, d))
        candidates = rng.random((20_000, d))
        members = assign(anchors, candidates, 2, 0.5)
        gaps = np.linalg.norm(candidates[members] - anchors[:, None, :], axis=2).max(axis=1)
        ideal = KDTree(candidates).query(anchors, k=2)[0][:, 1]
        assert np.median(gaps / ideal) < 1.5


def test_crowded_anchors_reach_beyond_their_nearest():
    # all anchors at one place: the nearest candidates are everybody's
    anchors = np.zeros((50, 2))
    candidates = np.random.default_rng(0).uniform(-1, 1, size=(400, 2))
    members = assign(anchors, candidates, 3, 1.2)
    assert check_assignment(members, anchors, candidates, 1.2) == 50


# LabelPlan


def make_plan(n=40, rows=4000, seed=0, statistic="variance", **options):
    rng = np.random.default_rng(seed)
    X = rng.random((rows, 1))
    y = np.sin(9 * X[:, 0]) + (1 + X[:, 0]) * rng.standard_normal(rows)
    return X, y, LabelPlan.from_pool(X, statistic, n_metasamples=n, rng=rng, **options)


@pytest.mark.parametrize("algorithm", ["improved", "naive"])
@pytest.mark.parametrize("name", ["mean", "variance", "minvar"])
@pytest.mark.parametrize("d", [1, 2])
def test_label_complexity_is_exactly_n_times_m(algorithm, name, d):
    rng = np.random.default_rng(1)
    X = rng.random((5000, d))
    what = statistics.minvar(3) if name == "minvar" else statistics.resolve(name)
    budget = 12 * what.arity + what.arity - 1  # not a multiple: the rest is not spent
    plan = LabelPlan.from_pool(X, what, budget=budget, algorithm=algorithm, rng=rng)
    assert plan.n_metasamples == 12
    assert plan.label_complexity == 12 * what.arity == np.unique(plan.queries).size
    assert np.intersect1d(plan.queries, plan.anchors).size == 0
    gaps = np.linalg.norm(X[plan.members] - X[plan.anchors][:, None, :], axis=2)
    assert gaps.max() <= 1 / math.sqrt(12)
    asked = np.concatenate([plan.ask(5) for _ in range(50)])
    assert sorted(asked.tolist()) == sorted(plan.queries.tolist())


def test_never_asks_twice_and_says_what_is_missing():
    _, y, plan = make_plan()
    rng = np.random.default_rng(5)
    asked: list[int] = []
    pending: list[int] = []
    while plan.missing.size:
        fresh = plan.ask(int(rng.integers(1, 9))).tolist()
        assert not set(fresh) & set(asked)
        asked += fresh
        pending += fresh
        rng.shuffle(pending)
        answered, pending = pending[: len(pending) // 2 + 1], pending[len(pending) // 2 + 1 :]
        plan.record(answered, y[answered])
        assert sorted(plan.outstanding.tolist()) == sorted(pending)
        assert plan.n_labelled == len(asked) - len(pending)
        assert plan.missing.size == plan.label_complexity - plan.n_labelled
    assert plan.ask().size == 0
    assert plan.n_complete == plan.n_metasamples
    np.testing.assert_array_equal(plan.labels, y[plan.members])


def test_labels_that_were_not_asked_for_are_not_asked_again():
    _, y, plan = make_plan()
    early = plan.queries[:7]
    plan.record(early, y[early])
    assert not set(plan.ask().tolist()) & set(early.tolist())


def test_nothing_is_taken_in_unless_all_is_in_order():
    _, _, plan = make_plan()
    a, b = plan.queries[:2].tolist()
    stranger = plan.anchors[0].item()
    plan.record([a], [1.0])
    for rows, labels, message in (
        ([b, stranger], [1.0, 2.0], f"rows must belong to the plan, got row {stranger}"),
        ([b, a], [1.0, 2.0], f"a row has one label, got another one for row {a}"),
        ([b, b], [1.0, 2.0], f"a row has one label, got another one for row {b}"),
        ([b], [math.nan], f"labels must be finite, got a non-finite one for row {b}"),
        ([b], [1.0, 2.0], "labels must have shape"),
        ([0.5], [1.0], "rows must be a list of row numbers"),
    ):
        with pytest.raises(ValueError, match=message):
            plan.record(rows, labels)
        assert plan.n_labelled == 1
    plan.record([a, b, b], [1.0, 3.0, 3.0])  # the same label again is no contradiction
    plan.record([], [])
    assert plan.n_labelled == 2


def test_interrupted_and_resumed_with_nothing_lost(tmp_path):
    _, y, whole = make_plan()
    whole.record(whole.queries, y[whole.queries])
    _, _, plan = make_plan()
    path = tmp_path / "plan.npz"
    plan.save(path)
    rng = np.random.default_rng(0)
    while True:
        plan = LabelPlan.load(path)  # as if the program had just been started again
        rows = plan.outstanding if plan.outstanding.size else plan.ask(13)
        if not rows.size:
            break
        answered = rng.permutation(rows)[: max(1, rows.size // 2)]
        plan.record(answered, y[answered])
        del plan
    assert plan.n_labelled == plan.label_complexity
    np.testing.assert_array_equal(plan.labels, whole.labels)
    np.testing.assert_array_equal(plan.fit().coef_, whole.fit().coef_)
    assert os.listdir(tmp_path) == ["plan.npz"]


def test_a_failed_write_leaves_the_old_file(tmp_path, monkeypatch):
    _, y, plan = make_plan()
    path = tmp_path / "plan.npz"
    plan.save(path)
    first = plan.ask(5)
    plan.record(first, y[first])

    def broken(*_):
        raise OSError("disk full")

    second = plan.ask(5)
    monkeypatch.setattr(store.os, "replace", broken)
    with pytest.raises(OSError, match="disk full"):
        plan.record(second, y[second])
    monkeypatch.undo()
    again = LabelPlan.load(path)
    assert again.n_labelled == 5
    assert sorted(again.outstanding.tolist()) == sorted(second.tolist())
    assert os.listdir(tmp_path) == ["plan.npz"]


def test_only_plain_arrays_are_saved(tmp_path):
    with pytest.raises(ValueError, match="must hold plain numbers or text, got objects in 'a'"):
        store.save_arrays(tmp_path / "a.npz", {"a": np.array([object()])})
    assert os.listdir(tmp_path) == []


def test_saved_statistics(tmp_path):
    path = tmp_path / "plan.npz"
    _, _, plan = make_plan(statistic=statistics.ucb(8.0))
    plan.save(path)
    assert LabelPlan.load(path).statistic.parameters["lam"] == 8.0
    own = statistics.mean_of(lambda Y: np.ptp(Y, axis=1), 3, name="spread")
    _, _, plan = make_plan(statistic=own)
    plan.save(path)
    with pytest.raises(ValueError, match="pass statistic=, got 'spread'"):
        LabelPlan.load(path)
    assert LabelPlan.load(path, statistic=own).arity == 3
    with pytest.raises(ValueError, match="needs a statistic of 3 observations"):
        LabelPlan.load(path, statistic=statistics.variance())
    np.savez(path, a=np.arange(3))
    with pytest.raises(ValueError, match="must be a saved LabelPlan"):
        LabelPlan.load(path)


def test_fit_at_any_time():
    _, y, plan = make_plan(n=600, rows=20_000)
    with pytest.raises(ValueError, match="a fit needs a metasample with all its 2 labels"):
        plan.fit()
    half = plan.ask(600)
    plan.record(half, y[half])
    x, labels = plan.metasamples()
    assert x.shape == (300, 1)
    # the same line by ordinary least squares on the pseudo-observations
    psi = (labels[:, 0] - labels[:, 1]) ** 2 / 2
    design = np.column_stack([np.ones(300), x[:, 0]])
    intercept, slope = np.linalg.lstsq(design, psi, rcond=None)[0]
    model = plan.fit()
    assert model.intercept_ == pytest.approx(intercept)
    assert model.coef_[0] == pytest.approx(slope)
    assert model.n_metasamples_ == 300
    rows, values = plan.labelled()
    assert rows.shape == (600, 1)
    assert values.shape == (600,)


def test_anchors_that_share_x_stay_apart():
    rng = np.random.default_rng(0)
    X = rng.integers(0, 3, size=3000).astype(float)
    plan = LabelPlan.from_pool(X, "variance", n_metasamples=50, epsilon=0.1, rng=rng)
    plan.record(plan.queries, rng.standard_normal(100))
    assert plan.fit().n_metasamples_ == 50


def test_two_columns_of_labels(tmp_path):
    rng = np.random.default_rng(0)
    X = rng.random(20_000)
    y = rng.multivariate_normal([0, 0], [[1.0, 0.6], [0.6, 1.0]], size=20_000)
    plan = LabelPlan.from_pool(X, "covariance", n_metasamples=2000, rng=rng)
    plan.save(tmp_path / "plan.npz")
    plan.record(plan.queries, y[plan.queries])
    fitted = LabelPlan.load(tmp_path / "plan.npz").fit()
    assert fitted.predict([[0.5]])[0] == pytest.approx(0.6, abs=0.15)


def test_shortfall():
    X = np.r_[np.zeros(50), np.linspace(1, 2, 30)]
    rng = np.random.default_rng(0)
    with pytest.raises(ValueError, match=r"every anchor must have 2 rows within epsilon"):
        LabelPlan.from_pool(X, "variance", n_metasamples=20, epsilon=1e-6, rng=rng)
    plan = LabelPlan.from_pool(
        X, "variance", n_metasamples=20, epsilon=1e-6, shortfall="fewer", rng=rng
    )
    assert 0 < plan.n_metasamples < 20
    assert plan.label_complexity == 2 * plan.n_metasamples


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({}, "exactly one of budget and n_metasamples"),
        ({"budget": 1}, "budget must cover one metasample of 2 labels, got 1"),
        ({"n_metasamples": 40}, "room for 33 metasamples of 2 labels"),
        ({"budget": 4, "epsilon": -1.0}, "epsilon must be positive, got -1.0"),
        ({"budget": 4, "scale": "std"}, "scale must be one of 'range', 'none', got 'std'"),
        ({"budget": 4, "algorithm": "x"}, "algorithm must be one of"),
    ],
)
def test_bad_requests(options, message):
    with pytest.raises(ValueError, match=message):
        LabelPlan.from_pool(np.arange(100.0), rng=np.random.default_rng(0), **options)


def test_pool_must_be_finite():
    with pytest.raises(ValueError, match="X must be finite"):
        LabelPlan.from_pool([0.0, math.nan], budget=2, rng=np.random.default_rng(0))


def test_same_seed_same_plan():
    first, second = make_plan(seed=3)[2], make_plan(seed=3)[2]
    np.testing.assert_array_equal(first.members, second.members)


def best_time(function, times=5):
    spent = []
    for _ in range(times):
        start = time.perf_counter()
        function()
        spent.append(time.perf_counter() - start)
    return min(spent)


@pytest.mark.slow
@pytest.mark.parametrize("d", [1, 2, 3])
def test_a_million_rows_in_three_times_the_tree(d):
    rng = np.random.default_rng(0)
    X = rng.random((10**6, d))

    def reference():
        if d == 1:
            np.argsort(X[:, 0])
        else:
            KDTree(X).query(X[: 10**4], k=3)

    def ours():
        plan = LabelPlan.from_pool(X, "variance", n_metasamples=10**4, epsilon=0.05, rng=rng)
        assert plan.label_complexity == 20_000

    assert best_time(ours) <= 3 * best_time(reference)


# Sizes and budgets


def test_sample_size_uses_the_theorems():
    problem = Problem("variance", d=2, K=0.5, y_range=(0.0, 1.0))
    found = planning.sample_size(0.05, problem, delta=0.05, C=2.0)
    L, B = problem.constants.L, problem.constants.B
    assert (L, B) == (1.0, 0.25)
    risk = bounds.excess_risk(
        found.n, 2, 0.5, L, B, problem.rademacher_constant / math.sqrt(found.n), 0.05
    )
    assert found.excess_risk == risk <= 0.05
    assert found.labels == 2 * found.n
    assert found.rows == found.n + bounds.improved_sample_size(found.n, 2, 2, 0.05, 2.0)
    assert found.epsilon == 1 / math.sqrt(found.n)
    assert planning.label_budget(0.05, problem) == found.labels


@pytest.mark.parametrize("theorem", ["slow", "fast", "replicates"])
def test_guarantee_inverts_sample_size(theorem):
    problem = Problem("gini_mean_difference", K=0.8)
    size = planning.sample_size(0.2, problem, theorem=theorem)
    again = planning.guarantee(problem, labels=size.labels, theorem=theorem)
    assert again == size
    assert planning.guarantee(problem, rows=size.rows, theorem=theorem).n == size.n
    less = planning.guarantee(problem, labels=size.labels - 2, theorem=theorem)
    assert less.excess_risk > 0.2 * (1 - 1e-9)


def test_rademacher_constant_of_the_class_of_a_problem():
    # lines with values in [0, 1/4]: the supremum is over the four extreme lines
    problem = Problem("variance")
    rng = np.random.default_rng(0)
    n = 400
    signs = rng.choice([-1.0, 1.0], size=(2000, n))
    x = rng.random((2000, n))
    constant, slope = signs.mean(axis=1), (signs * (2 * x - 1)).mean(axis=1)
    supremum = 0.125 * np.maximum(np.abs(constant), np.abs(slope))
    assert supremum.mean() <= problem.rademacher_constant / math.sqrt(n)


def test_problems_without_built_in_constants_say_so():
    with pytest.raises(ValueError, match=r"loss_constants must be given .* kurtosis"):
        planning.sample_size(0.1, Problem("kurtosis", r_range=(1.0, 5.0)))
    given = bounds.LossConstants(1.0, 1.0, 0.0)
    known = Problem("kurtosis", r_range=(1.0, 5.0), loss_constants=given)
    assert planning.sample_size(1.0, known).m == 4
    with pytest.raises(ValueError, match="needs a strongly convex risk"):
        planning.sample_size(1.0, known, theorem="fast")
    with pytest.raises(ValueError, match="exactly one of labels and rows"):
        planning.guarantee()
    with pytest.raises(ValueError, match="theorem must be one of"):
        planning.sample_size(0.1, theorem="medium")


@pytest.mark.parametrize(
    "name",
    ["mean", "variance", "gini_mean_difference", "minvar", "maxvar", "l_moment", "central_moment",
     "cumulant", "collision_probability", "kendall_tau", "ucb", "dispersion_index"],
)  # fmt: skip
def test_built_in_problems(name):
    problem = Problem(name, y_range=(1.0, 2.0))
    found = planning.sample_size(0.5, problem)
    assert found.n >= 1
    assert found.m == statistics.resolve(name).arity


# Replicates


@pytest.mark.parametrize("q", [2, 3, 8])
def test_variance_of_pooled_kernels(q):
    # the sample variance of q standard normal labels has variance 2/(q-1)
    assert planning.u_statistic_variance([0.5, 2.0], q) == pytest.approx(2 / (q - 1))


def test_variance_components_of_other_kernels():
    rng = np.random.default_rng(0)
    zeta = planning.variance_components("gini_mean_difference", rng=rng)
    labels = rng.standard_normal((20_000, 6))
    pairs = [np.abs(labels[:, i] - labels[:, j]) for i, j in itertools.combinations(range(6), 2)]
    measured = np.mean(pairs, axis=0).var()
    assert planning.u_statistic_variance(zeta, 6) == pytest.approx(measured, rel=0.05)
    pilot = planning.variance_components("variance", 3 * labels[:2000, 0], rng=rng)
    assert pilot[1] == pytest.approx(2 * 81, rel=0.3)


def test_replicate_design_predicts_the_error():
    rng = np.random.default_rng(0)
    found = planning.replicates_design("variance", 600, components=[0.5, 2.0], rng=rng)
    assert found.labels <= 600
    assert found.error == min(row[2] for row in found.table)
    law = SCENARIOS["variance-line"]
    for q, n, predicted in found.table[:12:4]:
        errors = []
        for _ in range(300):
            x = rng.random(n)
            s2 = law.replicates(x, q, rng).var(axis=1, ddof=1)
            line = np.polynomial.Polynomial.fit(x, s2, 1, domain=[0, 1]).convert().coef
            errors.append(law.mse_of_line(*line))
        error = np.std(errors) / math.sqrt(300)
        assert abs(np.mean(errors) - predicted) < 4 * error + 0.05 * predicted


def test_replicates_pay_until_the_class_is_wrong():
    rng = np.random.default_rng(0)
    kwargs = {"components": [0.5, 2.0], "rng": rng}
    exact = planning.replicates_design("variance", 1000, **kwargs)
    wrong = planning.replicates_design("variance", 1000, misfit=2.0, **kwargs)
    dear = planning.replicates_design("variance", 1000, misfit=2.0, cost_point=30.0, **kwargs)
    assert exact.replicates > wrong.replicates == 2
    assert dear.replicates > 2
    assert dear.spent <= 1000
    with pytest.raises(ValueError, match="budget must cover 4 points"):
        planning.replicates_design("variance", 7, **kwargs)
    with pytest.raises(ValueError, match=r"components must have shape \(2,\)"):
        planning.replicates_design("variance", 70, components=[1.0], rng=rng)
    with pytest.raises(ValueError, match="must be mean-type"):
        planning.variance_components("ucb", rng=rng)


# Simulation and comparison


def test_simulated_error_of_replicates_is_the_theoretical_one():
    # psi has variance 2 and is fitted by a line: 2 * 2 / n with n = 400 metasamples
    law = SCENARIOS["variance-line"]
    found = planning.simulate(law, "replicates", 800, runs=300, rng=np.random.default_rng(0))
    assert found.rows == 400
    assert abs(found.mean - 4 / 400) < 4 * found.standard_error + 0.0005


@pytest.mark.parametrize("design", ["two-moment", "supervised", "default", "pool", "replicates"])
def test_every_design_improves_with_labels(design):
    rng = np.random.default_rng(0)
    law = SCENARIOS["variance-sine"]
    few, many = (
        planning.simulate(law, design, n, runs=15, test_points=300, rng=rng) for n in (100, 1600)
    )
    assert many.mean < few.mean
    assert few.labels == 100
    assert few.quantile(0.9) >= np.median(few.errors)


def test_a_design_that_forms_no_metasample_has_infinite_error():
    law = SCENARIOS["minvar-exponential"]
    found = planning.simulate(
        law, "supervised", 8, statistic=statistics.minvar(4), runs=5, rng=np.random.default_rng(0)
    )
    assert found.mean == math.inf == found.standard_error


def test_comparison_table_and_json():
    problem = Problem("variance", K=0.5, y_range=(-4.0, 4.0))
    found = planning.compare_designs(
        0.5, problem, scenario=SCENARIOS["variance-line"], runs=10, limit=200,
        rng=np.random.default_rng(0),
    )  # fmt: skip
    designs = [(row.design, row.by) for row in found.rows]
    assert ("pool", "Theorem 2") in designs
    assert ("two-moment", "rate") in designs
    read = json.loads(found.to_json())
    assert read["K"] == 0.5
    assert len(read["designs"]) == len(found.rows)
    simulated = {row["design"]: row["simulated_labels"] for row in read["designs"]}
    assert simulated["replicates"] <= 200
    text = found.to_text().splitlines()
    assert len(text) == 2 + len(found.rows)
    assert all(row.labels is None or row.labels > 0 for row in found.rows)
    with pytest.raises(ValueError, match="rng must be a numpy Generator"):
        planning.compare_designs(0.5, scenario=SCENARIOS["variance-line"])


def test_comparison_in_fifty_dimensions_has_no_infinite_json():
    pytest.importorskip("pandas")
    found = planning.compare_designs(1e-4, Problem("variance", d=50))
    assert "Infinity" not in found.to_json()
    assert found.to_frame()["design"].tolist()[0] == "two-moment"


def test_comparison_plot():
    plt = pytest.importorskip("matplotlib.pyplot")
    found = planning.compare_designs(
        0.5, Problem(K=0.5), scenario=SCENARIOS["variance-line"], runs=4, limit=64,
        rng=np.random.default_rng(0),
    )  # fmt: skip
    ax = found.plot()
    labels = ax.get_legend_handles_labels()[1]
    assert "bound: Theorem 1" in labels
    assert any(label.startswith("simulated") for label in labels)
    plt.close(ax.figure)


# The command


def run_plan(*arguments):
    typer = pytest.importorskip("typer")
    from typer.testing import CliRunner

    from multiobs.cli.plan import plan

    app = typer.Typer()
    app.command()(plan)
    return CliRunner().invoke(app, list(arguments))


def test_plan_command_table_and_json():
    table = run_plan("--target", "0.05", "-K", "0.5")
    assert table.exit_code == 0
    assert "Theorem 1" in table.output
    assert "7,248" in table.output
    answer = run_plan("--target", "0.05", "-K", "0.5", "--json")
    designs = json.loads(answer.output)["designs"]
    pool = next(row for row in designs if (row["design"], row["by"]) == ("pool", "Theorem 1"))
    assert pool["labels"] == 7248


def test_plan_command_simulates_a_scenario():
    answer = run_plan(
        "--scenario", "minvar-exponential", "--target", "3", "--high", "60", "--runs", "4",
        "--limit", "100", "--json",
    )  # fmt: skip
    assert answer.exit_code == 0, answer.output
    read = json.loads(answer.output)
    assert read["statistic"] == "minvar(k=4)"
    assert all(row["simulated"] for row in read["designs"])
    wrong = run_plan("--scenario", "variance-line", "--statistic", "ucb")
    assert "the statistic must be that of variance-line" in str(wrong.exception)
