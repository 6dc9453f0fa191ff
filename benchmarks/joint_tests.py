"""Size and power of tests of several hypotheses, against Wald's statistic with its size corrected.

``python -m benchmarks.joint_tests --trials 100 --out out/joint_tests.csv``: one line for each
sampler, statistic, number of hypotheses and number of rows.  ``size`` is the share of rejections
at 5 % when the statistic does not depend on x, ``power`` where its spread grows, ``wald`` the
power of Wald's statistic judged by the 95 % quantile of its own values without dependence
(which nobody has outside of a simulation): what a test of the right size can hope for.
"""

import argparse
import csv
import warnings
from pathlib import Path

import numpy as np
from sklearn.preprocessing import PolynomialFeatures, SplineTransformer

from multiobs import MultiObservationRegressor
from multiobs.inference import Inference, varying_directions

FEATURES = {
    1: None,
    3: PolynomialFeatures(3, include_bias=False),
    6: SplineTransformer(5),
    12: SplineTransformer(11),
}
SLOPES = {300: 0.9, 1000: 0.5, 5000: 0.22}  # of the variance: alternatives that are found at times


def rows(n, seed, slope):
    rng = np.random.default_rng([seed, n])
    x = rng.uniform(size=(n, 1))
    spread = np.sqrt(1.0 + slope * (x[:, 0] - 0.5))
    return x, spread * rng.normal(size=n)


def statistics_of(model):
    """P-value of the test of constancy, and Wald's statistic for the same hypotheses."""
    fit = model._fitted.result
    known = Inference(fit)
    R = varying_directions(fit.design.columns(fit.problem.X))
    gap = R @ fit.w
    spread = R @ known.covariance.matrix @ R.T
    wald = float(gap @ np.linalg.pinv(spread, hermitian=True) @ gap)
    return known.constant().p_value, wald


def cell(n, hypotheses, sampler, statistic, trials):
    found = {}
    for slope in (0.0, SLOPES[n]):
        values = []
        for seed in range(trials):
            x, y = rows(n, seed, slope)
            model = MultiObservationRegressor(
                statistic, sampler, features=FEATURES[hypotheses], random_state=0
            )
            values.append(statistics_of(model.fit(x, y)))
        found[slope] = np.array(values).T
    (null, base), (other, moved) = found.values()
    return {
        "rows": n,
        "hypotheses": hypotheses,
        "sampler": sampler,
        "statistic": statistic,
        "trials": trials,
        "size": round(float(np.mean(null < 0.05)), 3),
        "power": round(float(np.mean(other < 0.05)), 3),
        "wald": round(float(np.mean(moved > np.quantile(base, 0.95))), 3),
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--trials", type=int, default=100)
    parser.add_argument("--rows", type=int, nargs="*", default=[300, 1000, 5000])
    parser.add_argument("--hypotheses", type=int, nargs="*", default=[1, 3, 6, 12])
    parser.add_argument("--samplers", nargs="*", default=["auto", "sliding", "nearby", "nearest"])
    parser.add_argument("--statistics", nargs="*", default=["variance", "ucb", "minvar"])
    parser.add_argument("--out", type=Path, default=Path("out/joint_tests.csv"))
    chosen = parser.parse_args()
    warnings.simplefilter("ignore")  # splines that dip below zero, roots of a few data sets
    chosen.out.parent.mkdir(parents=True, exist_ok=True)
    with chosen.out.open("w", newline="") as file:
        table = None
        for n in chosen.rows:
            for statistic in chosen.statistics:
                for sampler in chosen.samplers:
                    for hypotheses in chosen.hypotheses:
                        line = cell(n, hypotheses, sampler, statistic, chosen.trials)
                        if table is None:
                            table = csv.DictWriter(file, list(line), lineterminator="\n")
                            table.writeheader()
                        table.writerow(line)
                        file.flush()
                        print(line, flush=True)


if __name__ == "__main__":
    main()
