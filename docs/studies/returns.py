"""Study 2: which forecast of tomorrow's variance of the S&P 500 loses less?"""

import arch.data.sp500
import arch.data.vix
import matplotlib.pyplot as plt
import numpy as np
from arch import arch_model

from docs.studies.record import BLUE, GREY, ORANGE, write_numbers, write_picture, write_table
from multiobs import MultiObservationRegressor, samplers, scoring, statistics


def load():
    """Returns in per cent, and the VIX of the evening before as a daily variance."""
    price = arch.data.sp500.load()["Adj Close"]
    vix = arch.data.vix.load()["vix"]
    returns = (100 * price.pct_change()).dropna()
    before = (vix**2 / 252).shift(1)
    common = returns.index.intersection(before.dropna().index)
    return returns.loc[common], before.loc[common], returns


def garch_forecasts(returns, test_index):
    """One day ahead, parameters from the days before the test, filtered over it."""
    model = arch_model(returns, vol="GARCH", p=1, q=1, dist="normal")
    fitted = model.fit(disp="off", last_obs=test_index[0])
    ahead = fitted.forecast(horizon=1, start=test_index[0], reindex=False, align="target")
    return ahead.variance["h.1"].reindex(test_index).to_numpy()


def p_value(p: float) -> str:
    """As it is read."""
    return "p < 0.001" if p < 0.001 else f"p = {p:.3f}"


def main() -> None:
    returns, before, everything = load()
    half = returns.size // 2
    y, x = returns.to_numpy(), before.to_numpy()[:, None]
    train, test = slice(0, half), slice(half + 1, None)
    index = returns.index[test]
    ours = MultiObservationRegressor("variance", samplers.Nearest(8)).fit(x[train], y[train])
    garch = garch_forecasts(everything, index)
    known = np.isfinite(garch)
    forecasts = {
        "multiobs, line in VIX²": ours.predict(x[test])[known],
        "GARCH(1, 1)": garch[known],
        "VIX² itself": x[test][known, 0],
        "constant": np.full(known.sum(), y[train].var()),
    }
    when = np.arange(known.sum())[:, None].astype(float)
    held = y[test][known]
    rows, scores = [], {}
    for loss in ("squared", "gamma"):
        scores[loss] = scoring.compare("variance", when, held, forecasts, errors="hac", loss=loss)
    for name in forecasts:
        row = [name, f"{forecasts[name].mean():.2f}"]
        for table in scores.values():
            best = table.names[0]
            gap = None if name == best else table.difference(name, best)
            value = table.scores[table.names.index(name)]
            row += [
                f"{value:.3f}",
                "" if gap is None else f"{gap.difference:.3f} ({p_value(gap.p)})",
            ]
        rows.append(row)
    head = ["forecast", "mean", "squared loss", "less the best", "QLIKE", "less the best"]
    write_table("returns", head, rows)
    between = scores["gamma"].difference("multiobs, line in VIX²", "GARCH(1, 1)")
    slope, error = ours.coef_[0], float(np.sqrt(ours.coef_cov_[1, 1]))
    write_numbers(
        "returns",
        {
            "days": str(y.size),
            "held": str(held.size),
            "first": f"{returns.index[0]:%B %Y}",
            "last": f"{returns.index[-1]:%B %Y}",
            "slope": f"{slope:.2f}",
            "intercept": f"{ours.intercept_:.2f}",
            "error": f"{error:.2f}",
            "qlike_p": p_value(between.p),
            "best_squared": scores["squared"].names[0],
            "best_qlike": scores["gamma"].names[0],
        },
    )

    minvar = MultiObservationRegressor(statistics.minvar(4), samplers.Nearest(20)).fit(
        x[train], y[train]
    )
    figure, axes = plt.subplots(1, 2, figsize=(9.5, 4), layout="constrained")
    day = index[known]
    axes[0].plot(day, np.abs(held), ".", ms=2, color=GREY, label="|return|")
    axes[0].plot(day, np.sqrt(forecasts["GARCH(1, 1)"]), lw=1, color=BLUE, label="GARCH(1, 1)")
    axes[0].plot(
        day, np.sqrt(forecasts["multiobs, line in VIX²"]), lw=1, color=ORANGE, label="multiobs"
    )
    axes[0].set(ylabel="per cent a day", title="forecasts of the standard deviation")
    axes[0].tick_params(axis="x", rotation=30)
    axes[0].legend(frameon=False)
    grid = np.linspace(*np.quantile(x[train], [0.01, 0.98]), 100)[:, None]
    band = ours.predict_interval(grid)
    axes[1].fill_between(grid[:, 0], *band.T, color=ORANGE, alpha=0.2, lw=0, label="95 % limits")
    axes[1].plot(grid, ours.predict(grid), color=ORANGE, lw=2, label="variance")
    axes[1].plot(grid, minvar.predict(grid), color=BLUE, lw=2, label="MINVAR of order 4")
    axes[1].plot(grid, grid, ":", color=GREY, label="variance = VIX²/252")
    axes[1].set(xlabel="VIX²/252 the evening before", title="fitted on the first half")
    axes[1].legend(frameon=False)
    write_picture("returns", figure)
