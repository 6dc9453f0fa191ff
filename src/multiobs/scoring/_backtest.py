"""Backtests of risk forecasts against one realised loss a day."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from numbers import Real
from typing import Any, Literal, final

import numpy as np
import numpy.typing as npt
from scipy import stats

from multiobs import _check, statistics
from multiobs._check.labelling import codes as group_codes
from multiobs._types import FloatArray
from multiobs.scoring._calibration import CalibrationTest, judge_held
from multiobs.scoring._compare import Comparison, compare_held, named_forecasts
from multiobs.scoring._heldout import HeldOut, checked_rows, from_tuples, order_of_chance
from multiobs.scoring._losses import LossName, fixed_loss, with_loss
from multiobs.scoring._table import Columns
from multiobs.statistics import Statistic
from multiobs.sums.contraction import LIMIT
from multiobs.tuples import Windows

Light = Literal["green", "yellow", "red"]
LIGHTS = (0.05, 0.0001)  # Basel's zones end where 5 % and 0.01 % are left


@final
@dataclass(frozen=True)
class Backtest:
    """Verdicts on series of risk forecasts; ``print`` it.

    Attributes
    ----------
    statistic : Statistic
        What was forecast.
    window : int
        How many consecutive rows the observations of a metasample come from.
    comparison : Comparison
        Scores and Diebold-Mariano tests with errors for time order.
    calibration : mapping of str to CalibrationTest
        Test of the identification function of each forecast.
    lights : mapping of str to {"green", "yellow", "red"}
        Verdict on calibration by its p-value.
    zones : mapping of str to {"green", "yellow", "red"}
        Verdict against the benchmark: significantly better, undecided, significantly worse.
    sensitivity : Columns
        Scores, ranks and verdicts for each window, as a table.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> y = rng.normal(size=400)
    >>> both = {"one": np.ones(400), "two": np.full(400, 2.0)}
    >>> found = backtest("variance", np.arange(400), y, both)
    >>> found.comparison.names[0], found.lights["two"]
    ('one', 'red')
    """

    statistic: Statistic
    window: int
    comparison: Comparison
    calibration: Mapping[str, CalibrationTest]
    lights: Mapping[str, Light]
    zones: Mapping[str, Light]
    sensitivity: Columns

    def to_frame(self) -> Any:
        """Return the verdicts as a pandas DataFrame."""
        return self._table().to_frame()

    def __str__(self) -> str:
        return f"{self._table()}\n\n{self.sensitivity}"

    def _table(self) -> Columns:
        table = self.comparison
        names = table.names
        return Columns(
            f"Backtest of {self.statistic!r}, {table.n_metasamples} metasamples within "
            f"{self.window} rows",
            {
                "forecast": list(names),
                "score": table.scores.tolist(),
                f"less {table.benchmark}": [each.difference for each in table.differences],
                "se": [each.se for each in table.differences],
                "p": [each.p for each in table.differences],
                "zone": [self.zones[name] for name in names],
                "too low by": [self.calibration[name].mean for name in names],
                "calibration p": [self.calibration[name].joint_p for name in names],
                "light": [self.lights[name] for name in names],
            },
            ("zone: against the benchmark; light and 'too low by': mean identification function",),
        )


@_check.arithmetic("y and forecasts")
def backtest(
    statistic: str | Statistic,
    time: npt.ArrayLike,
    y: npt.ArrayLike,
    forecasts: Mapping[str, npt.ArrayLike],
    window: int | None = None,
    *,
    windows: Sequence[int] | None = None,
    benchmark: str | None = None,
    loss: LossName = "default",
    side: Literal["both", "too low", "too high"] = "both",
    levels: tuple[float, float] = LIGHTS,
    bandwidth: int | None = None,
    groups: npt.ArrayLike | None = None,
) -> Backtest:
    r"""Score, compare and test series of risk forecasts against one realised loss a day.

    A statistic of m observations cannot be seen in one loss a day. Neighbours in time stand in
    for the other observations: a metasample is m of ``window`` consecutive rows, its forecast the
    mean of theirs. That is right as far as the law changes slowly in time, which the sensitivity to
    the window shows.

    Parameters
    ----------
    statistic : str or Statistic
        What was forecast, such as "variance", ``ucb(2.33)`` or ``minvar(4)``.
    time : array-like (n,)
        Numbers or dates; rows are put in this order.
    y : array-like (n,) or (n, s)
        Realised losses.
    forecasts : mapping of str to array-like (n,) or float
        Forecasts by name, each made before its day.
    window : int, optional
        Consecutive rows from which the observations of a metasample come, at least m (the
        default); the first of them belongs to every metasample.
    windows : sequence of int, optional
        Windows of the sensitivity table; by default m, m + 1, m + 3, m + 8 and m + 18.
    benchmark : str, optional
        The forecast the others have to beat; by default the one with the best score.
    loss : {"default", "squared", "gamma", "qlike", "poisson"}
        As in :func:`score`.
    side : {"both", "too low", "too high"}
        Which miscalibration turns the light: a regulator minds a risk that is too low. "both"
        tests the level and its dependence on the forecast.
    levels : pair of float
        p-values below which the light is yellow, and red.
    bandwidth : int, optional
        Lags of the Newey-West errors, at least ``window - 1``.
    groups : array-like (n,), optional
        Metasamples never cross a group (a desk, an instrument).

    Returns
    -------
    Backtest

    Notes
    -----
    The paper's remark on finance: risk measures that no loss of one observation elicits can be
    backtested by a loss of several. Zones follow Nolde and Ziegel (2017), lights the Basel
    committee's traffic light.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> day = np.arange(3000)
    >>> sd = 1 + 0.5 * np.sin(day / 250)
    >>> y = rng.normal(scale=sd)
    >>> report = backtest("variance", day, y, {"good": sd**2, "low": 0.7 * sd**2})
    >>> report.lights["good"], report.lights["low"]
    ('green', 'red')
    """
    chosen = statistics.resolve(statistic)
    with_loss(chosen, loss)
    _check.choice("side", side, ("both", "too low", "too high"))
    bounds = _check.numbers("levels", levels)
    if bounds.shape != (2,) or not 0 < bounds[1] < bounds[0] < 1:
        raise ValueError(f"levels must fall between 1 and 0, got {_check.shown(levels)}")
    yellow = float(bounds[0])
    named_forecasts("forecasts", forecasts, benchmark, "series")
    m = chosen.arity
    X, labels = checked_rows(chosen, numeric_time(time), y)
    codes = None
    if groups is not None:
        codes = group_codes("groups", groups, labels.shape[0])
    width = m if window is None else _check.integer("window", window, low=m)
    if width > X.shape[0]:
        raise ValueError(f"window must be at most the number of rows, {X.shape[0]}, got {width}")

    def judge(size: int) -> tuple[Comparison, dict[str, CalibrationTest], dict[str, Light]]:
        held = consecutive(chosen, X, labels, size, codes)
        fixed = fixed_loss(chosen, held, loss)
        table = compare_held(fixed, forecasts, benchmark, "hac", bandwidth)
        tests = {
            name: judge_held(chosen, held, held.at(values), "linear", "hac", bandwidth)
            for name, values in forecasts.items()
        }
        return table, tests, {name: _light(test, side, levels) for name, test in tests.items()}

    sizes = _windows(m, X.shape[0], windows)
    table, tests, lights = judge(width)
    zones: dict[str, Light] = {}
    for each in table.differences:
        decided = each.p < yellow
        zones[each.first] = "yellow" if not decided else "green" if each.difference < 0 else "red"
    columns: dict[str, list[Any]] = {
        key: [] for key in ("window", "forecast", "rank", "score", "too low by", "light")
    }
    for size in sizes:
        found = (table, tests, lights) if size == width else judge(size)
        for rank, name in enumerate(found[0].names):
            row = (
                size,
                name,
                rank + 1,
                float(found[0].scores[rank]),
                found[1][name].mean,
                found[2][name],
            )
            for key, value in zip(columns, row, strict=True):
                columns[key].append(value)
    return Backtest(
        chosen, width, table, tests, lights, zones, Columns("Sensitivity to the window", columns)
    )


def consecutive(
    statistic: Statistic,
    X: FloatArray,
    y: FloatArray,
    window: int,
    groups: npt.NDArray[np.int64] | None = None,
) -> HeldOut:
    """All m-subsets of ``window`` consecutive rows in order of x that contain the first."""
    n = X.shape[0]
    # rows of the same time have no order: they are shuffled
    order = order_of_chance([X, y.reshape(n, -1)], np.random.default_rng(0))
    order = order[np.argsort(X[order, 0], kind="stable")]
    ends = np.full(n, n, dtype=np.int64)
    if groups is not None:
        order = order[np.argsort(groups[order], kind="stable")]
        ends = np.searchsorted(groups[order], groups[order], side="right").astype(np.int64)
    stop = np.minimum(np.arange(n, dtype=np.int64) + window, ends)
    tuples = Windows(order, stop, statistic.arity)
    if tuples.count() > LIMIT:
        raise ValueError(
            f"window must give fewer than {LIMIT:.3g} metasamples, got {tuples.count():.3g} with "
            f"window={window}"
        )
    # Time-ordered errors need the place in the whole order, so that desks do not interleave.
    place = np.empty(n)
    place[order] = np.arange(n)
    held = from_tuples(statistic, tuples, X, y)
    return HeldOut(X if groups is None else place[:, None], y, held.members, held.weight)


def numeric_time(time: npt.ArrayLike) -> FloatArray:
    """Turn times into numbers, dates into days since the first."""
    try:
        given = np.asarray(time)
        if given.dtype.kind in "US" or (given.dtype.kind == "O" and not _real(given)):
            given = given.astype("datetime64[ns]")
    except (TypeError, ValueError):
        raise ValueError(f"time must be numbers or dates, got {_check.shown(time)}") from None
    if given.ndim != 1 or given.size == 0:
        raise ValueError(f"time must be one column, got shape {given.shape}")
    if given.dtype.kind == "M":
        if np.any(np.isnat(given)):
            raise ValueError("time must not have gaps, got a missing date")
        return np.asarray((given - given.min()) / np.timedelta64(1, "D"), dtype=np.float64)
    return _check.numbers("time", given)


def _real(values: npt.NDArray[Any]) -> bool:
    return all(isinstance(each, Real) for each in values.flat)


def _light(test: CalibrationTest, side: str, levels: tuple[float, float]) -> Light:
    if side == "both":
        p = test.joint_p
    else:
        p = float(stats.norm.sf(test.t if side == "too low" else -test.t))
    return "green" if p >= levels[0] else "yellow" if p >= levels[1] else "red"


def _windows(m: int, n: int, windows: Sequence[int] | None) -> list[int]:
    if windows is None:
        # Wide windows of long tuples are many metasamples and little news.
        extra = (0, 1, 3, 8, 18) if m <= 3 else (0, 1, 3)
        return [m + each for each in extra if m + each <= n]
    given = np.asarray(windows, dtype=object).reshape(-1).tolist()
    sizes = [_check.integer("windows", each, low=m) for each in given]
    if max(sizes, default=m) > n:
        raise ValueError(f"windows must be at most the number of rows, {n}, got {max(sizes)}")
    return sizes
