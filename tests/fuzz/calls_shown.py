"""Displays, and fits by parts: calls that draw or read files."""

import os
from collections.abc import Callable
from typing import Any

from fuzz.calls_rows import Call, fitted, statistic
from fuzz.values import Draw
from sklearn.linear_model import LinearRegression

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
    ]  # fmt: skip
    function, given = draw.of(*kinds)
    return lambda **given: closed(function(**given)), given


def by_parts(draw: Draw) -> Call:
    """A small file, fitted by parts."""
    draw.n, draw.d = draw.of(0, 1, 12, 30), draw.of(1, 1, 2)
    X = draw.positions()
    table = pd.DataFrame({f"x{j}": X[:, j] for j in range(draw.d)} | {"y": draw.labels()})
    path = os.path.join(os.getcwd(), "rows.parquet")
    table.to_parquet(path)
    return scale.fit, dict(
        source=draw.of(path, path, table, "no such file.parquet"),
        x=draw.of(["x0"], ["x0"], "x0", ["x9"], ["x0", "x0"]), y=draw.of("y", "y", "z"),
        statistic=draw.of("variance", "minvar"), sampler=draw.of("auto", "sliding", "naive"),
        transport=draw.of(None, "auto"), memory=draw.of("1GB", "10MB"), random_state=draw.of(0, 1),
    )  # fmt: skip


CALLS: dict[str, tuple[int, Callable[[Draw], Call]]] = {}
if plots is not None:
    CALLS["plots"] = (1, display)
if scale is not None:
    CALLS["scale.fit"] = (1, by_parts)
