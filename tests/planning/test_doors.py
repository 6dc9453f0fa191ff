"""Bad input to planning, bounds and baselines gets one sentence at the door, never a silent NaN.

Every argument of every public function is replaced by every bad value, one at a time. What may
happen is a right answer (some of them are good values for some argument), or a ValueError or
TypeError whose innermost frame is ours or scikit-learn's validation.
"""

import inspect
import traceback
import warnings

import numpy as np
import pytest

from multiobs import baselines, bounds, planning
from multiobs.experiments import SCENARIOS

BAD = [
    None, "a", "", b"x", float("nan"), float("inf"), -1, 0, 1.5, True, 1e200, 1e308, -1e308,
    10**400, [], [1, "b"], ["a", "b"], [[1, 2], [3]], np.zeros(0), np.zeros((3, 0)),
    np.zeros((2, 2, 2)), {}, {"a": 1}, object(), 3 + 4j, np.array([1 + 2j]), (1,), (2, 1),
    ("a", "b"), (np.nan, 1.0), [np.nan] * 5, [np.inf] * 5, np.array(3.0),
    np.array([None, 1.0], dtype=object), np.array(["2020-01-01"], dtype="datetime64[D]"),
    np.array([1e308, -1e308] * 30),
]  # fmt: skip


def rng():
    return np.random.default_rng(0)


X = np.linspace(0, 1, 60)[:, None]
Y = np.sin(9 * X[:, 0]) + rng().normal(size=60)
POOL = np.linspace(0, 1, 200)


def fitted(cls, **given):
    def predict(X, y, **options):
        return cls(**given, **options).fit(X, y).predict(np.array([[0.5]]))

    return predict


def plan():
    return planning.LabelPlan.from_pool(POOL, "variance", budget=20, rng=rng())


ROWS = plan().queries[:2]

CASES = {
    "from_pool": (planning.LabelPlan.from_pool, dict(
        X=POOL, statistic="variance", budget=20, algorithm="improved", epsilon=0.3, scale="range",
        shortfall="raise", rng=rng())),
    "from_pool by n": (planning.LabelPlan.from_pool, dict(X=POOL, n_metasamples=5, rng=rng())),
    "ask": (lambda count: plan().ask(count), dict(count=3)),
    "record": (lambda rows, labels: plan().record(rows, labels),
               dict(rows=ROWS, labels=[1.0, 2.0])),
    "load": (planning.LabelPlan.load, dict(path="there is no such file")),
    "problem": (lambda **k: planning.BoundedProblem(**k).constants, dict(
        statistic="variance", d=1, K=0.5, y_range=(0.0, 1.0), r_range=(0.0, 0.25),
        loss_constants=None)),
    "sample_size": (planning.sample_size, dict(
        target_excess_risk=0.1, problem=None, theorem="slow", delta=0.05, C=1.0, form="paper")),
    "guarantee": (planning.guarantee, dict(labels=2000, theorem="slow", delta=0.05, C=1.0)),
    "guarantee of rows": (planning.guarantee, dict(rows=20_000.0, delta=0.05)),
    "u_statistic_variance": (planning.u_statistic_variance, dict(components=[0.5, 2.0], q=5)),
    "variance_components": (planning.variance_components,
                            dict(statistic="variance", labels=Y, rng=rng())),
    "replicates_design": (planning.replicates_design, dict(
        statistic="variance", budget=100, n_features=2, misfit=0.0, cost_point=0.0,
        cost_label=1.0, components=[0.5, 2.0], rng=rng())),
    "simulate": (planning.simulate, dict(
        scenario=SCENARIOS["variance-line"], design="replicates", labels=40, runs=2,
        pool_factor=3, test_points=10, rng=rng())),
    "simulated_size": (planning.simulated_size, dict(
        scenario=SCENARIOS["variance-line"], design="replicates", target=5.0, delta=0.05, runs=2,
        limit=100, rng=rng())),
    "compare_designs": (planning.compare_designs, dict(
        target_excess_risk=0.1, problem=None, delta=0.05, C=1.0, form="paper")),
    "plug_in": (baselines.plug_in, dict(statistic="variance", y=Y, weights=np.ones(60))),
    "plug_in of ranks": (baselines.plug_in, dict(statistic="minvar", y=Y)),
    "replicate_design": (baselines.replicate_design,
                         dict(statistic="ucb", n=100, n_replicates="sqrt")),
    "two moments": (fitted(baselines.TwoMomentRegressor),
                    dict(X=X, y=Y, statistic="variance", estimator=None)),
    "two moments, bound": (fitted(baselines.TwoMomentRegressor, statistic="ucb"), dict(X=X, y=Y)),
    "empirical": (fitted(baselines.EmpiricalStatisticRegressor),
                  dict(X=X, y=Y, n_replicates="sqrt", estimator=None, unbiased=True)),
    "residual": (fitted(baselines.ResidualRegressor),
                 dict(X=X, y=Y, mean_estimator="auto", estimator=None)),
    "local": (fitted(baselines.LocalPlugInRegressor, neighbourhood="nearest"),
              dict(X=X, y=Y, projection=None, n_neighbors="auto")),
    "forest": (fitted(baselines.LocalPlugInRegressor, n_trees=3),
               dict(X=X, y=Y, neighbourhood="forest", min_leaf="auto")),
    "tv_lipschitz": (bounds.estimate_tv_lipschitz,
                     dict(X=X, y=Y, n_cells=3, n_bins=3, rng=rng())),
    "empirical_rademacher": (bounds.empirical_rademacher_linear,
                             dict(Z=X, radius=1.0, norm=2, rng=rng())),
    "naive": (bounds.naive_sample_size, dict(n=9, m=2, d=1, delta=0.1)),
    "improved": (bounds.improved_sample_size, dict(n=9, m=2, d=1, delta=0.1, C=1.0)),
    "uniform": (bounds.improved_sample_size_uniform,
                dict(n=9, m=2, d=1, epsilon=0.2, delta=0.1, C=1.0)),
    "excess_risk": (bounds.excess_risk, dict(
        n=100, m=2, K=1.0, L=1.0, B=1.0, rademacher=0.1, delta=0.1, form="paper")),
    "fast_excess_risk": (bounds.fast_excess_risk, dict(n=100, B=1.0, L=1.0, sigma=1.0, delta=0.05)),
    "kernel_range": (bounds.kernel_range, dict(kernel="variance", y_range=(0.0, 1.0))),
    "squared_loss": (bounds.squared_loss_constants, dict(psi_range=(0.0, 1.0), r_range=(0.0, 1.0))),
    "ratio_loss": (bounds.ratio_loss_constants, dict(
        psi_range=(0.0, 1.0), chi_range=(0.0, 1.0), r_range=(0.0, 1.0), chi_mean=0.1)),
    "ucb_loss": (bounds.ucb_loss_constants, dict(
        lam=1.0, y_range=(0.0, 1.0), r_range=(0.0, 1.0), loss="cubic", reference=0.0,
        mean_high=None)),
    "strong_convexity": (bounds.strong_convexity, dict(Z=X, curvature=2.0)),
    "rademacher_linear": (bounds.rademacher_linear,
                          dict(n=9, radius=1.0, feature_norm=1.0, norm=2)),
    "corner_cube": (bounds.corner_cube, dict(d=2, C=1.0)),
    "dimension_lower_bound": (bounds.dimension_lower_bound, dict(d=2, success=0.7)),
    "repeat_probability": (bounds.repeat_probability, dict(rows=3, d=2)),
    "slow_metasamples": (bounds.slow_metasamples, dict(
        target=0.1, m=2, K=0.5, L=1.0, B=1.0, rademacher_constant=0.5, delta=0.1)),
}  # fmt: skip


def holds_nan(answer):
    parts = answer if isinstance(answer, tuple) else (answer,)
    return any(
        isinstance(part, float | np.ndarray) and np.isnan(np.asarray(part, dtype=float)).any()
        for part in parts
    )


def at_the_door(error):
    if isinstance(error, OSError):  # names the file
        return True
    innermost = traceback.extract_tb(error.__traceback__)[-1].filename
    theirs = "sklearn/utils" in innermost or "sklearn/base" in innermost
    ours = "multiobs" in innermost and "\n" not in str(error)
    return (ours or theirs) and isinstance(error, ValueError | TypeError | UserWarning)


def complaint(name, key, bad):
    """What is wrong with the answer to a bad value; None when nothing is."""
    function, good = CASES[name]
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            answer = function(**good | {key: bad})
    except Exception as error:
        if at_the_door(error):
            return None
        return f"{name}({key}={bad!r:.60}): {type(error).__name__}: {error!s:.100}"
    return f"{name}({key}={bad!r:.60}): NaN" if holds_nan(answer) else None


@pytest.mark.parametrize("name", CASES)
def test_bad_values_get_a_sentence(name):
    function, good = CASES[name]
    if name != "load":
        function(**good)
    found = [complaint(name, key, bad) for key in good for bad in BAD]
    assert [each for each in found if each is not None] == []


def test_every_public_function_of_planning_is_tried():
    tried = {function for function, _ in CASES.values()}
    public = {getattr(planning, name) for name in planning.__all__}
    functions = {each for each in public if inspect.isfunction(each)}
    assert functions - tried == {planning.label_budget}  # which is sample_size


def test_frames_of_text_are_named():
    pd = pytest.importorskip("pandas")
    text = pd.DataFrame({"a": ["x", "y"] * 30})
    with pytest.raises(TypeError, match="X must be numbers, got values such as 'x'"):
        baselines.TwoMomentRegressor().fit(text, Y)
    with pytest.raises(TypeError, match="X must be numbers, got values such as 'x'"):
        planning.LabelPlan.from_pool(text, budget=4, rng=rng())
    with pytest.raises(TypeError, match="labels must be numbers, got values such as 'x'"):
        plan().record(ROWS, text["a"][:2])


def test_labels_whose_squares_overflow_are_refused():
    y = np.array([1e308, -1e308] * 30)
    for model in (baselines.TwoMomentRegressor(), baselines.ResidualRegressor()):
        with pytest.raises(ValueError, match="y must have squares that a float holds, got values"):
            model.fit(X, y)
