"""
Backtesting a risk forecast
===========================

A bank forecasts the upper confidence bound of tomorrow's loss, mean + 2.33 sd, and sees one loss a
day. No score of one observation judges such a forecast. A score of two does, with neighbouring
days as the other observation.
"""

# %%
# Two thousand days
# -----------------
# The spread moves slowly and jumps into a crisis; losses have heavy tails. Four desks forecast the
# bound: one knows the law, one smooths past squares, one takes the long-run average, one is
# optimistic.

import matplotlib.pyplot as plt
import numpy as np

from multiobs import plots, scoring, statistics

rng = np.random.default_rng(1)
days = 2000
time = np.datetime64("2015-01-01") + np.arange(days)
crisis = np.exp(-0.5 * ((np.arange(days) - 1300) / 120) ** 2)
sd = 1 + 0.3 * np.sin(np.arange(days) / 200) + 1.5 * crisis
loss = sd * rng.standard_t(6, size=days) / np.sqrt(6 / 4)

lam = 2.33
smooth = np.empty(days)
level = 1.0
for day in range(days):
    smooth[day] = level  # made before the day
    level = 0.97 * level + 0.03 * loss[day] ** 2
forecasts = {
    "true law": lam * sd,
    "smoothed squares": lam * np.sqrt(smooth),
    "long-run average": np.full(days, lam * np.sqrt(np.mean(sd**2))),
    "optimist": 0.8 * lam * sd,
}

# %%
# Verdicts
# --------
# *Zone*: significantly better (green) or worse (red) than the benchmark. *Light*: calibrated by the
# identification function, yellow below p = 5 %, red below 0.01 %. The long-run average is right on
# average, so its light is green, but it scores worse: calibration alone is no proof of skill. The
# second table says how far the verdicts depend on how many days count as neighbours.

report = scoring.backtest(statistics.ucb(lam), time, loss, forecasts, benchmark="smoothed squares")
print(report)

# %%

fig, ax = plt.subplots(figsize=(7, 4), layout="constrained")
ax.plot(time, loss, ".", ms=2, color="#7F7F7F", label="loss of the day")
for (name, values), colour in zip(
    forecasts.items(), ("#000000", "#0072B2", "#009E73", "#D55E00"), strict=True
):
    ax.plot(time, values, color=colour, lw=1.3, label=name)
ax.set(xlabel="day", ylabel="loss [% of the portfolio]")
ax.legend(frameon=False, fontsize="small", loc="upper left")

# %%
# The same as a picture: how far each forecast is off, and what the window does to the scores.

plots.BacktestDisplay(report).plot()

# %%
# A regulator minds only a risk that is forecast too low:

strict = scoring.backtest(statistics.ucb(lam), time, loss, forecasts, side="too low")
print(strict.lights)
plt.show()
