"""Sizes and budgets: the theorems turned around."""

import math

import numpy as np
import pytest

from multiobs import bounds, planning, statistics
from multiobs.planning import BoundedProblem


def test_sample_size_uses_the_theorems():
    problem = BoundedProblem("variance", d=2, K=0.5, y_range=(0.0, 1.0))
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
    problem = BoundedProblem("gini_mean_difference", K=0.8)
    size = planning.sample_size(0.2, problem, theorem=theorem)
    again = planning.guarantee(problem, labels=size.labels, theorem=theorem)
    assert again == size
    assert planning.guarantee(problem, rows=size.rows, theorem=theorem).n == size.n
    less = planning.guarantee(problem, labels=size.labels - 2, theorem=theorem)
    assert less.excess_risk > 0.2 * (1 - 1e-9)


def test_rademacher_constant_of_the_class_of_a_problem():
    # lines with values in [0, 1/4]: the supremum is over the four extreme lines
    problem = BoundedProblem("variance")
    rng = np.random.default_rng(0)
    n = 400
    signs = rng.choice([-1.0, 1.0], size=(2000, n))
    x = rng.random((2000, n))
    constant, slope = signs.mean(axis=1), (signs * (2 * x - 1)).mean(axis=1)
    supremum = 0.125 * np.maximum(np.abs(constant), np.abs(slope))
    assert supremum.mean() <= problem.rademacher_constant / math.sqrt(n)


def test_problems_without_built_in_constants_say_so():
    with pytest.raises(ValueError, match=r"loss_constants must be given .* kurtosis"):
        planning.sample_size(0.1, BoundedProblem("kurtosis", r_range=(1.0, 5.0)))
    given = bounds.LossConstants(1.0, 1.0, 0.0)
    known = BoundedProblem("kurtosis", r_range=(1.0, 5.0), loss_constants=given)
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
    problem = BoundedProblem(name, y_range=(1.0, 2.0))
    found = planning.sample_size(0.5, problem)
    assert found.n >= 1
    assert found.m == statistics.resolve(name).arity
