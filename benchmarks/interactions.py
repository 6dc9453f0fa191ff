"""What the parts of the search for interactions do, on laws that choices were made on.

    python -m benchmarks.interactions [--laws NAME ...] [--rows 300] [--trials 40] [--out FILE]

In how many of a hundred data sets the interaction of the first two columns is found, and how many
of a hundred other pairs, by the test of all its columns (*whole*) and by twice the smaller
of that and the test of the straight parts (*both*).  Then ratios of mean squared errors with their
standard errors: of a class with that pair, over the same with all products of unit spread (*unit
spread*), and of ``estimator="auto"`` over itself without the rule that tests may rule out classes
(*no rule*).  All laws have a variance of five columns.
"""

import argparse
import csv
import warnings
from dataclasses import replace
from itertools import compress
from pathlib import Path
from unittest import mock

import numpy as np

from benchmarks.contest_laws import grid_of, sample
from benchmarks.contest_tables import ratio
from benchmarks.curve_laws import location_scale, root_of
from benchmarks.harder_laws import friedman
from benchmarks.quality_laws import Function, Law
from multiobs import MultiObservationRegressor, Smooth
from multiobs.estimator import candidates
from multiobs.fit import additive, terms
from multiobs.inference import interactions
from multiobs.inference.terms import p_value

LEVELS = (0.05, 0.001)
PAIR = (0, 1)


def mean(X: np.ndarray) -> np.ndarray:
    return 2 * np.sin(3 * X[:, 0] * X[:, 1]) + 2 * X[:, 2]


def crossed(X: np.ndarray) -> np.ndarray:
    return np.cos(5 * X[:, 0]) + 2 * X[:, 2] * X[:, 4]


def law(name: str, mean: Function, variance: Function) -> Law:
    return location_scale(name, "variance", mean, root_of(variance), columns=5)


LAWS = {
    each.name: each
    for each in (
        law("saddle", mean, lambda X: np.exp(7 * (X[:, 0] - 0.5) * (X[:, 1] - 0.5))),
        law("diagonal wave", mean, lambda X: np.exp(1.2 * np.sin(4 * (X[:, 0] + X[:, 1])))),
        law("ridge", crossed, lambda X: np.exp(1.4 * np.sin(2.2 * (X[:, 0] - X[:, 1])) - 0.2)),
        law("sum", mean, lambda X: np.exp(np.sin(5 * X[:, 0]) + X[:, 1] - 0.5)),
        law("line", friedman, lambda X: 0.5 + 2 * X[:, 0]),
    )
}


def unit_spread(one: terms.SmoothTerm, two: terms.SmoothTerm, X: np.ndarray) -> terms.TensorTerm:
    """Interaction whose products all have the same spread."""
    raw = terms.products(one, two, X)
    return terms.TensorTerm(one, two, raw.mean(axis=0), raw.std(axis=0))


def found_in(X: np.ndarray, y: np.ndarray) -> list[tuple[bool, float, float]]:
    """Of each pair, whether it is the first, and its p-values by the whole and by both tests."""
    model = MultiObservationRegressor(features="smooth", random_state=0).fit(X, y)
    (part,) = model._fitted.result.parts
    both = dict(interactions.pair_tests(part, X))
    scores = interactions.pair_scores(part, X)
    return [(pair == PAIR, p_value(*each.statistic()), both[pair]) for pair, each in scores]


def errors_in(law: Law, X: np.ndarray, y: np.ndarray) -> dict[str, float]:
    """Mean squared errors of the classes in one data set."""
    grid = grid_of(law, X)
    truth = law.truth(grid)

    def fitted(**given: object) -> np.ndarray:
        return MultiObservationRegressor(random_state=0, **given).fit(X, y).predict(grid)

    pair = Smooth(interactions=[PAIR])
    found = {"pair": fitted(features=pair)}
    with mock.patch.object(additive, "interaction", unit_spread):
        found["unit spread"] = fitted(features=pair)
    auto = MultiObservationRegressor(estimator="auto", random_state=0).fit(X, y)
    found["auto"] = auto.predict(grid)
    scores = auto.plan_.scores
    weights = replace(scores, interacting=()).weights
    known = {each.name: each for each in candidates(auto.statistic_, X.shape[1], y.size)}
    found["no rule"] = found["auto"]
    if np.any(weights != scores.weights):
        found["no rule"] = sum(
            weight * fitted(features=known[name].features, estimator=known[name].estimator)
            for name, weight in compress(zip(scores.names, weights, strict=True), weights > 0)
        )
    return {name: float(np.mean((each - truth) ** 2)) for name, each in found.items()}


def line_of(law: Law, rows: int, trials: int) -> dict[str, object]:
    """What one law says."""
    tests, kept = [], []
    for trial in range(trials):
        X, y = sample(law, rows, trial)
        tests += found_in(X, y)
        kept.append(errors_in(law, X, y))
    out: dict[str, object] = {"law": law.name, "rows": rows, "data sets": trials}
    first, whole, both = (np.array(each) for each in zip(*tests, strict=True))
    for which, inside in (("pair", first), ("others", ~first)):
        for level in LEVELS:
            for by, values in (("whole", whole), ("both", both)):
                share = 100 * np.mean(values[inside] < level)
                out[f"{which} by {by}, p < {level:g}"] = f"{share:.0f}"
    errors = {name: np.array([each[name] for each in kept]) for name in kept[0]}
    for name, over in (("pair", "unit spread"), ("auto", "no rule")):
        value, error, _ = ratio(errors[name], errors[over])
        out[f"{name} / {over}"] = f"{value:.2f} ± {value * error:.2f}"
    return out


def main() -> None:
    """Write a line for each law."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--laws", nargs="*", default=list(LAWS))
    parser.add_argument("--rows", type=int, default=300)
    parser.add_argument("--trials", type=int, default=40)
    parser.add_argument("--out", type=Path, default=Path("out/quality/interactions.csv"))
    asked = parser.parse_args()
    warnings.simplefilter("ignore")
    lines = []
    for name in asked.laws:
        lines.append(line_of(LAWS[name], asked.rows, asked.trials))
        print(lines[-1], flush=True)
    asked.out.parent.mkdir(parents=True, exist_ok=True)
    with asked.out.open("w", newline="") as file:
        writer = csv.DictWriter(file, list(lines[0]))
        writer.writeheader()
        writer.writerows(lines)


if __name__ == "__main__":
    main()
