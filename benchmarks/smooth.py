"""Smooth classes against R's mgcv and GCV splines of a plug-in, on curves of several shapes.

``python -m benchmarks.smooth --trials 20 --rows 300 1000 5000 --out smooth.csv``

The curves here are for the table only: constants were chosen on others.  mgcv (Debian's
r-cran-mgcv) runs where ``Rscript`` is found: ``gaulss()``, and a REML Gamma-log smooth of squared
residuals, with ``select=TRUE`` in several columns; the better of the two on each law is the anchor.
"""

import argparse
import csv
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from multiobs import MultiObservationRegressor
from multiobs._types import FloatArray
from multiobs.transport.spline import SplinePilot

CURVES: dict[str, Callable[[FloatArray], FloatArray]] = {
    "valley": lambda x: 0.2 + 3.0 * (x - 0.5) ** 2,
    "waves": lambda x: np.exp(0.8 * np.sin(4 * np.pi * x)),
    "step": lambda x: 0.4 + 1.2 / (1 + np.exp(-20 * (x - 0.6))),
    "line": lambda x: 0.3 + x,
}
STATISTICS = ("variance", "ucb", "minvar", "gini_mean_difference")
GRID = np.linspace(0.005, 0.995, 200)

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


@dataclass(frozen=True)
class Law:
    """A curve of the variance with normal or skewed labels around a sine."""

    curve: str
    labels: str
    rows: int

    def sample(self, rng: np.random.Generator) -> tuple[FloatArray, FloatArray]:
        """Draw x (n,) and y (n,)."""
        x = rng.uniform(size=self.rows)
        if self.labels == "normal":
            e = rng.normal(size=self.rows)
        else:
            e = (rng.gamma(2.0, size=self.rows) - 2.0) / np.sqrt(2.0)
        return x, np.sin(4 * np.pi * x) + np.sqrt(CURVES[self.curve](x)) * e

    def truth(self, statistic: str) -> FloatArray:
        """The statistic on the grid."""
        mean, spread = np.sin(4 * np.pi * GRID), np.sqrt(CURVES[self.curve](GRID))
        # Gini's mean difference of a standardised normal and of a standardised gamma(2) law
        gini = 2 / np.sqrt(np.pi) if self.labels == "normal" else 1.5 / np.sqrt(2.0)
        known = {
            "variance": spread**2,
            "ucb": mean + spread,
            "minvar": mean - gini * spread / 2,
            "gini_mean_difference": gini * spread,
        }
        return known[statistic]


def plug_in(statistic: str, x: FloatArray, y: FloatArray) -> FloatArray:
    """GCV splines of the mean and of the residuals' squares or differences, on the grid."""
    X, at = x[:, None], GRID[:, None]
    pilot = SplinePilot().fit(X, y)
    left = (y - pilot.predict(X)) / np.sqrt(pilot.residual_share(X))
    if statistic in ("variance", "ucb"):
        square = SplinePilot().fit(X, left**2).predict(at)
        if statistic == "variance":
            return square
        return pilot.predict(at) + np.sqrt(np.maximum(square, 0.0))
    order = np.argsort(x)
    middle = (x[order][1:] + x[order][:-1]) / 2
    gini = SplinePilot().fit(middle[:, None], np.abs(np.diff(left[order]))).predict(at)
    return gini if statistic == "gini_mean_difference" else pilot.predict(at) - gini / 2


def mgcv(data: Sequence[tuple[FloatArray, FloatArray]]) -> dict[str, list[FloatArray]] | None:
    """Variances on the grid by mgcv's two ways, one for each data set; None without R."""
    if shutil.which("Rscript") is None:
        return None
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        (place / "fit.R").write_text(MGCV)
        lines = ["set,x,y"]
        for t, (x, y) in enumerate(data):
            lines += [f"{t},{a!r},{b!r}" for a, b in zip(x.tolist(), y.tolist(), strict=True)]
        (place / "rows.csv").write_text("\n".join(lines))
        (place / "grid.csv").write_text("\n".join(["x", *map(repr, GRID.tolist())]))
        names = [str(place / name) for name in ("fit.R", "rows.csv", "grid.csv", "out.csv")]
        subprocess.run(["Rscript", *names], check=True, capture_output=True)
        with (place / "out.csv").open() as file:
            rows = list(csv.DictReader(file))
    found: dict[str, list[FloatArray]] = {"gaulss": [], "gamma": []}
    for name, each in found.items():
        values = np.array([float(r[name]) if r[name] != "NA" else np.nan for r in rows])
        each.extend(values.reshape(len(data), GRID.size))
    return found


def measure(law: Law, statistic: str, trials: int) -> dict[str, object]:
    """Mean squared errors over data sets of one law."""
    data = [law.sample(np.random.default_rng(7000 + t)) for t in range(trials)]
    truth = law.truth(statistic)
    model = MultiObservationRegressor(statistic, features="smooth", random_state=0)
    at = GRID[:, None]
    ours = [np.mean((model.fit(x[:, None], y).predict(at) - truth) ** 2) for x, y in data]
    gcv = [np.mean((plug_in(statistic, x, y) - truth) ** 2) for x, y in data]
    row: dict[str, object] = {
        "statistic": statistic,
        "curve": law.curve,
        "labels": law.labels,
        "rows": law.rows,
        "trials": trials,
        "smooth": f"{np.mean(ours):.5f}",
        "gcv plug-in": f"{np.mean(gcv):.5f}",
        "gaulss": "",
        "gamma-log": "",
    }
    best = float(np.mean(gcv))
    peers = mgcv(data) if statistic == "variance" else None
    if peers is not None:
        errors = {name: np.mean((np.array(v) - truth) ** 2) for name, v in peers.items()}
        row["gaulss"], row["gamma-log"] = f"{errors['gaulss']:.5f}", f"{errors['gamma']:.5f}"
        best = float(np.nanmin(list(errors.values())))
    row["ratio to the anchor"] = f"{np.mean(ours) / best:.3f}"
    return row


def main() -> None:
    """Run the table and write it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--trials", type=int, default=20)
    parser.add_argument("--rows", type=int, nargs="+", default=[300, 1000, 5000])
    parser.add_argument("--statistics", nargs="+", default=list(STATISTICS))
    parser.add_argument("--out", type=Path, required=True)
    given = parser.parse_args()
    found = []
    for statistic in given.statistics:
        for n in given.rows:
            for labels in ("normal", "gamma"):
                for curve in CURVES:
                    found.append(measure(Law(curve, labels, n), statistic, given.trials))
                    with given.out.open("w", newline="") as file:  # a long run may be cut short
                        writer = csv.DictWriter(file, list(found[0]), lineterminator="\n")
                        writer.writeheader()
                        writer.writerows(found)


if __name__ == "__main__":
    main()
