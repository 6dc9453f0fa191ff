"""The fitted statistic over each column of x, with its band and beside other methods."""

import warnings
from typing import Any

import numpy as np

from multiobs._types import FloatArray
from multiobs.report.page import Chart, Layer, LayerKind
from multiobs.report.study import Positions, Study

SHOWN = 1_500  # rows drawn as a cloud
FEWEST = 8  # rows in a bin of the figures without a model


def limits_at(study: Study, x: Positions) -> FloatArray | None:
    """Confidence limits (q, 2), or None where the class has none at a bearable cost."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the fit has said it already
        try:
            return study.model.predict_interval(
                x.frame(), level=study.level, n_bootstrap=50, clusters=study.clusters
            )
        except (ValueError, AttributeError):
            return None


def fitted_chart(study: Study, name: str, others: dict[str, Any]) -> Chart:
    """The fitted statistic over one column, the other columns held at typical values.

    Parameters
    ----------
    study : Study
        What the report is about.
    name : str
        The column.
    others : dict of str to fitted regressors
        Other methods, fitted to the expanded columns.
    """
    grid = study.x.grid(name)
    category = study.x.kinds[name] == "category"
    along = np.arange(float(grid.size)) if category else grid.columns[name]
    curve = study.model.predict(grid.frame())
    band = limits_at(study, grid)
    low, high = (None, None) if band is None else (band[:, 0], band[:, 1])
    kind: LayerKind = "points" if category else "line"
    layers = [Layer(f"fitted {study.what}", along, curve, kind, low, high)]
    for label, method in others.items():
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            values = method.predict(grid.expanded(study.x.levels))
        layers.append(Layer(label, along, values, kind, hidden=True, dashed=True))
    held = [
        f"{each} = {study.x.said(each, value)}"
        for each, value in study.x.typical().items()
        if each != name
    ]
    note = f"Band: {study.level:.0%} confidence at each point." if band is not None else ""
    if held:
        shown = ", ".join(held[:6]) + (" and so on" if len(held) > 6 else "")
        note = f"{note} The other columns are held at {shown}.".strip()
    return Chart(
        f"{study.what.capitalize()} over {name}",
        name,
        study.unit,
        layers,
        study.x.kinds[name],
        study.x.levels.get(name, ()),
        note,
        y_range=_worth_seeing(curve, band),
    )


def _worth_seeing(curve: FloatArray, band: FloatArray | None) -> tuple[float, float] | None:
    """Range of the chart: the curve and its band, unless the band explodes at an end."""
    if band is None:
        return None
    reach = max(float(np.ptp(curve)), 4 * float(np.median(band[:, 1] - band[:, 0])), 1e-300)
    low = max(float(band[:, 0].min()), float(curve.min()) - reach)
    high = min(float(band[:, 1].max()), float(curve.max()) + reach)
    return (low, high) if high > low else None


def rows_chart(study: Study, name: str) -> Chart | None:
    """The rows themselves over one column; None for labels of two columns."""
    if study.y.ndim > 1:
        return None
    n = study.x.size
    rng = np.random.default_rng(study.seed)
    some = np.sort(rng.choice(n, SHOWN, replace=False)) if n > SHOWN else np.arange(n)
    values = study.x.columns[name][some]
    if study.x.kinds[name] == "category":
        place = {level: code for code, level in enumerate(study.x.levels[name])}
        along = np.array([place[v] for v in values]) + rng.uniform(-0.3, 0.3, some.size)
    else:
        along = values
    shown = study.y[some]
    low, high = np.quantile(study.y, [0.002, 0.998])
    outside = int(np.sum((study.y < low) | (study.y > high)))
    note = f"A random {SHOWN:,} of {n:,} rows." if n > SHOWN else f"All {n:,} rows."
    if outside and n > 500 and high > low:
        note += f" {outside} rows lie outside the frame."
    return Chart(
        f"The rows: {study.y_name} over {name}",
        name,
        study.y_name,
        [Layer("rows", along, shown, "cloud", colour=5)],
        study.x.kinds[name],
        study.x.levels.get(name, ()),
        note,
        (float(low), float(high)) if outside and n > 500 and high > low else None,
    )
