"""Scores of predictions over files: mean losses of adjacent rows, added up over ranges."""

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, final

import numpy as np

from multiobs._types import FloatArray
from multiobs.estimator import MultiObservationRegressor
from multiobs.samplers import narrowest, reach
from multiobs.scale.columns import ReadRows
from multiobs.scale.engines import Engine
from multiobs.scale.opening import Job, Ready, names, names_of, ready
from multiobs.scale.ranges import Stretch
from multiobs.scale.recipe import Encoding, anchored
from multiobs.scale.runs import Missing
from multiobs.scale.scratch import named
from multiobs.scale.work import Pass, Work
from multiobs.scoring import FixedLoss, HeldOut, level_of
from multiobs.statistics import Statistic
from multiobs.sums import enumerate_tuples, tuple_weights

SAMPLE = 1 << 16  # rows by which the reference level of a root-type loss is chosen


def score(
    model: MultiObservationRegressor,
    source: Any,
    y: str | Sequence[str],
    *,
    sample_weight: str | None = None,
    groups: str | None = None,
    missing: Missing = "refuse",
    engine: Engine = "local",
    client: Any = None,
    memory: str | float = "1GB",
    n_jobs: int | None = None,
    scratch: str | os.PathLike[str] | None = None,
) -> float:
    """Minus the mean loss of a model on adjacent rows of files of any size: larger is better.

    Minus :func:`multiobs.scoring.score` of the same rows in memory with ``transport=None``: labels
    stay where they are, since rows of many are near. No metasample crosses a category, and the
    reference level of a root-type loss (upper confidence bound) is chosen on a sample.

    Parameters
    ----------
    model : MultiObservationRegressor
        Fitted to columns with names, one of them numeric.
    source : as in :func:`multiobs.scale.fit`
        Held-out rows.
    y : str or sequence of str
        Columns of labels.
    sample_weight, groups : str, optional
        Columns of weights, and of codes that a metasample never crosses.
    missing, engine, client, memory, n_jobs, scratch
        As in :func:`multiobs.scale.fit`.

    Returns
    -------
    float

    Examples
    --------
    >>> import pyarrow as pa
    >>> from multiobs.scale import fit
    >>> rng = np.random.default_rng(0)
    >>> x = rng.uniform(size=2000)
    >>> table = pa.table({"x": x, "y": rng.normal(size=2000)})
    >>> reg = fit(table, "x", "y", transport=None, errors=False)
    >>> found = score(reg, table, "y")
    >>> from multiobs import scoring
    >>> rows = table.select(["x"]).to_pandas(), table["y"].to_numpy()
    >>> inside = scoring.score("variance", *rows, reg.predict(rows[0]), transport=None)
    >>> bool(np.isclose(found, -inside))
    True
    """
    columns = names_of(model)
    job = Job(
        source, columns, names(y), sample_weight, groups, missing, engine, client, memory, n_jobs,
        scratch, SAMPLE, 0,
    )  # fmt: skip
    with ready(job) as at:
        if len(at.how.columns.x) > 1:
            raise ValueError(
                "scale.score needs one numeric column of x, whose neighbours are the next rows, "
                f"got {len(at.how.columns.x)} ({', '.join(at.how.columns.x)}): nearest rows in "
                "several columns need one memory; score a sample with the model's own score"
            )
        return _scored(model, at, columns)


def _scored(model: MultiObservationRegressor, at: Ready, columns: tuple[str, ...]) -> float:
    statistic, rows, known = model.statistic_, at.rows, at.sample()
    sample, edges = known.rows, at.ranges(known)
    sampler = narrowest(1, statistic.arity)
    far = reach(sampler, statistic.arity)
    assert far is not None
    level = None
    labels = sample.y[:, 0] if statistic.n_columns == 1 else sample.y
    if statistic.loss.quadratic_kernels is not None:
        level = level_of(statistic.loss, sample.x, labels)
    task = LossOfRange(model, columns, at.encoding(columns), level)
    work = Work(at.folder / named(task), rows.runs, edges, rows.rows)
    plan = Built(statistic, sampler, far)
    found = work.over(Pass("losses", plan, 0, 1, task), at.executor)
    total = sum(float(part.get("loss", 0.0)) for part in found)
    weight = sum(float(part.get("weight", 0.0)) for part in found)
    if not weight > 0:
        raise ValueError(f"scoring needs at least {statistic.arity} rows near each other, got none")
    if not np.isfinite(total):
        raise ValueError("x and y must be of a size whose powers a float holds, got an overflow")
    return -total / weight


@final
@dataclass(frozen=True)
class Built:
    """Which rows go together: what a pass asks of a recipe."""

    statistic: Statistic
    sampler: Any
    reach: Any


@final
@dataclass(frozen=True)
class LossOfRange:
    """Sum the losses of the metasamples that begin in a range.

    Attributes
    ----------
    model : MultiObservationRegressor
        Whose predictions are scored.
    columns : tuple of str
        Of x, as the model knows them.
    encoding : Encoding or None
        Of matched categories.
    level : callable or None
        Reference level of a root-type loss at positions (n, 1).
    """

    model: MultiObservationRegressor
    columns: tuple[str, ...]
    encoding: Encoding | None
    level: Callable[[FloatArray], FloatArray] | None

    @np.errstate(over="ignore", invalid="ignore")  # threads have their own; the sum is looked at
    def __call__(self, plan: Built, stretch: Stretch, number: int) -> dict[str, Any]:
        """Summed loss and weight."""
        statistic, rows = plan.statistic, stretch.rows
        rng = np.random.default_rng(0)  # draws only where ties are too many to average over
        tuples = plan.sampler.build(rows.x, statistic.arity, rng, rows.key)
        labels = rows.y[:, 0] if statistic.n_columns == 1 else rows.y
        prediction = self._predicted(rows)
        level = None if self.level is None else self.level(rows.x)
        loss = weight = 0.0
        for sign, some in anchored(tuples, stretch):
            if some.count() == 0:
                continue
            for part in enumerate_tuples(some):
                given = tuple_weights(part, rows.weight)
                w = np.ones(part.count()) if given is None else given
                held = HeldOut(rows.x, labels, part.members, w)
                at = None if level is None else level[part.members].mean(axis=1)
                values = FixedLoss(statistic, held, at).values(held.at(prediction))
                loss += sign * float(w @ values)
                weight += sign * float(w.sum())
        return {"loss": loss, "weight": weight}

    def _predicted(self, rows: ReadRows) -> FloatArray:
        if self.encoding is None or rows.key is None:
            return self.model.predict(_framed({self.columns[0]: rows.x[:, 0]}))
        found = dict(self.encoding.decode(rows.key))
        numeric = [name for name in self.columns if name not in found]
        found |= {name: rows.x[:, i] for i, name in enumerate(numeric)}
        return self.model.predict(_framed({name: found[name] for name in self.columns}))


def _framed(columns: dict[str, Any]) -> Any:
    import pandas as pd

    return pd.DataFrame(columns)
