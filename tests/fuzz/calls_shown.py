"""Displays, reports, fits by parts, plans on disk: calls that draw or use files."""

import functools
import os
from collections.abc import Callable
from typing import Any

import numpy as np
from fuzz.calls_rows import Call, fitted, statistic
from fuzz.values import Draw
from sklearn.linear_model import LinearRegression

from multiobs import MultiObservationRegressor, planning, report

try:
    import matplotlib

    matplotlib.use("agg")
    from multiobs import plots
except ImportError:
    plots = None
try:
    import pandas as pd
    import pyarrow  # noqa: F401  (Parquet files)

    from multiobs import scale
except ImportError:
    scale = None


def closed(made: Any) -> Any:
    """The display without the figure it drew."""
    from matplotlib import pyplot

    pyplot.close("all")
    return type(made).__name__


def display(draw: Draw) -> Call:
    kind = draw.random.randrange(27)
    draw.d = 1 + kind % 3
    draw.n = draw.of(0, 2, 8, 20)
    model = draw.of(fitted(kind), fitted(kind), fitted(kind), LinearRegression())
    common = dict(X=draw.X(), y=draw.y(), ax=None)
    kinds: list[tuple[Any, dict[str, Any]]] = [
        (plots.FittedStatisticDisplay.from_estimator,
         dict(estimator=model, **common, feature=draw.of(0, 0, "c0", 7),
          level=draw.of(0.95, None))),
        (plots.FittedStatisticDisplay.from_predictions,
         dict(statistic=statistic(draw), **common, prediction=draw.prediction(), band=None)),
        (plots.ReliabilityDisplay.from_predictions,
         dict(statistic=statistic(draw), **common, prediction=draw.prediction(), n_bins=3)),
        (plots.ReliabilityDisplay.from_estimator, dict(estimator=model, **common, n_bins=3)),
        (plots.MurphyDisplay.from_predictions,
         dict(statistic=statistic(draw), **common, predictions={"a": 1.0, "b": 2.0})),
        (plots.MetasamplesDisplay.from_data,
         dict(**common, statistic=statistic(draw), sampler="auto", max_tuples=9)),
        (plots.DriftBiasDisplay.from_data, dict(statistic=statistic(draw), **common)),
        (plots.CoefficientDisplay.from_estimator,
         dict(estimator=model, names=draw.of(None, ["a"]), level=0.9)),
        (plots.PartialEffectsDisplay.from_estimator, dict(estimator=model, level=0.9, n_points=4)),
        (plots.BacktestDisplay.from_predictions,
         dict(statistic=statistic(draw), time=draw.dressed(np.arange(float(draw.n))), y=draw.y(),
          forecasts={"a": draw.prediction(), "b": 1.0}, window=draw.of(None, 5))),
        (plots.EpsilonPathDisplay.from_estimator,
         dict(estimator=draw.of(MultiObservationRegressor(transport=None), model), **common,
          epsilons=draw.of([0.1, 0.5], [], [-1.0]), at=draw.of(None, [[0.5]]), cv=draw.of(2, 1))),
    ]  # fmt: skip
    function, given = draw.of(*kinds)
    return lambda **given: closed(function(**given)), given


def rows_file(draw: Draw) -> tuple[str, Any]:
    """A small file and the frame in it."""
    draw.n, draw.d = draw.of(0, 1, 12, 30), draw.of(1, 1, 2)
    X = draw.positions()
    table = pd.DataFrame({f"x{j}": X[:, j] for j in range(draw.d)} | {"y": draw.labels()})
    path = os.path.join(os.getcwd(), "rows.parquet")
    table.to_parquet(path)
    return path, table


def by_parts(draw: Draw) -> Call:
    """A small file, fitted or pooled by parts."""
    path, table = rows_file(draw)
    given = dict(
        source=draw.of(path, path, table, "no such file.parquet"),
        x=draw.of(["x0"], ["x0"], "x0", ["x9"], ["x0", "x0"]), y=draw.of("y", "y", "z"),
        statistic=draw.of("variance", "minvar"), sampler=draw.of("auto", "sliding", "naive"),
        transport=draw.of(None, "auto"), memory=draw.of("1GB", "10MB"), random_state=draw.of(0, 1),
    )  # fmt: skip
    if draw.chance(0.7):
        return scale.fit, given
    return scale.pool, given | {"out": draw.of("pooled.parquet", "no/such/folder/pooled.parquet")}


@functools.cache
def fitted_to_a_frame() -> Any:
    rng = np.random.default_rng(0)
    x = pd.DataFrame({"x0": rng.random(40)})
    return MultiObservationRegressor(transport=None).fit(x, rng.normal(size=40))


def asked_by_parts(draw: Draw) -> Call:
    """A small file, and what a model says about it."""
    path, table = rows_file(draw)
    good = fitted_to_a_frame()
    given = dict(
        model=draw.of(good, good, good, fitted(0), fitted(29), LinearRegression()),
        source=draw.of(path, path, table, "no such file.parquet"),
    )  # fmt: skip
    if draw.chance(0.5):
        return scale.score, given | {"y": draw.of("y", "y", "z"), "missing": "refuse"}
    return scale.predict, given | {
        "out": draw.of("said.parquet", "no/such/folder/said.parquet"), "level": draw.of(None, 0.9),
    }  # fmt: skip


def plan_file(draw: Draw) -> Call:
    """A plan that comes back from its file, and files that hold no plan."""
    draw.n, draw.d = draw.of(12, 30), draw.of(1, 2)
    rng = np.random.default_rng(0)

    def there_and_back(path: Any, overwrite: Any, statistic: Any, rows: Any, labels: Any) -> Any:
        plan = planning.LabelPlan.from_pool(
            np.random.default_rng(1).random((30, 2)), "variance", budget=8, rng=rng
        )
        plan.save(path, overwrite=overwrite)
        asked = plan.ask(2)
        plan.record(asked if rows is None else rows, labels)
        again = planning.LabelPlan.load(path, statistic=statistic)
        assert np.array_equal(again.labels, plan.labels, equal_nan=True)
        return again.n_labelled

    if draw.chance(0.6):
        return there_and_back, dict(
            path=draw.of("plan.npz", "plan.npz", "no/such/folder/plan.npz"),
            overwrite=draw.of(True, True, False), statistic=None,
            rows=draw.of(None, None, [0, 1]), labels=draw.of([1.0, 2.0], [0.0], [np.nan, 1.0]),
        )  # fmt: skip
    plan = planning.LabelPlan.from_pool(rng.random((30, 1)), "variance", budget=8, rng=rng)
    plan.save("damaged.npz", overwrite=True)
    with open("damaged.npz", "rb+") as file:
        data = bytearray(file.read())
        for _ in range(draw.of(0, 1, 3, 20)):
            data[draw.random.randrange(len(data))] = draw.random.randrange(256)
        file.seek(0)
        file.write(data[: draw.of(len(data), len(data), len(data) // 2, 0)])
        file.truncate()

    def damaged(path: Any) -> Any:
        return planning.LabelPlan.load(path).n_labelled

    return damaged, dict(path="damaged.npz")


def study(draw: Draw) -> Call:
    """What a report is made of, and one in twenty built to its end."""
    draw.n = draw.of(30, 30, 30, 8, 0)
    built = draw.chance(0.05)

    def call(columns: Any, kinds: Any, **given: Any) -> Any:
        made = report.Study(x=report.Positions(columns, kinds), **given)
        assert isinstance(made.unit, str)
        return report.render(report.build(made)) if built else made.x.size

    return call, dict(
        columns=draw.of({"x": draw.rng.random(draw.n)}, {"x": draw.rng.random(30)}, {}),
        kinds=draw.of({"x": "number"}, {"x": "number"}, {"x": "category"}, {"x": "text"}, {}),
        model=draw.of(fitted(0), fitted(0), fitted(29), LinearRegression()),
        y=draw.of(draw.rng.normal(size=draw.n), draw.y()),
        weights=draw.of(None, None, np.ones(draw.n)), groups=draw.of(None, None, draw.groups()),
        level=draw.of(0.95, 0.5), seed=draw.of(0, 1),
    )  # fmt: skip


def page(draw: Draw) -> Call:
    n = draw.of(0, 1, 9)
    kind = draw.of("line", "points", "cloud")
    layer = report.Layer("a", draw.rng.random(n), draw.rng.random(n), kind)
    section = report.Section("Found", charts=(report.Chart("A chart", "x", "y", (layer,)),))

    def call(**given: Any) -> Any:
        return report.render(report.Page(**given))

    return draw.of(
        (call, dict(title="A title", lead=draw.of("", "<b>"), sections=(section,))),
        (report.render, dict(page=report.Page("A", "B"))),
    )


CALLS: dict[str, tuple[float, Callable[[Draw], Call]]] = {
    "planning.LabelPlan files": (1, plan_file),
    "report.Study": (0.5, study),
    "report.render": (0.5, page),
}
if plots is not None:
    CALLS["plots"] = (1, display)
if scale is not None:
    CALLS["scale.fit"] = (1, by_parts)
    CALLS["scale.score, scale.predict"] = (0.5, asked_by_parts)
