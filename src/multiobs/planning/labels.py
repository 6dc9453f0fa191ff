"""Pool-based active learning: which rows to label, and what to do with the labels as they come."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Literal, final

import numpy as np
import numpy.typing as npt

from multiobs import _check, statistics
from multiobs._files import locked
from multiobs._types import BoolArray, FloatArray, IntArray
from multiobs.estimator.regressor import MultiObservationRegressor
from multiobs.planning.inputs import read_labels, read_path
from multiobs.planning.selection import Selection, select, wanted
from multiobs.planning.store import PlanState, present, read_plan, write_plan
from multiobs.statistics import Statistic


@final
class LabelPlan:
    r"""Which rows of an unlabelled pool to label so that n metasamples of m labels form.

    Anchors are drawn at random from the pool; each is given m other rows within epsilon of it, no
    row twice (Algorithms 1 and 2 of the paper, which never look at a label). Only those rows are
    labelled: the label complexity is exactly n m, and every label is used in one metasample.

    A plan is made by :meth:`from_pool` or :meth:`load`. Once saved it belongs to its file:
    :meth:`ask` and :meth:`record` hold the file alone, begin with what it says, and return only
    when it holds what they did. Any number of programs may share one file: no row is handed out
    to two of them, and no label is lost.

    Attributes
    ----------
    statistic : Statistic
    selection : Selection
        The rows chosen, with their x and distances.
    labels : array of shape (n, m) or (n, m, s)
        NaN where the label is still missing.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> X = rng.random((1000, 1))
    >>> plan = LabelPlan.from_pool(X, "variance", budget=40, rng=rng)
    >>> plan.n_metasamples, plan.arity, plan.label_complexity
    (20, 2, 40)
    >>> rows = plan.ask(30)
    >>> plan.record(rows[::-1], np.sin(rows[::-1]))
    >>> plan.n_labelled, plan.n_complete, plan.missing.size, plan.outstanding.size
    (30, 15, 10, 0)
    """

    def __init__(self, statistic: Statistic, selection: Selection) -> None:
        self.statistic = statistic
        self.selection = selection
        members = selection.members
        columns = () if statistic.n_columns == 1 else (statistic.n_columns,)
        self.labels: FloatArray = np.full((*members.shape, *columns), np.nan)
        self._asked: BoolArray = np.zeros(members.shape, dtype=np.bool_)
        self._place: dict[int, int] | None = None
        self.path: str | None = None

    @classmethod
    def from_pool(
        cls,
        X: npt.ArrayLike,
        statistic: str | Statistic = "variance",
        *,
        budget: int | None = None,
        n_metasamples: int | None = None,
        algorithm: Literal["improved", "naive"] = "improved",
        epsilon: float | Literal["paper"] = "paper",
        scale: Literal["range", "none"] = "range",
        shortfall: Literal["raise", "fewer"] = "raise",
        rng: np.random.Generator,
    ) -> "LabelPlan":
        r"""Choose the rows to label.

        Parameters
        ----------
        X : array_like of shape (N,) or (N, d)
            The pool, unlabelled.
        statistic : str or Statistic
            What will be estimated; its arity is m.
        budget : int, optional
            Labels that may be bought; n = budget // m. Give this or ``n_metasamples``.
        n_metasamples : int, optional
            The number n itself.
        algorithm : {"improved", "naive"}
            One assignment over the whole pool, which makes the most of it (Algorithm 2), or
            separate candidates for each anchor (Algorithm 1).
        epsilon : float or "paper"
            Largest distance of a member to its anchor; "paper" is Theorem 1's :math:`1/\sqrt n`.
        scale : {"range", "none"}
            Measure distances after mapping each column to [0, 1], where the theorems live, or in
            the units of X.
        shortfall : {"raise", "fewer"}
            What to do when some anchor has not enough rows within epsilon: refuse, or plan fewer
            metasamples (the anchors then favour places where the pool is dense, as in the paper's
            own search for the largest n).

        Returns
        -------
        LabelPlan
        """
        chosen = statistics.resolve(statistic)
        n = wanted(budget, n_metasamples, chosen.arity)
        return cls(
            chosen,
            select(
                X,
                chosen.arity,
                n,
                algorithm=algorithm,
                epsilon=epsilon,
                scale=scale,
                shortfall=shortfall,
                rng=rng,
            ),
        )

    @property
    def anchors(self) -> IntArray:
        """Pool rows whose x represent the metasamples, shape (n,)."""
        return self.selection.anchors

    @property
    def members(self) -> IntArray:
        """Pool rows to label, shape (n, m)."""
        return self.selection.members

    @property
    def n_metasamples(self) -> int:
        """How many metasamples the plan forms."""
        return int(self.members.shape[0])

    @property
    def arity(self) -> int:
        """How many labels a metasample has."""
        return int(self.members.shape[1])

    @property
    def label_complexity(self) -> int:
        """How many labels the whole plan buys: n m, exactly."""
        return int(self.members.size)

    @property
    def queries(self) -> IntArray:
        """All pool rows to label, metasample by metasample, each once."""
        return self.members.reshape(-1)

    @property
    def _labelled(self) -> BoolArray:
        return present(self.labels, self._asked)

    @property
    def n_labelled(self) -> int:
        """How many labels have come in."""
        return int(self._labelled.sum())

    @property
    def complete(self) -> BoolArray:
        """Which metasamples have all their labels, shape (n,)."""
        return np.asarray(self._labelled.all(axis=1))

    @property
    def n_complete(self) -> int:
        """How many metasamples have all their labels."""
        return int(self.complete.sum())

    @property
    def missing(self) -> IntArray:
        """Rows whose label has not come in, in the order of ``queries``."""
        return self.members[~self._labelled]

    @property
    def outstanding(self) -> IntArray:
        """Rows that were asked for and not answered."""
        return self.members[self._asked & ~self._labelled]

    def ask(self, count: int | None = None) -> IntArray:
        """Hand out the next rows to label; no row is ever handed out twice.

        Parameters
        ----------
        count : int, optional
            At most so many rows; all that are left by default.

        Returns
        -------
        array of int
            Pool rows, those of one metasample together; empty when everything was asked.
            Rows handed out and not yet answered are ``outstanding``.
        """
        most = None if count is None else _check.integer("count", count, low=0)
        with self._held() as (labels, asked):
            fresh = np.flatnonzero(~(asked | present(labels, asked)).reshape(-1))[:most]
            asked.reshape(-1)[fresh] = True
        return self.queries[fresh]

    def record(self, rows: npt.ArrayLike, labels: npt.ArrayLike) -> None:
        """Take labels in, in any order, whether asked for through :meth:`ask` or not.

        Nothing is taken in unless everything is in order. The same label for a row may come
        again; another label for it may not.

        Parameters
        ----------
        rows : array_like of int, shape (k,)
            Pool rows of the plan.
        labels : array_like of shape (k,) or (k, s)
        """
        which, values = read_labels(rows, labels, self.statistic.n_columns)
        places = self._places(which)
        order = np.argsort(places, kind="stable")
        again = np.flatnonzero(np.diff(places[order]) == 0)
        with self._held() as (known, _):
            flat = known.reshape(self.members.size, -1)
            old = flat[places]
            clash = ~np.isnan(old[:, 0]) & (old != values).any(axis=1)
            clash[order[again + 1]] |= (values[order[again]] != values[order[again + 1]]).any(
                axis=1
            )
            if clash.any():
                raise ValueError(f"a row has one label, got another one for row {which[clash][0]}")
            flat[places] = values

    def _places(self, rows: npt.NDArray[Any]) -> IntArray:
        if self._place is None:
            self._place = {row: place for place, row in enumerate(self.queries.tolist())}
        try:
            places = [self._place[row] for row in rows.tolist()]
        except KeyError as missing:
            raise ValueError(f"rows must belong to the plan, got row {missing.args[0]}") from None
        return np.array(places, dtype=np.int64)

    def metasamples(self) -> tuple[FloatArray, FloatArray]:
        """Return x (k, d) of the anchors and labels (k, m) of the k complete metasamples."""
        full = self.complete
        return self.selection.x_anchors[full], self.labels[full]

    def labelled(self) -> tuple[FloatArray, FloatArray]:
        """Return x (k, d) and labels of every labelled row, complete metasample or not.

        Any estimator may use them; the default :class:`MultiObservationRegressor` uses each
        label in several metasamples.
        """
        known = self._labelled
        return self.selection.x_members[known], self.labels[known]

    def fit(
        self,
        *,
        features: Any = None,
        estimator: Any = None,
        alpha: float = 0.0,
        fit_intercept: bool = True,
        random_state: Any = None,
    ) -> MultiObservationRegressor:
        """Fit the statistic to the metasamples that are complete so far.

        Each metasample's labels are taken as drawn at its anchor, as the paper does. The
        parameters are those of :class:`MultiObservationRegressor`.

        Examples
        --------
        >>> rng = np.random.default_rng(0)
        >>> X = rng.random(50_000)
        >>> plan = LabelPlan.from_pool(X, "variance", budget=4000, rng=rng)
        >>> rows = plan.ask()
        >>> plan.record(rows, X[rows] + rng.normal(scale=2.0, size=rows.size))
        >>> bool(abs(plan.fit().predict([[0.5]])[0] - 4.0) < 0.5)
        True
        """
        x, labels = self.metasamples()
        if x.shape[0] == 0:
            raise ValueError(
                f"a fit needs a metasample with all its {self.arity} labels, got none among "
                f"{self.n_labelled} labels"
            )
        model = MultiObservationRegressor(
            self.statistic,
            "replicates",
            features=features,
            estimator=estimator,
            transport=None,
            alpha=alpha,
            fit_intercept=fit_intercept,
            random_state=random_state,
        )
        # At the anchor's x the labels of a metasample are replicates; groups
        # separate the metasamples of anchors that happen to share x.
        groups = np.repeat(np.arange(x.shape[0]), self.arity)
        flat = labels.reshape(groups.size, *labels.shape[2:])
        return model.fit(np.repeat(x, self.arity, axis=0), flat, groups=groups)

    def save(self, path: str | os.PathLike[str], *, overwrite: bool = False) -> None:
        """Write the plan and everything recorded to a file, atomically, and stay bound to it.

        A file that holds the same plan keeps what others recorded in it.

        Parameters
        ----------
        path : path-like
        overwrite : bool
            Whether a file that holds something else may be replaced.

        Examples
        --------
        >>> import tempfile
        >>> rng = np.random.default_rng(0)
        >>> plan = LabelPlan.from_pool(rng.random(100), "variance", budget=8, rng=rng)
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     plan.save(os.path.join(folder, "plan.npz"))
        ...     plan.record(plan.ask(3), [1.0, 2.0, 3.0])
        ...     again = LabelPlan.load(os.path.join(folder, "plan.npz"))
        >>> again.n_labelled, again.missing.tolist() == plan.missing.tolist()
        (3, True)
        """
        _check.flags(overwrite=overwrite)
        name = os.fspath(read_path(path))
        if overwrite or not os.path.exists(name):
            write_plan(name, self._state(self.labels, self._asked))
        else:
            with locked(name):
                known, asked = self._on_disk(name)
                both = present(self.labels, asked) & present(known, asked)
                if (self.labels[both] != known[both]).any():
                    clash = (self.labels != known).reshape(*both.shape, -1).any(axis=2) & both
                    raise ValueError(
                        f"a row has one label, got another one in {name} for row "
                        f"{self.members[clash][0]}"
                    )
                labels = np.where(np.isnan(known), self.labels, known)
                asked = asked | self._asked
                write_plan(name, self._state(labels, asked))
                self.labels, self._asked = labels, asked
        self.path = name

    def refresh(self) -> None:
        """Take in what other holders of the file have recorded and asked for."""
        if self.path is not None:
            with locked(self.path):
                self.labels, self._asked = self._on_disk(self.path)

    @contextmanager
    def _held(self) -> Iterator[tuple[FloatArray, BoolArray]]:
        """Give labels and asked to change; they become the plan's once they are on disk."""
        if self.path is None:
            labels, asked = self.labels.copy(), self._asked.copy()
            yield labels, asked
        else:
            with locked(self.path):
                labels, asked = self._on_disk(self.path)
                yield labels, asked
                write_plan(self.path, self._state(labels, asked))
        self.labels, self._asked = labels, asked

    def _on_disk(self, path: str) -> tuple[FloatArray, BoolArray]:
        state = read_plan(path)
        if not state.same_rows(self.selection) or state.labels.shape != self.labels.shape:
            raise ValueError(
                f"{path} must be new or hold this plan, got a plan of other rows in it"
            )
        return state.labels, state.asked

    def _state(self, labels: FloatArray, asked: BoolArray) -> PlanState:
        what = self.statistic
        if what.catalogued:
            return PlanState(what.name, dict(what.parameters), self.selection, labels, asked)
        # A user's own functions are not saved: no name in the catalogue may stand for them.
        return PlanState(f"own {what.name}", {}, self.selection, labels, asked)

    @classmethod
    def load(
        cls, path: str | os.PathLike[str], *, statistic: Statistic | None = None
    ) -> "LabelPlan":
        """Resume a plan from its file and stay bound to it.

        Parameters
        ----------
        statistic : Statistic, optional
            Needed when it is not in the catalogue, because functions are not saved.
        """
        state = read_plan(read_path(path))
        plan = cls(state.statistic(path, statistic), state.selection)
        plan.labels, plan._asked = state.labels, state.asked
        plan.path = os.fspath(path)
        return plan

    def __repr__(self) -> str:
        return (
            f"LabelPlan({self.statistic!r}: {self.n_complete} of {self.n_metasamples} metasamples "
            f"complete, {self.n_labelled} of {self.label_complexity} labels in, "
            f"{self.outstanding.size} outstanding)"
        )
