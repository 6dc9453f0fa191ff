"""The defaults are close to the oracle and ahead of the baselines; small runs of `make quality`."""

import sys
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parents[2]))

from benchmarks.quality import laws_of, one_trial
from benchmarks.quality_laws import Law

SOME = (
    "smooth/linear/normal/uniform",
    "oscillating/constant/normal/uniform",
    "steps/linear/normal/uniform",
    "bump/constant/normal/uniform",
    "smooth/linear/normal/tied",
)


def law(of: str, name: str) -> Law:
    return next(each for each in laws_of(of) if each.name == name)


def ratios(laws: list[Law], trials: int, methods: tuple[str, ...]) -> dict[str, np.ndarray]:
    """Median error of the default over that of other methods, one number a law."""
    found: dict[str, list[float]] = {name: [] for name in methods}
    for each in laws:
        errors = [one_trial(each, 1000, trial, ("default", *methods)) for trial in range(trials)]
        ours = np.median([e["default"] for e in errors])
        for name in methods:
            found[name].append(ours / np.median([e[name] for e in errors]))
    return {name: np.array(values) for name, values in found.items()}


def geometric_mean(values: np.ndarray) -> float:
    return float(np.exp(np.mean(np.log(values))))


def test_the_variance_is_nearly_as_good_as_with_a_known_mean() -> None:
    some = [law("variance", name) for name in SOME]
    found = ratios(some, 12, ("oracle", "paper nearby", "paper sliding", "residual, spline"))
    # the limits of the full run are 1.3 and 2.0; twelve trials have an error of a third
    assert geometric_mean(found["oracle"]) < 1.4
    assert np.max(found["oracle"]) < 2.5
    assert geometric_mean(found["residual, spline"]) < 1.1
    assert geometric_mean(found["paper nearby"]) < 0.6
    assert geometric_mean(found["paper sliding"]) < 1.0


@pytest.mark.parametrize("statistic", ["ucb8", "minvar"])
def test_other_statistics_are_no_worse_than_a_local_plug_in(statistic: str) -> None:
    some = [law(statistic, f"{statistic}/{name}") for name in ("wave/normal", "smooth/gamma")]
    found = ratios(some, 12, ("local nearest, projected", "paper sliding"))
    assert geometric_mean(found["local nearest, projected"]) < 1.35
    assert geometric_mean(found["paper sliding"]) < 1.2


def test_five_columns_are_better_than_residuals_of_boosting() -> None:
    some = [law("wide", "additive/d5")]
    found = ratios(some, 3, ("residual, boosting", "local nearest, projected"))
    assert np.all(found["residual, boosting"] < 0.5)
    assert np.all(found["local nearest, projected"] < 0.5)


@pytest.mark.slow
def test_the_variance_on_every_law() -> None:
    names = ("oracle", "paper nearby", "paper sliding", "residual, spline")
    found = ratios(laws_of("variance"), 200, names)
    assert geometric_mean(found["oracle"]) <= 1.3
    assert np.max(found["oracle"]) <= 2.0
    assert geometric_mean(found["residual, spline"]) < 1.0
    best = np.maximum(found["paper nearby"], found["paper sliding"])
    # medians of 200 trials have an error of a tenth
    assert np.max(found["residual, spline"]) <= 1.1 * 1.1
    assert np.max(best) <= 1.25 * 1.1


@pytest.mark.slow
def test_irrelevant_columns_raise_the_error_by_less_than_half() -> None:
    medians = {}
    for d in (10, 20):
        of = law("wide", f"additive/d{d}")
        errors = [one_trial(of, 1000, trial, ("default",))["default"] for trial in range(60)]
        medians[d] = np.median(errors)
    assert medians[20] < 1.5 * medians[10]
