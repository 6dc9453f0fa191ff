"""The fitted statistic over the first column of x, drawn in letters."""

from typing import Any

from multiobs.cli.columns import FileRows
from multiobs.cli.picture import picture
from multiobs.report import Positions


def drawn(model: Any, rows: FileRows, level: float, clusters: Any = None) -> str:
    """Return a picture of the fit.

    Parameters
    ----------
    model : MultiObservationRegressor
        Fitted to the rows.
    rows : Rows
        For the range of x and typical values of the other columns.
    level : float
        Coverage of the band.
    clusters : array, "serial" or None
        Which rows depend on each other.
    """
    x = Positions({name: rows.X[name].to_numpy() for name in rows.X.columns}, rows.kinds)
    numeric = [name for name, kind in rows.kinds.items() if kind != "category"]
    name = numeric[0] if numeric else next(iter(rows.kinds))
    grid = x.grid(name, 60)
    frame = type(rows.X)(grid.columns)
    curve = model.predict(frame)
    band = None
    if model.estimator is None:  # a bootstrap would take minutes
        band = model.predict_interval(frame, level=level, clusters=clusters)
    what = model.statistic_.name.replace("_", " ")
    others = [f"{k} = {x.said(k, v)}" for k, v in x.typical().items() if k != name]
    held = f", at {', '.join(others[:4])}" if others else ""
    title = f"{what} over {name}{held}" + ("" if band is None else f" (░ {level:.0%} confidence)")
    if name not in numeric:
        lines = []
        for i, text in enumerate(grid.columns[name]):
            limits = "" if band is None else f"  ({band[i, 0]:.4g} to {band[i, 1]:.4g})"
            lines.append(f"  {text}: {curve[i]:.4g}{limits}")
        return "\n".join([title, *lines])
    along = grid.columns[name]
    if not along[-1] > along[0]:
        return f"{title}: {curve[0]:.4g}"
    return f"{title}\n" + picture(along, curve, band, label=lambda v: x.said(name, v))
