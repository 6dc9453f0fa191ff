"""Pool-based active learning: which rows to label, and what to do with the labels as they come."""

import json
import os
from math import sqrt
from typing import Any, Literal, final

import numpy as np
import numpy.typing as npt

from multiobs import _check, statistics
from multiobs._types import BoolArray, FloatArray, IntArray
from multiobs.planning.pool import assign
from multiobs.planning.store import load_arrays, save_arrays
from multiobs.statistics import Statistic

FORMAT = 1


@final
class LabelPlan:
    r"""Which rows of an unlabelled pool to label so that n metasamples of m labels form.

    Anchors are drawn at random from the pool; each is given m other rows within epsilon of it, no
    row twice (Algorithms 1 and 2 of the paper, which never look at a label). Only those rows are
    labelled: the label complexity is exactly n m, and every label is used in one metasample.

    A plan is made by :meth:`from_pool` or :meth:`load`. Once saved it belongs to its file:
    :meth:`ask` and :meth:`record` return only when the file holds what they did.

    Attributes
    ----------
    statistic : Statistic
    anchors : array of int, shape (n,)
        Pool rows whose x represent the metasamples; their labels are not needed.
    members : array of int, shape (n, m)
        Pool rows to label.
    radius : array of shape (n,)
        Largest distance of a member to its anchor, in the scaled units of ``epsilon``.
    epsilon : float
        The limit of ``radius``.
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

    def __init__(
        self,
        statistic: Statistic,
        anchors: IntArray,
        members: IntArray,
        x_anchors: FloatArray,
        x_members: FloatArray,
        radius: FloatArray,
        epsilon: float,
        n_pool: int,
    ) -> None:
        self.statistic = statistic
        self.anchors = anchors
        self.members = members
        self.x_anchors = x_anchors
        self.x_members = x_members
        self.radius = radius
        self.epsilon = epsilon
        self.n_pool = n_pool
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
        points = _read_pool(X)
        m, total = chosen.arity, points.shape[0]
        n = _wanted(budget, n_metasamples, m)
        _check.choice("algorithm", algorithm, ("improved", "naive"))
        _check.choice("scale", scale, ("range", "none"))
        _check.choice("shortfall", shortfall, ("raise", "fewer"))
        if n * (m + 1) > total:
            raise ValueError(
                f"a pool of {total} rows has room for {total // (m + 1)} metasamples of {m} labels "
                f"and an anchor each, got {n}"
            )
        limit = 1 / sqrt(n) if epsilon == "paper" else _check.positive("epsilon", epsilon)
        scaled = _unit_box(points) if scale == "range" else points
        anchors = np.asarray(rng.choice(total, size=n, replace=False), dtype=np.int64)
        free = np.ones(total, dtype=np.bool_)
        free[anchors] = False
        others = np.flatnonzero(free)
        if algorithm == "improved":
            members = assign(scaled[anchors], scaled[others], m, limit)
        else:
            members = _own_candidates(scaled[anchors], scaled, others, m, limit, rng)
        full = members[:, 0] >= 0
        if not full.all():
            if shortfall == "raise":
                raise ValueError(
                    f"every anchor must have {m} rows within epsilon = {limit:g}, got "
                    f"{int(full.sum())} of {n} anchors that do: widen epsilon, enlarge the pool, "
                    "lower the budget, or pass shortfall='fewer'"
                )
            anchors, members = anchors[full], members[full]
        rows = others[members]
        gap = scaled[rows] - scaled[anchors][:, None, :]
        radius = np.sqrt(np.einsum("ijk,ijk->ij", gap, gap)).max(axis=1, initial=0.0)
        return cls(chosen, anchors, rows, points[anchors], points[rows], radius, limit, total)

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
        flat = self.labels.reshape(self.members.size, -1)
        return ~np.isnan(flat[:, 0]).reshape(self.members.shape)

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
        fresh = np.flatnonzero(~(self._asked | self._labelled).reshape(-1))
        if count is not None:
            fresh = fresh[: _check.integer("count", count, low=0)]
        self._asked.reshape(-1)[fresh] = True
        self._write()
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
        which = np.atleast_1d(np.asarray(rows))
        values = np.asarray(labels, dtype=np.float64)
        flat = self.labels.reshape(self.members.size, -1)
        values = values.reshape(which.size, -1) if values.size else values.reshape(0, flat.shape[1])
        if which.ndim != 1 or (which.size and not np.issubdtype(which.dtype, np.integer)):
            raise ValueError(f"rows must be a list of row numbers, got {rows!r}")
        if values.shape != (which.size, flat.shape[1]):
            raise ValueError(
                f"labels must have shape ({which.size}, {flat.shape[1]}), got {values.shape}"
            )
        if not np.isfinite(values).all():
            bad = which[~np.isfinite(values).all(axis=1)][0]
            raise ValueError(f"labels must be finite, got a non-finite one for row {bad}")
        places = self._places(which)
        order = np.argsort(places, kind="stable")
        again = np.flatnonzero(np.diff(places[order]) == 0)
        old = flat[places]
        clash = ~np.isnan(old[:, 0]) & (old != values).any(axis=1)
        clash[order[again + 1]] |= (values[order[again]] != values[order[again + 1]]).any(axis=1)
        if clash.any():
            raise ValueError(f"a row has one label, got another one for row {which[clash][0]}")
        flat[places] = values
        self._write()

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
        return self.x_anchors[full], self.labels[full]

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the plan and everything recorded to a file, atomically, and stay bound to it.

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
        self.path = os.fspath(path)
        self._write()

    def _write(self) -> None:
        if self.path is None:
            return
        about = {
            "format": FORMAT,
            "statistic": self.statistic.name,
            "parameters": dict(self.statistic.parameters),
            "epsilon": self.epsilon,
            "n_pool": self.n_pool,
        }
        save_arrays(
            self.path,
            {
                "about": np.array(json.dumps(about)),
                "anchors": self.anchors,
                "members": self.members,
                "x_anchors": self.x_anchors,
                "x_members": self.x_members,
                "radius": self.radius,
                "labels": self.labels,
                "asked": self._asked,
            },
        )

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
        arrays = load_arrays(path)
        if "about" not in arrays:
            raise ValueError(f"the file must be a saved LabelPlan, got {os.fspath(path)!r}")
        about = json.loads(str(arrays["about"]))
        if about["format"] != FORMAT:
            raise ValueError(f"the format of the plan must be {FORMAT}, got {about['format']!r}")
        if statistic is None:
            statistic = _from_catalogue(about["statistic"], about["parameters"])
        if statistic.arity != arrays["members"].shape[1]:
            raise ValueError(
                f"the plan needs a statistic of {arrays['members'].shape[1]} observations, got "
                f"{statistic!r} of {statistic.arity}"
            )
        plan = cls(
            statistic,
            arrays["anchors"],
            arrays["members"],
            arrays["x_anchors"],
            arrays["x_members"],
            arrays["radius"],
            float(about["epsilon"]),
            int(about["n_pool"]),
        )
        plan.labels = arrays["labels"]
        plan._asked = arrays["asked"]
        plan.path = os.fspath(path)
        return plan

    def __repr__(self) -> str:
        return (
            f"LabelPlan({self.statistic!r}: {self.n_complete} of {self.n_metasamples} metasamples "
            f"complete, {self.n_labelled} of {self.label_complexity} labels in, "
            f"{self.outstanding.size} outstanding)"
        )


def _from_catalogue(name: str, parameters: dict[str, Any]) -> Statistic:
    if name not in statistics.CATALOGUE:
        raise ValueError(
            f"the plan's statistic is not in the catalogue: pass statistic=, got {name!r}"
        )
    statistic: Statistic = getattr(statistics, name)(**parameters)
    return statistic


def _read_pool(X: npt.ArrayLike) -> FloatArray:
    points = np.asarray(X, dtype=np.float64)
    points = points[:, None] if points.ndim == 1 else points
    if points.ndim != 2 or points.shape[0] == 0 or points.shape[1] == 0:
        raise ValueError(f"X must have shape (N, d) with N, d >= 1, got {np.shape(X)}")
    if not np.isfinite(points).all():
        raise ValueError("X must be finite, got NaN or infinity")
    return points


def _wanted(budget: int | None, n_metasamples: int | None, m: int) -> int:
    if (budget is None) == (n_metasamples is None):
        raise ValueError("give exactly one of budget and n_metasamples, got both or neither")
    if n_metasamples is not None:
        return _check.integer("n_metasamples", n_metasamples, low=1)
    labels = _check.integer("budget", budget, low=1)
    if labels < m:
        raise ValueError(f"budget must cover one metasample of {m} labels, got {labels}")
    return labels // m


def _unit_box(points: FloatArray) -> FloatArray:
    low = points.min(axis=0)
    width = points.max(axis=0) - low
    return np.asarray((points - low) / np.where(width > 0, width, 1.0))


def _own_candidates(
    anchors: FloatArray,
    scaled: FloatArray,
    others: IntArray,
    m: int,
    epsilon: float,
    rng: np.random.Generator,
) -> IntArray:
    """Algorithm 1: deal the other rows out, and take each anchor's m nearest of its own."""
    n = anchors.shape[0]
    per = others.size // n
    dealt = rng.permutation(others.size)[: n * per].reshape(n, per)
    gap = scaled[others[dealt]] - anchors[:, None, :]
    distance = np.einsum("ijk,ijk->ij", gap, gap)
    first = np.argpartition(distance, m - 1, axis=1)[:, :m]
    worst = np.sqrt(np.take_along_axis(distance, first, axis=1).max(axis=1))
    members = np.take_along_axis(dealt, first, axis=1)
    members[worst > epsilon] = -1
    return np.asarray(members, dtype=np.int64)
