"""Other people's ways to a statistic of y given x, for the contest of defaults.

Each peer is used as its users would use it: distributional ones (mgcv's ``gaulss``, NGBoost) give a
mean and a standard deviation of a normal law, a quantile forest gives a sample of the law, the
others smooth pseudo-values of residuals or of differences.
"""

import csv
import shutil
import subprocess
import tempfile
from collections.abc import Callable
from functools import cache
from importlib.util import find_spec
from pathlib import Path

import numpy as np
from scipy.spatial import KDTree
from sklearn.ensemble import HistGradientBoostingRegressor
from sklearn.linear_model import LinearRegression
from sklearn.model_selection import KFold, cross_val_predict

from benchmarks.quality_laws import Law, expected_minimum
from multiobs import MultiObservationRegressor, baselines, samplers, statistics
from multiobs.statistics import Statistic
from multiobs.transport import SplinePilot

Array = np.ndarray
Peer = Callable[[Law, Array, Array, Array], Array]  # law, X, y, where: the statistic there


def statistic_of(law: Law) -> Statistic:
    """Return the statistic that a law is about."""
    if law.statistic.startswith("ucb"):
        return statistics.ucb(float(law.statistic.removeprefix("ucb")))
    return {
        "minvar": statistics.minvar(4),
        "gini": statistics.gini_mean_difference(),
        "third": statistics.central_moment(3),
        "sd": statistics.standard_deviation(),
        "variance": statistics.variance(),
    }[law.statistic]


def given(law: Law, X: Array, model: object) -> object:
    """Return what a method is given: a category as such for ours, as indicators for the others."""
    if not law.levels:
        return X
    if isinstance(model, MultiObservationRegressor):
        from pandas import DataFrame

        names = [f"level {int(code):02d}" for code in X[:, -1]]
        return DataFrame({"x": X[:, 0], "category": names})
    return np.column_stack([X[:, :-1], X[:, -1:] == np.arange(1, law.levels)])


@cache
def _lowest() -> float:
    return expected_minimum("normal", 5)


def of_normal(law: Law, mean: Array, variance: Array) -> Array:
    """Statistic of a normal law."""
    sd = np.sqrt(np.maximum(variance, 0.0))
    if law.statistic.startswith("ucb"):
        return mean + float(law.statistic.removeprefix("ucb")) * sd
    return {
        "variance": variance,
        "sd": sd,
        "gini": 2 / np.sqrt(np.pi) * sd,
        "minvar": mean + _lowest() * sd,
        "third": 0.0 * sd,
    }[law.statistic]


def of_tuples(law: Law, X: Array, mean: SplinePilot | None, y: Array, at: Array) -> Array:
    """GCV spline of the kernel of adjacent rows (near ones in several columns), about a mean."""
    m, k = {"minvar": (5, 5), "third": (3, 3)}.get(law.statistic, (2, 2))
    if X.shape[1] == 1:
        order = np.argsort(X[:, 0], kind="stable")
        members = order[np.arange(y.size - m + 1)[:, None] + np.arange(m)]
    else:
        scale = np.where(X.std(axis=0) > 0, X.std(axis=0), 1.0)
        members = KDTree(X / scale).query(X / scale, k=k)[1]
    Y, place = y[members], X[members].mean(axis=1)
    third = np.prod(Y - Y.mean(axis=1, keepdims=True), axis=1) * 9 / 2 if m == 3 else 0.0
    value = {
        "minvar": Y.min(axis=1),
        "gini": np.abs(Y[:, 0] - Y[:, 1]),
        "third": third,
    }.get(law.statistic, (Y[:, 0] - Y[:, 1]) ** 2 / 2)
    found = SplinePilot().fit(place, value).predict(at)
    if law.statistic in ("gini", "third", "variance"):
        return found
    if law.statistic == "minvar":
        return found if mean is None else mean.predict(at) + found
    centre = SplinePilot().fit(X, y) if mean is None else mean
    return of_normal(law, centre.predict(at), found)


def residual_line(law: Law, X: Array, y: Array, at: Array) -> Array:
    """Corrected squared residuals of a spline, regressed on a line."""
    return baselines.ResidualRegressor(statistic_of(law)).fit(X, y).predict(at)


def residual_spline(law: Law, X: Array, y: Array, at: Array) -> Array:
    """Pseudo-values of a spline's residuals, smoothed freely."""
    mean = SplinePilot().fit(X, y)
    left = (y - mean.predict(X)) / np.sqrt(np.maximum(mean.residual_share(X), 1e-3))
    if law.statistic in ("gini", "minvar"):
        return of_tuples(law, X, mean, left, at)
    if law.statistic == "third":
        return SplinePilot().fit(X, left**3).predict(at)
    return of_normal(law, mean.predict(at), SplinePilot().fit(X, left**2).predict(at))


def residual_boosting(law: Law, X: Array, y: Array, at: Array) -> Array:
    """Squares of a boosted mean's held-out residuals, boosted."""
    trees = HistGradientBoostingRegressor(max_iter=100, learning_rate=0.05, random_state=0)
    folds = KFold(5, shuffle=True, random_state=0)
    left = y - cross_val_predict(trees, X, y, cv=folds)
    if law.statistic == "third":
        return trees.fit(X, left**3).predict(at)
    mean = trees.fit(X, y).predict(at)
    return of_normal(law, mean, trees.fit(X, left**2).predict(at))


def differences(law: Law, X: Array, y: Array, at: Array) -> Array:
    """Smoothed kernels of adjacent rows: Rice's and Gasser's estimators, made local."""
    return of_tuples(law, X, None, y, at)


def local_line(law: Law, X: Array, y: Array, at: Array) -> Array:
    """Plug-in of nearest rows, projected on a line."""
    model = baselines.LocalPlugInRegressor(
        statistic_of(law), "nearest", projection=LinearRegression()
    )
    return model.fit(X, y).predict(at)


def ngboost(law: Law, X: Array, y: Array, at: Array) -> Array:
    """NGBoost with a normal law, as it comes."""
    from ngboost import NGBRegressor

    found = NGBRegressor(verbose=False, random_state=0).fit(X, y).pred_dist(at)
    return of_normal(law, found.loc, found.var)


def quantile_forest(law: Law, X: Array, y: Array, at: Array) -> Array:
    """Plug-in of 99 quantiles of a forest."""
    from quantile_forest import RandomForestQuantileRegressor

    forest = RandomForestQuantileRegressor(100, min_samples_leaf=10, random_state=0).fit(X, y)
    some = forest.predict(at, quantiles=list(np.arange(0.005, 1.0, 0.01)))
    return baselines.plug_in(statistic_of(law), np.asarray(some))


def paper(sampler: object) -> Peer:
    """The paper's estimator: a line, no transport."""

    def fitted(law: Law, X: Array, y: Array, at: Array) -> Array:
        return MultiObservationRegressor(statistic_of(law), sampler, transport=None).fit(
            X, y
        ).predict(at)  # fmt: skip

    return fitted


def peers_of(law: Law) -> dict[str, Peer]:
    """Peers that can estimate a law's statistic, but for mgcv; missing packages are left out."""
    found: dict[str, Peer] = {
        "residual spline": residual_spline,
        "residual boosting": residual_boosting,
        "differences": differences,
        "local, line": local_line,
    }
    if law.statistic in ("variance", "sd") or law.statistic.startswith("ucb"):
        found["residual spline, line"] = residual_line
    if law.columns == 1:
        found["paper nearby"] = paper(samplers.Nearby("paper"))
        found["paper sliding"] = paper("sliding")
    else:
        found["paper nearest"] = paper(samplers.Nearest(4))
    if find_spec("ngboost") is not None and law.statistic != "third":
        found["NGBoost"] = ngboost
    if find_spec("quantile_forest") is not None:
        found["quantile forest"] = quantile_forest
    return found


MGCV = r"""
suppressMessages(library(mgcv))
args <- commandArgs(TRUE)
d <- read.csv(args[1]); g <- read.csv(args[2]); both <- args[4] == "both"
xs <- grep("^x", names(d), value=TRUE); many <- length(xs) > 1
f <- paste(sprintf("s(%s,k=%d)", xs, if (many) 10 else 20), collapse="+")
if ("level" %in% names(d)) {
  d$level <- factor(d$level); g$level <- factor(g$level, levels=levels(d$level))
  f <- paste(f, "+s(level,bs='re')"); many <- TRUE }
crossed <- if (length(xs) > 1) paste(f, "+ti(x0,x1)") else f
out <- NULL
fitted <- function(formula, e, ...) tryCatch(
  gam(as.formula(formula), data=e, method="REML", select=many, ...), error=function(...) NULL)
at <- function(b) if (is.null(b)) rep(NA, nrow(g)) else predict(b, g, type="response")
for (i in unique(d$set)) { e <- d[d$set == i,]
  m1 <- v1 <- rep(NA, nrow(g))
  if (both) { b1 <- tryCatch(gam(list(as.formula(paste("y ~", f)), as.formula(paste("~", f))),
                                 family=gaulss(), data=e, method="REML", select=many),
                             error=function(...) NULL)
    if (!is.null(b1)) { p <- predict(b1, g, type="response"); m1 <- p[, 1]; v1 <- 1 / p[, 2]^2 } }
  m <- gam(as.formula(paste("y ~", f)), data=e, method="REML", select=many)
  e$r2 <- pmax(residuals(m)^2, 1e-12) * nrow(e) / (nrow(e) - sum(m$edf))
  v2 <- at(fitted(paste("r2 ~", f), e, family=Gamma("log")))
  v3 <- at(fitted(paste("o2 ~", crossed), e, family=Gamma("log")))
  out <- rbind(out, data.frame(set=i, m1=m1, v1=v1, m2=at(m), v2=v2, v3=v3)) }
write.csv(out, args[3], row.names=FALSE)
"""


def mgcv(
    law: Law, data: list[tuple[Array, Array]], grid: Array, gaulss: bool
) -> dict[str, list[Array]]:
    """The statistic on the grid by mgcv's two ways, and the oracle's, for each data set.

    The oracle is a Gamma-log smooth of squared deviations from the true mean, with an interaction
    of the first two columns.
    """
    if shutil.which("Rscript") is None:
        return {}
    numbers = law.columns - (law.levels > 0)
    names = [*(f"x{c}" for c in range(numbers)), *(["level"] if law.levels else [])]
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        (place / "fit.R").write_text(MGCV)
        rows = [
            np.column_stack([np.full(y.size, t), X, y, np.maximum((y - law.mean(X)) ** 2, 1e-12)])
            for t, (X, y) in enumerate(data)
        ]
        head = ",".join(["set", *names, "y", "o2"])
        np.savetxt(place / "rows.csv", np.vstack(rows), "%.17g", ",", header=head, comments="")
        np.savetxt(place / "grid.csv", grid, "%.17g", ",", header=",".join(names), comments="")
        files = [str(place / name) for name in ("fit.R", "rows.csv", "grid.csv", "out.csv")]
        command = ["Rscript", *files, "both" if gaulss else "one"]
        subprocess.run(command, check=True, capture_output=True)
        with (place / "out.csv").open() as file:
            found = list(csv.DictReader(file))
    value = {
        name: np.array([float(r[name]) if r[name] != "NA" else np.nan for r in found]).reshape(
            len(data), -1
        )
        for name in ("m1", "v1", "m2", "v2", "v3")
    }
    out = {
        "mgcv, Gamma-log": [
            of_normal(law, *mv) for mv in zip(value["m2"], value["v2"], strict=True)
        ]
    }
    if gaulss:
        out["mgcv, gaulss"] = [
            of_normal(law, *mv) for mv in zip(value["m1"], value["v1"], strict=True)
        ]
    if law.statistic == "variance":
        out["oracle, smooth"] = list(value["v3"])
    return out
