"""What fits, scores and pooled observations share: open a source, sort its rows, clean up."""

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, final

import numpy as np

from multiobs import _check
from multiobs.estimator import MultiObservationRegressor
from multiobs.scale import budget
from multiobs.scale.choosing import Sample
from multiobs.scale.engines import Engine, engine_of
from multiobs.scale.executors import Executor
from multiobs.scale.matching import encoding_of
from multiobs.scale.ranges import Range, cut
from multiobs.scale.recipe import Encoding
from multiobs.scale.runs import Missing
from multiobs.scale.scratch import opened, scratch_folder
from multiobs.scale.sorting import Reading, SortedSource, columns_of, sort_source
from multiobs.scale.sources import open_source
from multiobs.scale.storage import Place, staging


@final
@dataclass(frozen=True)
class Job:
    """Which rows are read, who works and where; as in :func:`multiobs.scale.fit`."""

    source: Any
    x: tuple[str, ...]
    y: tuple[str, ...]
    sample_weight: str | None
    groups: str | None
    missing: Missing
    engine: Engine
    client: Any
    memory: str | float
    n_jobs: int | None
    scratch: str | os.PathLike[str] | None
    sample_rows: int
    random_state: int
    keep: bool = False

    @property
    def bytes(self) -> int:
        """What the parts at work may take together."""
        return budget.bytes_of(self.memory)

    @property
    def most(self) -> int:
        """Rows of a part."""
        return budget.rows_at_once(self.bytes, len(self.x) + len(self.y))


@final
@dataclass(frozen=True)
class Ready:
    """Sorted rows and who works.

    Attributes
    ----------
    how : Reading
        What was read.
    rows : SortedSource
        The rows.
    folder : Place
        Where finished parts are kept.
    executor : Executor
        Who works.
    """

    how: Reading
    rows: SortedSource
    folder: Place
    executor: Executor

    def sample(self) -> Sample:
        """Return a sample of the rows, and what is known of the others."""
        layout, rows = self.how.layout(), self.rows
        at = int(layout.keyed)
        own = layout.unpack(rows.sample)
        return Sample(own, rows.rows, rows.low[at:], rows.high[at:], rows.members)

    def ranges(self, sample: Sample, count: int | None = None) -> tuple[Range, ...]:
        """Cut one column of x into ranges; without a count one for each run or for the memory."""
        own = sample.rows
        keys = np.zeros(own.size) if own.key is None else own.key.astype(np.float64)
        wanted = count or max(len(self.rows.runs), -(-self.rows.rows // self.how.most))
        return cut(keys, own.x[:, 0], wanted)

    def encoding(self, columns: tuple[str, ...]) -> Encoding | None:
        """How categories among columns of x are matched."""
        return encoding_of(self.how.columns, self.rows.levels, columns)


def names(columns: str | Sequence[str]) -> tuple[str, ...]:
    """One name or several as a tuple."""
    given = [columns] if isinstance(columns, str) else columns
    if not isinstance(given, list | tuple) or not all(isinstance(each, str) for each in given):
        raise TypeError(f"x and y must be names of columns, got {_check.shown(columns)}")
    return tuple(given)


def names_of(model: Any) -> tuple[str, ...]:
    """Return the columns a model was fitted to, or refuse it."""
    if not isinstance(model, MultiObservationRegressor):
        raise TypeError(f"model must be a MultiObservationRegressor, got {_check.shown(model)}")
    found = vars(model).get("feature_names_in_")
    if found is None:
        raise ValueError(f"model must be fitted to columns with names, got {_check.shown(model)}")
    return tuple(str(name) for name in found)


@contextmanager
def ready(job: Job, replicated: bool = False) -> Iterator[Ready]:
    """Open the source, sort its rows, and remove everything when all went well.

    Parameters
    ----------
    job : Job
        What is read.
    replicated : bool
        Whether several columns of y are labels at the same x.
    """
    _check.choice("missing", job.missing, ("refuse", "drop"))
    above = scratch_folder(job.scratch)
    most = job.most
    with (
        open_source(job.source, most, staging(above)) as found,
        engine_of(job.engine, job.client, job.n_jobs) as executor,
    ):
        columns = columns_of(found, job.x, job.y, job.sample_weight, job.groups)
        how = Reading(columns, job.missing, replicated, most, job.sample_rows, job.random_state)
        with opened(above, how.name(found), job.keep) as folder:
            rows = sort_source(found, how, folder, executor)
            yield Ready(how, rows, folder, executor)
