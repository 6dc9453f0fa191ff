"""Other ways to a spread or an interval, on the same rows: what each is good at.

``python -m benchmarks.when`` writes ``docs/_static/quality/when.csv``; ngboost, quantile-forest and
hetgpy come with ``requirements/studies.txt``, R with mgcv is asked if it is there.  Methods whose
package is missing are left out.  The laws were fixed before the first run.

Each method is used as its users would use it.  A normal law gives its 90 % interval by its mean and
standard deviation; whether the interval holds 90 % of new labels *at each x* is known from the law.
"""

import argparse
import csv
import os
import shutil
import subprocess
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

import numpy as np
from sklearn.ensemble import HistGradientBoostingRegressor
from sklearn.linear_model import QuantileRegressor
from sklearn.model_selection import KFold, cross_val_predict
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import SplineTransformer

from benchmarks.curve_laws import location_scale, root_of
from benchmarks.harder_laws import friedman
from benchmarks.quality_laws import NOISES, Law, first
from multiobs import MultiObservationRegressor
from multiobs._files import beside
from multiobs._progress import progress
from multiobs.transport import SplinePilot

Array = np.ndarray
ROWS, PLACES, Z = 500, 300, 1.6448536269514722
TABLE = Path(__file__).parents[1] / "docs" / "_static" / "quality" / "when.csv"

swell = first(lambda x: 0.3 + 0.7 * np.sin(np.pi * x) ** 2)
tide = first(lambda x: 2 * np.sin(2 * np.pi * x))
LAWS = {
    "normal": location_scale("normal", "sd", tide, swell),
    "gamma": location_scale("gamma", "sd", tide, swell, "gamma"),
    "five columns": location_scale(
        "five columns",
        "sd",
        friedman,
        root_of(lambda X: 0.3 + 3 * (X[:, 0] - 0.5) ** 2 + X[:, 3]),
        columns=5,
    ),
}


@dataclass(frozen=True)
class Answer:
    """What a method says at positions: a standard deviation, limits of a 90 % interval, or both."""

    sd: Array | None = None
    low: Array | None = None
    high: Array | None = None


Method = Callable[[Array, Array, Array], Answer]


def normal(mean: Array, sd: Array, more: Array | float = 0.0) -> Answer:
    """Answer by a normal law; ``more`` is the variance of the mean itself."""
    wide = Z * np.sqrt(sd**2 + more)
    return Answer(sd, mean - wide, mean + wide)


def smooth_sd(X: Array, y: Array) -> MultiObservationRegressor:
    return MultiObservationRegressor("variance", features="smooth", random_state=0).fit(X, y)


def ours(X: Array, y: Array, at: Array) -> Answer:
    return normal(SplinePilot().fit(X, y).predict(at), np.sqrt(smooth_sd(X, y).predict(at)))


def conformal(scaled: bool) -> Method:
    """Split-conformal intervals about a spline, of one width or scaled by our spread."""

    def answer(X: Array, y: Array, at: Array) -> Answer:
        half = X.shape[0] // 2
        mean = SplinePilot().fit(X[:half], y[:half])
        model = smooth_sd(X[:half], y[:half]) if scaled else None
        width = [1.0 if model is None else np.sqrt(model.predict(x)) for x in (X[half:], at)]
        score = np.sort(np.abs(y[half:] - mean.predict(X[half:])) / width[0])
        wide = score[int(np.ceil(0.9 * (score.size + 1))) - 1] * width[1]
        return Answer(None, mean.predict(at) - wide, mean.predict(at) + wide)

    return answer


def squares_spline(X: Array, y: Array, at: Array) -> Answer:
    mean = SplinePilot().fit(X, y)
    left = (y - mean.predict(X)) ** 2 / np.maximum(mean.residual_share(X), 1e-3)
    variance = SplinePilot().fit(X, left).predict(at)
    return normal(mean.predict(at), np.sqrt(np.maximum(variance, 0.0)))


def squares_boosting(X: Array, y: Array, at: Array) -> Answer:
    trees = HistGradientBoostingRegressor(max_iter=100, learning_rate=0.05, random_state=0)
    folds = KFold(5, shuffle=True, random_state=0)
    left = (y - cross_val_predict(trees, X, y, cv=folds)) ** 2
    mean = trees.fit(X, y).predict(at)
    return normal(mean, np.sqrt(np.maximum(trees.fit(X, left).predict(at), 0.0)))


def quantile_lines(X: Array, y: Array, at: Array) -> Answer:
    """Linear quantile regression on a spline basis of each column."""
    found = [
        make_pipeline(
            SplineTransformer(6, include_bias=False), QuantileRegressor(quantile=q, alpha=0.0)
        ).fit(X, y)
        for q in (0.05, 0.95)
    ]
    return Answer(None, *(each.predict(at) for each in found))


def quantile_forest(X: Array, y: Array, at: Array) -> Answer:
    from quantile_forest import RandomForestQuantileRegressor

    forest = RandomForestQuantileRegressor(200, min_samples_leaf=10, random_state=0).fit(X, y)
    levels = [0.05, 0.95, *np.arange(0.005, 1.0, 0.01)]
    some = np.asarray(forest.predict(at, quantiles=levels))
    return Answer(some[:, 2:].std(axis=1), some[:, 0], some[:, 1])


def ngboost(X: Array, y: Array, at: Array) -> Answer:
    from ngboost import NGBRegressor

    found = NGBRegressor(verbose=False, random_state=0).fit(X, y).pred_dist(at)
    return normal(found.loc, found.scale)


def heteroscedastic_process(X: Array, y: Array, at: Array) -> Answer:
    from hetgpy import hetGP

    found = hetGP().mleHetGP(X=X, Z=y, covtype="Gaussian").predict(at)
    return normal(found["mean"], np.sqrt(found["nugs"]), found["sd2"])


GAULSS = """
suppressMessages(library(mgcv)); d <- read.csv("rows.csv"); at <- read.csv("at.csv")
s <- paste(sprintf("s(%s)", grep("^x", names(d), value=TRUE)), collapse="+")
b <- gam(list(as.formula(paste("y ~", s)), as.formula(paste("~", s))), family=gaulss(), data=d)
p <- predict(b, at, type="response")
write.csv(data.frame(mean=p[, 1], sd=1 / p[, 2]), "out.csv", row.names=FALSE)
"""


def gamlss(X: Array, y: Array, at: Array) -> Answer:
    names = [f"x{j}" for j in range(X.shape[1])]
    with tempfile.TemporaryDirectory() as folder:
        for name, columns, rows in (
            ("rows.csv", [*names, "y"], np.column_stack([X, y])),
            ("at.csv", names, at),
        ):
            head = ",".join(columns)
            np.savetxt(Path(folder) / name, rows, "%.17g", ",", header=head, comments="")
        command = ["Rscript", "-e", GAULSS]
        subprocess.run(command, check=True, capture_output=True, cwd=folder)
        mean, sd = np.loadtxt(Path(folder) / "out.csv", delimiter=",", skiprows=1, unpack=True)
    return normal(mean, sd)


METHODS: dict[str, tuple[str | None, Method]] = {
    "multiobs, smooth variance": (None, ours),
    "GAMLSS (mgcv's gaulss)": ("R", gamlss),
    "squared residuals, spline": (None, squares_spline),
    "squared residuals, boosting": (None, squares_boosting),
    "NGBoost": ("ngboost", ngboost),
    "heteroscedastic process (hetgpy)": ("hetgpy", heteroscedastic_process),
    "quantile forest": ("quantile_forest", quantile_forest),
    "quantile regression, splines": (None, quantile_lines),
    "conformal, one width": (None, conformal(False)),
    "conformal, width by multiobs": (None, conformal(True)),
}


def judged(law: Law, answer: Answer, at: Array) -> tuple[float, float, float]:
    """Error of the sd in percent of its mean; coverage; its mean distance from 90 %, by x."""
    mean, sd = law.mean(at), law.sd(at)
    error = cover = off = np.nan
    if answer.sd is not None:
        error = 100 * float(np.sqrt(np.mean((answer.sd - sd) ** 2)) / np.mean(sd))
    if answer.low is not None and answer.high is not None:
        noise = NOISES[law.noise]
        inside = noise.cdf((answer.high - mean) / sd) - noise.cdf((answer.low - mean) / sd)
        cover, off = 100 * float(np.mean(inside)), 100 * float(np.mean(np.abs(inside - 0.9)))
    return error, cover, off


def seconds() -> float:
    """CPU time of this process and of those it has waited for."""
    return float(sum(os.times()[:4]))


def there(package: str | None) -> bool:
    if package == "R":
        return shutil.which("Rscript") is not None
    return package is None or find_spec(package) is not None


def shown(values: Array) -> str:
    """Mean and standard error; nothing where a method has no answer."""
    if np.isnan(values).any():
        return ""
    return f"{values.mean():.1f} ± {values.std(ddof=1) / np.sqrt(values.size):.1f}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--trials", type=int, default=20)
    parser.add_argument("--out", type=Path, default=TABLE)
    asked = parser.parse_args()
    chosen = {name: method for name, (needs, method) in METHODS.items() if there(needs)}
    found = np.full((len(chosen), len(LAWS), asked.trials, 4), np.nan)
    for t in progress(range(asked.trials), asked.trials, "data sets"):
        for j, law in enumerate(LAWS.values()):
            rng = np.random.default_rng([17, j, t])
            X, y = law.sample(ROWS, rng)
            at = law.place(PLACES, rng)
            for i, method in enumerate(chosen.values()):
                before = seconds()
                answer = method(X, y, at)
                found[i, j, t] = *judged(law, answer, at), seconds() - before
    head = ["method", *(f"sd error %, {name}" for name in LAWS)]
    head += [f"90 % intervals hold %, {name}" for name in LAWS]
    head += [f"off at an x, {name}" for name in LAWS]
    with beside(asked.out) as place, place.open("w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow([*head, "CPU-s, one column"])
        for i, name in enumerate(chosen):
            cells = [shown(found[i, j, :, k]) for k in range(3) for j in range(len(LAWS))]
            writer.writerow([name, *cells, f"{np.median(found[i, 0, :, 3]):.2f}"])
    print(asked.out.read_text())


if __name__ == "__main__":
    main()
