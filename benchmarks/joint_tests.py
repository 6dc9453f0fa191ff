"""Size and power of tests of several hypotheses, against Wald's statistic with its size corrected.

``python -m benchmarks.joint_tests --trials 25 --out docs/_static/coverage/joint_tests.csv``: one
line for each number of rows and hypotheses, statistic, law of the labels and sampler, every line on
data sets of its own; lines that the file holds already are not measured again.  Each combination is
measured with the default sampler and three of the others in turn.  ``size`` is the share of
rejections at 5 % when the statistic does not depend on x, ``power`` where its spread grows,
``wald`` the power of Wald's statistic judged by the 95 % quantile of its own values without
dependence (which nobody has outside of a simulation): what a test of the right size can hope for.
Sizes and powers are pooled over the lines into ``joint_tests_digest.csv``, with their standard
errors.
"""

import argparse
import csv
import warnings
from itertools import product
from pathlib import Path

import numpy as np
from sklearn.preprocessing import PolynomialFeatures, SplineTransformer

from multiobs import MultiObservationRegressor, samplers
from multiobs.inference import Inference, varying_directions

FEATURES = {
    1: None,
    3: PolynomialFeatures(3, include_bias=False),
    6: SplineTransformer(5),
    12: SplineTransformer(11),
}
OTHERS = {  # as in the paper, without transport
    "sliding": samplers.SlidingWindow(),
    "nearby": samplers.Nearby("paper"),
    "improved": samplers.Improved(),
    "nearest": samplers.Nearest(8),
    "disjoint": samplers.Disjoint(),
    "replicates": samplers.Replicates(),
}
STATISTICS = ("variance", "ucb", "minvar")
LABELS = ("normal", "gamma")
SLOPES = {300: 0.9, 1000: 0.5, 5000: 0.22}  # of the variance: alternatives that are found at times
KEYS = ("rows", "hypotheses", "statistic", "labels", "sampler")


def cells():
    """Every combination with the default sampler, and with half of the others in turn."""
    names = list(OTHERS)
    for at, found in enumerate(product(SLOPES, FEATURES, STATISTICS, LABELS)):
        yield *found, "auto"
        # statistics and laws take turns, and so does each of them from one number to the next
        for name in names[(at + at // 6) % 2 :: 2]:
            yield *found, name


def rows(rng, n, slope, labels, sampler):
    x = rng.uniform(size=(n, 1))
    if sampler == "replicates":
        x = np.ceil(x * n / 10) / (n / 10)  # about ten rows of each x
    spread = np.sqrt(1.0 + slope * (x[:, 0] - 0.5))
    if labels == "normal":
        return x, spread * rng.normal(size=n)
    return x, spread * (rng.gamma(2.0, size=n) - 2.0) / np.sqrt(2.0)


def statistics_of(model):
    """P-value of the test of constancy, and Wald's statistic for the same hypotheses."""
    fit = model._fitted.result
    known = Inference(fit)
    R = varying_directions(fit.design.columns(fit.problem.X))
    gap = R @ fit.w
    spread = R @ known.covariance.matrix @ R.T
    wald = float(gap @ np.linalg.pinv(spread, hermitian=True) @ gap)
    return known.constant().p_value, wald


def measured(which, trials):
    n, hypotheses, statistic, labels, sampler = which
    own = list(cells()).index(which)  # no two lines share data sets
    found = []
    for slope in (0.0, SLOPES[n]):
        values = []
        for seed in range(trials):
            rng = np.random.default_rng([seed, own, int(slope > 0)])
            x, y = rows(rng, n, slope, labels, sampler)
            model = MultiObservationRegressor(
                statistic,
                OTHERS.get(sampler, "auto"),
                features=FEATURES[hypotheses],
                transport="auto" if sampler == "auto" else None,
                random_state=0,
            )
            values.append(statistics_of(model.fit(x, y)))
        found.append(np.array(values).T)
    (null, base), (other, moved) = found
    # of k values the 95 % quantile is the (k + 1) 0.95-th: exceeded by 5 % on average
    limit = np.quantile(base, 0.95, method="weibull")
    return {
        **dict(zip(KEYS, which, strict=True)),
        "trials": trials,
        "size": round(float(np.mean(null < 0.05)), 3),
        "power": round(float(np.mean(other < 0.05)), 3),
        "wald": round(float(np.mean(moved > limit)), 3),
    }


def pooled(lines, by):
    """Means over the lines that agree in ``by``, with standard errors."""
    groups = {}
    for line in lines:
        groups.setdefault(tuple(str(line[key]) for key in by), []).append(line)
    for group, some in groups.items():
        trials = np.array([int(line["trials"]) for line in some])
        size, power, wald = (
            np.array([float(line[key]) for line in some]) for key in ("size", "power", "wald")
        )
        named = dict(zip(by, group, strict=True))
        yield {
            **{key: named.get(key, "all") for key in KEYS},
            "data sets": int(trials.sum()),
            "size": round(100 * float(np.average(size, weights=trials)), 1),
            "± size": round(100 * float(np.sqrt(0.05 * 0.95 / trials.sum())), 1),
            "power": round(100 * float(np.average(power, weights=trials)), 1),
            "wald": round(100 * float(np.average(wald, weights=trials)), 1),
            "± difference": round(100 * float(np.std(power - wald) / np.sqrt(len(some))), 1),
        }


def digest(lines):
    ways = (
        ("rows", "hypotheses"),
        ("hypotheses", "statistic"),
        ("hypotheses", "labels"),
        ("hypotheses", "sampler"),
        (),
    )
    return [line for by in ways for line in pooled(lines, by)]


def write(path, lines):
    with path.open("w", newline="") as file:
        table = csv.DictWriter(file, list(lines[-1]), lineterminator="\n")
        table.writeheader()
        table.writerows(lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--trials", type=int, default=25)
    parser.add_argument("--rows", type=int, nargs="*", default=list(SLOPES))
    parser.add_argument("--hypotheses", type=int, nargs="*", default=list(FEATURES))
    parser.add_argument("--out", type=Path, default=Path("out/joint_tests.csv"))
    chosen = parser.parse_args()
    warnings.simplefilter("ignore")  # splines that dip below zero, roots of a few data sets
    chosen.out.parent.mkdir(parents=True, exist_ok=True)
    lines = []
    if chosen.out.exists():
        with chosen.out.open(newline="") as file:
            lines = list(csv.DictReader(file))
    known = {tuple(str(line[key]) for key in KEYS) for line in lines}
    for which in cells():
        if tuple(str(each) for each in which) in known:
            continue
        if which[0] not in chosen.rows or which[1] not in chosen.hypotheses:
            continue
        lines.append(measured(which, chosen.trials))
        print(lines[-1], flush=True)
        write(chosen.out, lines)
    found = digest(lines)
    for line in found:
        print(*line.values())
    write(chosen.out.with_name(f"{chosen.out.stem}_digest.csv"), found)


if __name__ == "__main__":
    main()
