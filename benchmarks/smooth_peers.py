"""Peers of the smooth class: R's mgcv for the variance, GCV splines of plug-ins for the rest.

The plug-ins take residuals from a GCV spline of the mean, corrected for its degrees of freedom:

* ``squares``: a GCV spline of the squared residuals; Gini's mean difference is then that of the
  standardised residuals times the root;
* ``sizes``: the same with absolute residuals, which skewed labels disturb less;
* ``neighbours``: a GCV spline of absolute differences of adjacent residuals (halves of squared ones
  for the variance), which takes no two rows for draws of one shape.
"""

import csv
import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from multiobs._types import FloatArray
from multiobs.transport.spline import SplinePilot

PLUG_INS = ("squares", "sizes", "neighbours")
MGCV = r"""
suppressMessages(library(mgcv))
args <- commandArgs(TRUE)
d <- read.csv(args[1]); g <- read.csv(args[2])
xs <- grep("^x", names(d), value=TRUE); many <- length(xs) > 1
f <- paste(sprintf("s(%s,k=%d)", xs, if (many) 10 else 20), collapse="+")
out <- NULL
for (i in unique(d$set)) { e <- d[d$set == i,]
  both <- list(as.formula(paste("y ~", f)), as.formula(paste("~", f)))
  b1 <- tryCatch(gam(both, family=gaulss(), data=e, method="REML", select=many),
                 error=function(...) NULL)
  v1 <- if (is.null(b1)) rep(NA, nrow(g)) else 1 / predict(b1, g, type="response")[, 2]^2
  m <- gam(as.formula(paste("y ~", f)), data=e, method="REML", select=many)
  e$r2 <- pmax(residuals(m)^2, 1e-12) * nrow(e) / (nrow(e) - sum(m$edf))
  b2 <- gam(as.formula(paste("r2 ~", f)), family=Gamma("log"), data=e, method="REML", select=many)
  out <- rbind(out, data.frame(set=i, gaulss=v1, gamma=predict(b2, g, type="response"))) }
write.csv(out, args[3], row.names=FALSE)
"""


def mgcv(
    data: Sequence[tuple[FloatArray, FloatArray]], at: FloatArray
) -> dict[str, list[FloatArray]] | None:
    """Variances at positions by mgcv's two ways, one for each data set; None without R."""
    if shutil.which("Rscript") is None:
        return None
    names = [f"x{j}" for j in range(at.shape[1])]
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        (place / "fit.R").write_text(MGCV)
        lines = [",".join(["set", *names, "y"])]
        for t, (X, y) in enumerate(data):
            lines += [",".join(map(repr, [t, *row])) for row in np.column_stack([X, y]).tolist()]
        (place / "rows.csv").write_text("\n".join(lines))
        lines = [",".join(names), *(",".join(map(repr, row)) for row in at.tolist())]
        (place / "grid.csv").write_text("\n".join(lines))
        files = [str(place / name) for name in ("fit.R", "rows.csv", "grid.csv", "out.csv")]
        subprocess.run(["Rscript", *files], check=True, capture_output=True)
        with (place / "out.csv").open() as file:
            rows = list(csv.DictReader(file))
    found: dict[str, list[FloatArray]] = {}
    for name, column in (("gaulss", "gaulss"), ("gamma-log", "gamma")):
        values = np.array([float(r[column]) if r[column] != "NA" else np.nan for r in rows])
        found[name] = list(values.reshape(len(data), at.shape[0]))
    return found


def plug_in(name: str, statistic: str, X: FloatArray, y: FloatArray, at: FloatArray) -> FloatArray:
    """The statistic at positions (q, 1) by a plug-in, (q,)."""
    pilot = SplinePilot().fit(X, y)
    left = (y - pilot.predict(X)) / np.sqrt(pilot.residual_share(X))
    wanted = "variance" if statistic in ("variance", "ucb") else "gini"
    if name == "neighbours":
        order = np.argsort(X[:, 0])
        middle = (X[order[1:]] + X[order[:-1]]) / 2
        gap = np.abs(np.diff(left[order]))
        spread = SplinePilot().fit(middle, gap**2 / 2 if wanted == "variance" else gap)
        found = spread.predict(at)
    else:
        found = _scaled(name, wanted, X, left, at)
    if statistic == "ucb":
        return pilot.predict(at) + np.sqrt(np.maximum(found, 0.0))
    return pilot.predict(at) - found / 2 if statistic == "minvar" else found


def _scaled(name: str, wanted: str, X: FloatArray, left: FloatArray, at: FloatArray) -> FloatArray:
    """A spline of powers of residuals, and the labels taken for one law of many sizes."""
    power = 2.0 if name == "squares" else 1.0
    spline = SplinePilot().fit(X, np.abs(left) ** power)
    here, there = (np.maximum(spline.predict(x), 1e-3) ** (1 / power) for x in (X, at))
    shape = left / here
    if wanted == "variance":
        return np.asarray(there**2 * np.mean(shape**2))
    n = shape.size
    gini = 2 * np.sum((2 * np.arange(1, n + 1) - n - 1) * np.sort(shape)) / (n * (n - 1))
    return np.asarray(there * gini)
