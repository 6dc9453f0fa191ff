"""Predictions for files of any size: a batch in, a batch out."""

import os
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from multiobs._files import beside
from multiobs.estimator import MultiObservationRegressor
from multiobs.scale.opening import names_of
from multiobs.scale.sources import BATCH, open_source


def predict(
    model: MultiObservationRegressor,
    source: Any,
    out: str | os.PathLike[str],
    *,
    level: float | None = None,
) -> int:
    """Write the columns of x with the predicted statistic to a Parquet file, a batch at a time.

    Parameters
    ----------
    model : MultiObservationRegressor
        Fitted to columns with names, as by :func:`multiobs.scale.fit`.
    source : as in :func:`multiobs.scale.fit`
        Holds the columns of x.
    out : path-like
        The file to write: the columns of x, ``prediction``, and with a level also ``lower`` and
        ``upper``, in the order of the rows.
    level : float, optional
        Nominal coverage of the confidence limits.

    Returns
    -------
    int
        How many rows were written.

    Examples
    --------
    >>> import pyarrow as pa, pyarrow.parquet
    >>> from multiobs.scale import fit
    >>> rng = np.random.default_rng(0)
    >>> table = pa.table({"x": rng.uniform(size=500), "y": rng.normal(size=500)})
    >>> reg = fit(table, x="x", y="y")
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     predict(reg, table, Path(folder) / "out.parquet", level=0.9)
    ...     pa.parquet.read_table(Path(folder) / "out.parquet").column_names
    500
    ['x', 'prediction', 'lower', 'upper']
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    names = list(names_of(model))
    written, writer = 0, None
    here = Path(tempfile.gettempdir())
    with beside(out) as temporary, open_source(source, BATCH, here) as found:
        try:
            for part in found.parts:
                for batch in part.batches(names):
                    table = _predicted(model, pa.Table.from_batches([batch]).select(names), level)
                    if writer is None:
                        writer = pq.ParquetWriter(temporary, table.schema)
                    writer.write_table(table.cast(writer.schema))
                    written += table.num_rows
        finally:
            if writer is not None:
                writer.close()
        if writer is None:
            raise ValueError("the source must hold rows, got none")
    return written


def _predicted(model: MultiObservationRegressor, table: Any, level: float | None) -> Any:
    """Return the table with columns for what the model says about its rows."""
    import pyarrow as pa

    frame = table.to_pandas()
    found = table.append_column("prediction", pa.array(model.predict(frame)))
    if level is None:
        return found
    limits = np.asarray(model.predict_interval(frame, level=level))
    found = found.append_column("lower", pa.array(limits[:, 0]))
    return found.append_column("upper", pa.array(limits[:, 1]))
