"""Study 4: one flight for each place in x, against the truth that the other flights show."""

import time
import warnings

import matplotlib.pyplot as plt
import numpy as np
from ngboost import NGBRegressor
from quantile_forest import RandomForestQuantileRegressor
from sklearn.ensemble import HistGradientBoostingRegressor
from sklearn.preprocessing import SplineTransformer

from docs.studies.record import BLUE, GREEN, GREY, ORANGE, write_numbers, write_picture, write_table
from multiobs import MultiObservationRegressor, baselines
from multiobs.datasets import load_flights

SEEDS = range(20)
NORMAL_QUARTILES = 1.3489795  # between the quartiles of a standard normal law


def replicated(flights):
    """Places (origin, distance, air time) seen at least thirty times, with their true spread."""
    place = np.char.add(flights["origin"], flights["distance"].astype(str))
    names, code, count = np.unique(place, return_inverse=True, return_counts=True)
    kept = count[code] >= 30
    return code, kept, names.size


def forecasts(x, y, at):
    """Standard deviation at places (k, 1) from one row a place, by each method, with seconds."""
    curve = SplineTransformer(n_knots=4, degree=2, include_bias=False)

    def ours():
        return MultiObservationRegressor("standard_deviation").fit(x, y).predict(at)

    def line():
        """The class of the residual route: a variance that is a line, then its root."""
        found = MultiObservationRegressor("variance").fit(x, y).predict(at)
        return np.sqrt(np.maximum(found, 0))

    def bent():
        model = MultiObservationRegressor("variance", features=curve).fit(x, y)
        return np.sqrt(np.maximum(model.predict(at), 0))

    def residuals():
        return baselines.ResidualRegressor("standard_deviation").fit(x, y).predict(at)

    def boosted():
        mean = HistGradientBoostingRegressor(min_samples_leaf=10, random_state=0).fit(x, y)
        square = (y - mean.predict(x)) ** 2
        spread = HistGradientBoostingRegressor(min_samples_leaf=10, random_state=0).fit(x, square)
        return np.sqrt(np.maximum(spread.predict(at), 0))

    def forest():
        model = RandomForestQuantileRegressor(200, min_samples_leaf=5, random_state=0).fit(x, y)
        low, high = model.predict(at, quantiles=[0.25, 0.75]).T
        return (high - low) / NORMAL_QUARTILES

    def ngboost():
        model = NGBRegressor(n_estimators=200, verbose=False, random_state=0).fit(x, y)
        return model.pred_dist(at).scale

    found = {}
    named = {"multiobs, sd a line": ours, "multiobs, variance a line": line}
    named |= {"multiobs, variance a spline": bent, "squared residuals, variance a line": residuals}
    named |= {"boosting twice": boosted, "quantile forest": forest, "NGBoost": ngboost}
    for name, method in named.items():
        start = time.perf_counter()
        with warnings.catch_warnings():  # a line or spline below zero at an end; the floor is zero
            warnings.simplefilter("ignore", UserWarning)
            found[name] = method(), time.perf_counter() - start
    return found


def main() -> None:
    flights = load_flights()
    code, kept, _ = replicated(flights)
    distance = flights["distance"].astype(float)
    air = flights["air_time"].astype(float)
    kept &= distance < 3000  # Honolulu is an island here too: two places far from all others
    codes = np.unique(code[kept])
    truth = np.array([air[code == c].std(ddof=1) for c in codes])
    at = np.array([distance[code == c][0] for c in codes])[:, None]
    errors, seconds = {}, {}
    for seed in SEEDS:
        rng = np.random.default_rng(seed)
        one = np.array([rng.choice(np.flatnonzero(code == c)) for c in codes])
        estimates = forecasts(at, air[one], at)
        for name, (prediction, took) in estimates.items():
            errors.setdefault(name, []).append(np.sqrt(np.mean((prediction - truth) ** 2)))
            seconds.setdefault(name, []).append(took)
        if seed == 0:
            first, shown = one, estimates
    constant = np.sqrt(np.mean((truth - truth.mean()) ** 2))
    rows = []
    for name, values in sorted(errors.items(), key=lambda item: np.median(item[1])):
        low, middle, high = np.percentile(values, [25, 50, 75])
        took = np.median(seconds[name])
        rows.append([name, f"{middle:.2f}", f"{low:.2f} to {high:.2f}", f"{took:.2f}"])
    rows.append(["the best constant, with hindsight", f"{constant:.2f}", "", ""])
    head = ["method", "root mean squared error (minutes)", "quartiles over 20 draws", "seconds"]
    write_table("flights", head, rows)
    same, peer = "multiobs, variance a line", "squared residuals, variance a line"
    better = np.mean(np.array(errors[same]) < np.array(errors[peer]))
    write_numbers(
        "flights",
        {
            "places": str(codes.size),
            "flights": f"{int(kept.sum()):,}",
            "best": rows[0][0],
            "best_error": rows[0][1],
            "line_error": f"{np.median(errors[same]):.2f}",
            "residual_error": f"{np.median(errors[peer]):.2f}",
            "forest_error": f"{np.median(errors['quantile forest']):.2f}",
            "share": f"{better:.0%}",
            "constant": f"{constant:.2f}",
        },
    )
    figure, axes = plt.subplots(1, 2, figsize=(9.5, 4), layout="constrained")
    axes[0].plot(at, air[first], "o", ms=3, color=BLUE, mew=0, label="one flight a place")
    axes[0].set(xlabel="distance (miles)", ylabel="air time (minutes)", title="what a method sees")
    order = np.argsort(at[:, 0])
    axes[1].plot(
        at, truth, "o", ms=3, color=GREY, mew=0, label="truth, from all flights of a place"
    )
    colours = {same: ORANGE, peer: GREEN, "quantile forest": BLUE}
    for name, colour in colours.items():
        axes[1].plot(at[order], shown[name][0][order], color=colour, lw=1.6, label=name)
    axes[1].set(xlabel="distance (miles)", ylabel="sd of air time (minutes)", ylim=(0, 35))
    axes[1].legend(frameon=False, loc="upper left")
    write_picture("flights", figure)
