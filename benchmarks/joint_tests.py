"""Size and power of tests of several hypotheses, against Wald's statistic with its size corrected.

``python -m benchmarks.joint_tests --trials 100 --out out/joint_tests.csv``: one line for each
sampler, statistic, number of hypotheses and number of rows; lines that the file holds already are
not measured again.  ``size`` is the share of rejections at 5 % when the statistic does not depend
on x, ``power`` where its spread grows, ``wald`` the power of Wald's statistic judged by the 95 %
quantile of its own values without dependence (which nobody has outside of a simulation): what a
test of the right size can hope for.  At the end sizes and powers are averaged over the lines of
each number of rows and hypotheses, with their standard errors.
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
SAMPLERS = {  # the default as it comes; others as in the paper, with one width
    "auto": ("auto", "auto"),
    "sliding": (samplers.SlidingWindow(), None),
    "nearby": (samplers.Nearby("paper"), None),
    "nearest": (samplers.Nearest(8), None),
}
KEYS = ("rows", "hypotheses", "sampler", "statistic", "labels")
SLOPES = {300: 0.9, 1000: 0.5, 5000: 0.22}  # of the variance: alternatives that are found at times


def rows(n, seed, slope, labels="normal"):
    rng = np.random.default_rng([seed, n])
    x = rng.uniform(size=(n, 1))
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


def cell(n, hypotheses, sampler, statistic, labels, trials):
    chosen, transport = SAMPLERS[sampler]
    found = {}
    for slope in (0.0, SLOPES[n]):
        values = []
        for seed in range(trials):
            x, y = rows(n, seed, slope, labels)
            model = MultiObservationRegressor(
                statistic,
                chosen,
                features=FEATURES[hypotheses],
                transport=transport,
                random_state=0,
            )
            values.append(statistics_of(model.fit(x, y)))
        found[slope] = np.array(values).T
    (null, base), (other, moved) = found.values()
    return {
        "rows": n,
        "hypotheses": hypotheses,
        "sampler": sampler,
        "statistic": statistic,
        "labels": labels,
        "trials": trials,
        "size": round(float(np.mean(null < 0.05)), 3),
        "power": round(float(np.mean(other < 0.05)), 3),
        "wald": round(float(np.mean(moved > np.quantile(base, 0.95))), 3),
    }


def averages(lines):
    """Means over samplers and statistics, with the standard error of the size."""
    groups = {}
    for line in lines:
        groups.setdefault((int(line["rows"]), int(line["hypotheses"])), []).append(line)
    for (n, hypotheses), some in sorted(groups.items()):
        trials = sum(int(line["trials"]) for line in some)
        size, power, wald = (
            float(np.mean([float(line[key]) for line in some])) for key in ("size", "power", "wald")
        )
        error = np.sqrt(0.05 * 0.95 / trials)
        print(
            f"{n} rows, {hypotheses} hypotheses, {len(some)} lines: size {size:.3f} ± {error:.3f}, "
            f"power {power:.2f}, Wald's with its size corrected {wald:.2f}"
        )


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--trials", type=int, default=100)
    parser.add_argument("--rows", type=int, nargs="*", default=[300, 1000, 5000])
    parser.add_argument("--hypotheses", type=int, nargs="*", default=[1, 3, 6, 12])
    parser.add_argument("--samplers", nargs="*", default=list(SAMPLERS))
    parser.add_argument("--statistics", nargs="*", default=["variance", "ucb", "minvar"])
    parser.add_argument("--labels", choices=["normal", "gamma"], default="normal")
    parser.add_argument("--out", type=Path, default=Path("out/joint_tests.csv"))
    chosen = parser.parse_args()
    warnings.simplefilter("ignore")  # splines that dip below zero, roots of a few data sets
    chosen.out.parent.mkdir(parents=True, exist_ok=True)
    lines = []
    if chosen.out.exists():
        with chosen.out.open(newline="") as file:
            lines = list(csv.DictReader(file))
    known = {tuple(str(line[key]) for key in KEYS) for line in lines}
    cells = product(chosen.rows, chosen.statistics, chosen.samplers, chosen.hypotheses)
    for n, statistic, sampler, hypotheses in cells:
        if (str(n), str(hypotheses), sampler, statistic, chosen.labels) in known:
            continue
        lines.append(cell(n, hypotheses, sampler, statistic, chosen.labels, chosen.trials))
        print(lines[-1], flush=True)
        with chosen.out.open("w", newline="") as file:
            table = csv.DictWriter(file, list(lines[-1]), lineterminator="\n")
            table.writeheader()
            table.writerows(lines)
    averages(lines)


if __name__ == "__main__":
    main()
