"""Calls of the parts: statistics, kernels, samplers, sums, risks, bounds, planning, displays."""

import inspect
from collections.abc import Callable
from typing import Any

import numpy as np
from fuzz.calls_rows import Call, fitted, sampler, statistic
from fuzz.values import Draw, misspelt

from multiobs import (
    baselines,
    bounds,
    contract,
    empirical_risk,
    experiments,
    models,
    plan,
    planning,
    samplers,
    solve,
    statistics,
)
from multiobs.fit import LBFGS, Newton, Quadratic
from multiobs.statistics import kernels, losses
from multiobs.tuples import Graph, Tuples, Windows

# ---------------------------------------------------------------- statistics and kernels


def made_statistic(draw: Draw) -> Call:
    name = draw.of(*statistics.CATALOGUE)
    function = getattr(statistics, name)
    taken = inspect.signature(function).parameters
    usual: dict[str, Any] = {
        "order": draw.of(1, 2, 3, 4, 5, 9, 30, 10**6), "k": draw.of(1, 2, 3, 30, 10**6),
        "lam": draw.of(1.0, 1e200, -1e200, 1e-200, 8.0), "loss": draw.of("quartic", "cubic"),
        "reference": draw.of("auto", 0.0, 1e300),
    }  # fmt: skip
    Y = draw.rng.normal(size=(4, 2))

    def call(**given: Any) -> Any:
        made = function(**given)
        assert repr(made)
        if made.arity <= 4 and made.n_columns == 1:
            made.identification(np.ones(4), np.resize(Y, (4, made.arity)))
        return made.arity

    return call, {each: usual[each] for each in taken}


def own_statistic(draw: Draw) -> Call:
    kernel = draw.of(
        lambda Y: Y.max(axis=1), lambda Y: Y, lambda Y: Y[:, 0], lambda Y: 1.0, lambda Y: None,
        lambda Y: np.full(len(Y), np.nan), lambda Y: "a", kernels.moment(2), lambda a, b: a,
    )  # fmt: skip
    arity = draw.of(1, 2, 3, 0, 200)
    if draw.chance(0.4):
        return statistics.mean_of, dict(kernel=kernel, arity=arity, name="own")
    if draw.chance(0.5):
        return statistics.ratio_of, dict(psi=kernel, chi=lambda Y: Y.min(axis=1), arity=arity)
    return statistics.from_loss, dict(
        value=lambda r, Y: (r - Y[:, 0]) ** 2, gradient=lambda r, Y: 2 * (r - Y[:, 0]),
        hessian=draw.of(None, lambda r, Y: 2 * np.ones(len(r)), lambda r, Y: None), arity=arity,
    )  # fmt: skip


def built_statistic(draw: Draw) -> Call:
    if draw.chance(0.4):
        return statistics.resolve, dict(statistic=misspelt(draw, draw.of(*statistics.CATALOGUE)))
    name = draw.of(*statistics.CATALOGUE)
    parameters = draw.of({}, {"k": 2}, {"lam": 2.0}, {"order": 3}, {"order": "a"}, {1: 2})
    return statistics.build, dict(name=name, parameters=parameters)


def asked_statistic(draw: Draw) -> Call:
    made = statistics.resolve(draw.of("variance", "ucb", "minvar", "mean", "squared_cv"))
    Y = draw.rng.normal(size=(5, made.arity))
    return draw.of(
        (made.unit_in, dict(unit=draw.of("kg", "", "m s"))),
        (made.replicates, dict(n=draw.of(4, 9, 10**12))),
        (made.with_loss, dict(kind=draw.of("gamma", "poisson", "squared", "gama"))),
        (made.identification, dict(r=draw.of(np.ones(5), 1.0, np.ones(4)), Y=draw.of(Y, Y[:, :1]))),
    )  # fmt: skip


def kernel(draw: Draw) -> Call:
    moment = kernels.moment
    return draw.of(
        (lambda power, other: kernels.moment(power, other), dict(power=draw.of(1, 2, 9), other=0)),
        (kernels.OrderStatistic, dict(weights=draw.of([1, 0], [0.5] * 3, [], [np.nan]))),
        (kernels.Equality, dict(arity=draw.of(1, 2, 3))),
        (kernels.Opaque, dict(function=lambda Y: Y[:, 0], arity=draw.of(1, 2))),
        (losses.squared, dict(psi=draw.of(moment(2), kernels.Equality(2)))),
        (losses.ratio, dict(psi=moment(2), chi=moment(1))),
    )  # fmt: skip


# ---------------------------------------------------------------- samplers and sums


def built_tuples(draw: Draw) -> Call:
    make = draw.of(
        (samplers.Nearby,
         dict(epsilon=draw.of(0.1, "paper", 0.0), scale=draw.of("robust", "none", [1.0]))),
        (samplers.Nearest, dict(n_neighbors=draw.of(1, 3), scale="robust", by_group=False)),
        (samplers.Adjacent, dict(n_rows=draw.of(2, 8), by_group=draw.of(False, True))),
        (samplers.Naive, dict(n_metasamples=draw.of("auto", 2), shuffle=True)),
        (samplers.Improved,
         dict(epsilon=draw.of("paper", 0.1), n_metasamples=draw.of("search", 2))),
        (samplers.Leaves, dict(codes=np.arange(draw.n)[:, None] % 2)),
        (samplers.SlidingWindow, {}), (samplers.Disjoint, {}), (samplers.Replicates, {}),
    )  # fmt: skip
    kind, options = make

    def call(X: Any, arity: Any, rng: Any, groups: Any, **options: Any) -> Any:
        found = kind(**options).build(X, arity, rng, groups)
        return found.count(), repr(found)

    codes = draw.of(None, None, np.zeros(draw.n, dtype=np.int64), draw.groups())
    return call, dict(
        X=draw.X(), arity=draw.of(2, 2, 3, 1, 7), rng=np.random.default_rng(0), groups=codes,
        **options
    )  # fmt: skip


def paper_epsilon(draw: Draw) -> Call:
    return samplers.paper_epsilon, dict(X=draw.X())


def named_sampler(draw: Draw) -> Call:
    name = draw.of(*samplers.SAMPLERS)
    return samplers.resolve, dict(sampler=draw.of(name, misspelt(draw, name), sampler(draw)))


def tuples(draw: Draw, arity: int = 2) -> Any:
    n = max(draw.n, 3)
    draw.n = n
    return draw.of(
        Windows(np.arange(n), np.minimum(np.arange(n) + 3, n), arity=arity),
        Tuples(np.array([[0, 1], [1, 2]])[:, :arity], n),
        Graph(np.array([0, 1, *[2] * (n - 1)]), np.array([1, 2]), arity=arity),
    )  # fmt: skip


def summed(draw: Draw) -> Call:
    own = draw.of(
        kernels.moment(2).with_arity(2), kernels.OrderStatistic([1, 0]), kernels.Equality(2),
        kernels.constant(1.0, 2), kernels.moment(1), kernels.Opaque(lambda Y: Y[:, 0] * Y[:, 1], 2),
    )  # fmt: skip
    found = tuples(draw)
    if draw.chance(0.3):
        return plan, dict(tuples=found, kernel=own, k=draw.of(0, 1, 2, 9), affine=True)
    Z = np.column_stack([np.ones(draw.n), draw.rng.random(draw.n)])
    return contract, dict(
        tuples=found, kernel=own, Z=draw.dressed(Z), y=draw.y(), k=draw.of(0, 1, 2, 3),
        weight=draw.weights(), branch=draw.of(None, None, "list", "running sums", "rank tree"),
        limit=draw.of(10**6, 1),
    )  # fmt: skip


def risk(draw: Draw) -> Call:
    chosen = statistics.resolve(draw.of("variance", "minvar", "ucb", "gini_mean_difference"))
    given = dict(
        statistic=draw.of(chosen, chosen, "variance"), tuples=tuples(draw, chosen.arity),
        Z=draw.dressed(np.column_stack([np.ones(draw.n), draw.rng.random(draw.n)])), y=draw.y(),
        weight=draw.weights(), reference=draw.of(None, None, np.zeros(2)), limit=10**6,
        start=draw.of(None, np.zeros(2), np.zeros(3)),
        solver=draw.of(None, Newton(), Quadratic(), LBFGS()),
    )  # fmt: skip

    def call(start: Any, solver: Any, **given: Any) -> Any:
        return solve(empirical_risk(**given), start, solver)

    return call, given


# ---------------------------------------------------------------- bounds and planning

NUMBERS: dict[str, tuple[Any, ...]] = {
    "n": (9, 100, 10**6), "m": (2, 3), "d": (1, 2, 40), "delta": (0.1, 0.05), "C": (1.0, 3.0),
    "log": (False, True), "success": (0.7,), "K": (0.5, 1e200), "L": (1.0, 1e200),
    "B": (1.0, 1e200),
    "rademacher": (0.1,), "rademacher_constant": (0.5,), "target": (0.1, 1e-9),
    "form": ("paper", "exact"), "norm": (2, 1), "draws": (5,), "radius": (1.0, 1e300),
    "feature_norm": (1.0, None), "sigma": (1.0, 1e-200), "epsilon": (0.2, 1e-12), "labels": (2000,),
    "fast": (False, True), "N": (1000,), "lemma": ("improved", "naive"), "p": (1, 3), "q": (5,),
    "design": ("direct", "two moments"), "count": ("labels", "samples"), "rows": (3, 10**9),
    "psi_range": ((0.0, 1.0), (0.0, 1e200)), "chi_range": ((0.0, 1.0),),
    "r_range": ((0.0, 1.0), None),
    "y_range": ((0.0, 1.0), (-1e200, 1e200)), "chi_mean": (0.1,), "lam": (1.0, 1e200),
    "order": (2, 3),
    "loss": ("quartic", "cubic"), "reference": (0.0,), "mean_high": (None, 1.0),
    "curvature": (2.0,),
    "kernel": tuple(statistics.CATALOGUE), "second_range": (None, (0.0, 1.0)), "n_cells": (None, 3),
    "n_bins": (None, 3), "components": ([0.5, 2.0], None), "budget": (100,), "misfit": (0.0, 0.1),
    "cost_point": (0.0, 1.0), "cost_label": (1.0,), "most": (20,), "n_features": (2,),
    "target_excess_risk": (0.1, 5.0), "problem": (None,), "theorem": ("slow", "fast"), "runs": (1,),
    "limit": (40,), "scenario": (None,), "test_points": (5,), "pool_factor": (2,), "start": (16,),
    "statistic": ("variance", "minvar", "ucb"), "n_replicates": ("sqrt", 2),
    "loss_constants": (None,),
}  # fmt: skip


def argument(draw: Draw, name: str) -> Any:
    if name == "rng":
        return np.random.default_rng(0)
    if name in ("X", "Z"):
        return draw.X()
    if name in ("y",):
        return draw.y()
    return draw.of(*NUMBERS[name])


def by_signature(function: Callable[..., Any]) -> Callable[[Draw], Call]:
    taken = inspect.signature(function).parameters

    def make(draw: Draw) -> Call:
        given = {
            name: argument(draw, name)
            for name, each in taken.items()
            if each.default is inspect.Parameter.empty or draw.chance(0.4)
        }
        return function, given

    return make


def problem(draw: Draw) -> Call:
    def call(**given: Any) -> Any:
        made = planning.BoundedProblem(**given)
        return made.constants, planning.sample_size(0.1, made)

    return call, dict(
        statistic=statistic(draw), d=draw.of(1, 2, 9), K=draw.of(0.5, 1e200, 0.0),
        y_range=draw.of((0.0, 1.0), (-1e200, 1e200), (1.0, 1.0)),
        r_range=draw.of(None, (0.0, 0.25), (0.25, 0.0)), loss_constants=None,
    )  # fmt: skip


def simulated(draw: Draw) -> Call:
    law = experiments.SCENARIOS[draw.of("variance-line", "ucb-gamma", "minvar-exponential")]
    given: dict[str, Any] = dict(
        scenario=law, design=draw.of("replicates", "direct", "naive", "improved", "two moments"),
        statistic=draw.of("variance", "minvar"), runs=1, pool_factor=2,
        rng=np.random.default_rng(0),
    )  # fmt: skip
    if draw.chance(0.7):
        return planning.simulate, given | dict(labels=draw.of(20, 3, 0), test_points=5)
    return planning.simulated_size, given | dict(target=5.0, delta=0.05, start=16, limit=40)


def label_plan(draw: Draw) -> Call:
    def call(count: Any, rows: Any, labels: Any, features: Any, **given: Any) -> Any:
        made = planning.LabelPlan.from_pool(**given)
        asked = made.ask(count)
        made.record(
            asked if rows is None else rows, np.arange(len(asked)) if labels is None else labels
        )
        found = made.metasamples()
        return found.Y, made.fit(features=features).predict(np.zeros((1, draw.d)))

    draw.n = max(draw.n, draw.of(0, 12, 30))
    return call, dict(
        X=draw.X(), statistic=draw.of("variance", statistic(draw)), budget=draw.of(8, 4, None),
        n_metasamples=draw.of(None, None, 3), algorithm=draw.of("improved", "naive"),
        epsilon=draw.of("paper", 0.3, 1e9), scale=draw.of("range", "none"),
        shortfall=draw.of("raise", "accept"), rng=np.random.default_rng(0),
        count=draw.of(None, 3, 100),
        rows=draw.of(None, None, [0, 1], [0, 0]), labels=draw.of(None, [1.0, 2.0]), features=None,
    )  # fmt: skip


def components(draw: Draw) -> Call:
    return planning.variance_components, dict(
        statistic=statistic(draw), labels=draw.y(), draws=100, rng=np.random.default_rng(0)
    )


def law(draw: Draw) -> Call:
    name = draw.of(*experiments.SCENARIOS)
    if draw.chance(0.5):
        return experiments.scenario, dict(name=draw.of(name, misspelt(draw, name)))
    made = experiments.SCENARIOS[name]
    return draw.of(
        (made.sample, dict(n=draw.of(0, 1, 5), rng=np.random.default_rng(0))),
        (made.truth, dict(x=draw.of(0.5, [0.1, 0.2], draw.X(1)))),
        (made.replicates,
         dict(x=draw.rng.random(4), k=draw.of(1, 3), rng=np.random.default_rng(0))),
    )  # fmt: skip


def paths(draw: Draw) -> Call:
    """Places that are no files; nothing is written outside the folder of the run."""
    return draw.of(
        (models.load, dict(path="there is no such file")),
        (planning.LabelPlan.load, dict(path="there is no such file")),
        (models.save, dict(model=fitted(0), path=draw.of("model", "no/such/folder/model"))),
    )


def functions(module: Any) -> dict[str, Callable[..., Any]]:
    found = {name: getattr(module, name) for name in module.__all__}
    return {name: each for name, each in found.items() if inspect.isfunction(each)}


BY_SIGNATURE = {
    **{f"bounds.{name}": each for name, each in functions(bounds).items()},
    "planning.sample_size": planning.sample_size,
    "planning.label_budget": planning.label_budget,
    "planning.guarantee": planning.guarantee,
    "planning.u_statistic_variance": planning.u_statistic_variance,
    "planning.replicates_design": planning.replicates_design,
    "planning.compare_designs": planning.compare_designs,
    "baselines.replicate_design": baselines.replicate_design,
}

CALLS: dict[str, tuple[float, Callable[[Draw], Call]]] = {
    "statistics": (8, made_statistic),
    "statistics, own": (4, own_statistic),
    "statistics.build": (4, built_statistic),
    "Statistic": (4, asked_statistic),
    "kernels": (4, kernel),
    "samplers": (10, built_tuples),
    "samplers.paper_epsilon": (1, paper_epsilon),
    "samplers.resolve": (2, named_sampler),
    "contract, plan": (8, summed),
    "empirical_risk, solve": (6, risk),
    **{name: (1, by_signature(each)) for name, each in BY_SIGNATURE.items()},
    "planning.BoundedProblem": (2, problem),
    "planning.simulate": (1, simulated),
    "planning.LabelPlan": (5, label_plan),
    "planning.variance_components": (2, components),
    "experiments": (2, law),
    "paths": (2, paths),
}
