"""What really happens: the error of each design on the user's own law, by simulation."""

import warnings
from dataclasses import dataclass
from math import inf, sqrt
from typing import Literal, Protocol, final, runtime_checkable

import numpy as np
from sklearn.neighbors import KNeighborsRegressor

from multiobs import _check, statistics
from multiobs._types import FloatArray
from multiobs.baselines import TwoMomentRegressor
from multiobs.estimator.regressor import MultiObservationRegressor
from multiobs.planning.labels import LabelPlan
from multiobs.samplers import Improved
from multiobs.statistics import Statistic

Design = Literal["two-moment", "supervised", "default", "pool", "replicates"]
DESIGNS: tuple[Design, ...] = ("two-moment", "supervised", "default", "pool", "replicates")


@runtime_checkable
class KnownLaw(Protocol):
    """A law that can be drawn from and whose statistic is known.

    The laws of :data:`multiobs.experiments.SCENARIOS` are such; so is any object with these
    methods. x has shape (n,) or (n, d).

    Examples
    --------
    >>> from multiobs.experiments import SCENARIOS
    >>> SCENARIOS["variance-line"].truth(np.array([0.0, 1.0])).shape
    (2,)
    """

    def sample(self, n: int, rng: np.random.Generator) -> tuple[FloatArray, FloatArray]:
        """Draw n independent rows x, y."""

    def replicates(self, x: FloatArray, k: int, rng: np.random.Generator) -> FloatArray:
        """Draw k independent labels at each x, shape (n, k)."""

    def truth(self, x: FloatArray) -> FloatArray:
        """Return the statistic at x, shape (n,)."""


@final
@dataclass(frozen=True)
class Simulation:
    """Mean squared errors of a design at one number of labels, one for each run.

    A run in which no metasample could be formed counts as infinite. For a squared loss and a
    statistic inside the class the mean squared error is the excess risk of the theorems.

    Attributes
    ----------
    design : str
        Which.
    labels, rows : int
        Labels that were used, and x that were drawn, labelled or not.
    errors : ndarray (runs,)
        Mean squared error of each run.

    Examples
    --------
    >>> from multiobs.experiments import SCENARIOS
    >>> law, rng = SCENARIOS["variance-line"], np.random.default_rng(0)
    >>> found = simulate(law, "replicates", 200, runs=20, rng=rng)
    >>> found.errors.size, found.quantile(0.5) < found.quantile(0.9)
    (20, True)
    """

    design: Design
    labels: int
    rows: int
    errors: FloatArray

    @property
    def mean(self) -> float:
        """Average over the runs."""
        return float(self.errors.mean())

    @property
    def standard_error(self) -> float:
        """Standard error of the average."""
        if not np.isfinite(self.errors).all():
            return inf
        return float(self.errors.std(ddof=1) / sqrt(self.errors.size))

    def quantile(self, level: float) -> float:
        """Error that a share ``level`` of the runs does not exceed."""
        return float(np.quantile(self.errors, level, method="higher"))


def simulate(
    scenario: KnownLaw,
    design: Design,
    labels: int,
    *,
    statistic: str | Statistic = "variance",
    runs: int = 100,
    pool_factor: int = 20,
    test_points: int = 2000,
    rng: np.random.Generator,
) -> Simulation:
    r"""Measure the error of a design with a given number of labels on a law with a known statistic.

    Parameters
    ----------
    scenario : KnownLaw
        The law.
    design : {"two-moment", "supervised", "default", "pool", "replicates"}
        - two-moment: nearest-neighbour averages of y and of y^2 over :math:`n^{2/(2+d)}` rows,
          which reach the best rate for Lipschitz moments, then combined;
        - supervised: Algorithm 2 on as many labelled rows;
        - default: what ``MultiObservationRegressor()`` does with the same rows;
        - pool: a :class:`LabelPlan` that picks the rows from ``pool_factor`` times as many x;
        - replicates: m labels at each of labels / m random x.
    labels : int
        Labels used.
    statistic : str or Statistic
        What is estimated; the linear class is used throughout.
    runs : int
        Independent repetitions.

    Returns
    -------
    Simulation

    Examples
    --------
    >>> from multiobs.experiments import SCENARIOS
    >>> rng = np.random.default_rng(0)
    >>> law = SCENARIOS["variance-sine"]
    >>> few, many = (simulate(law, "replicates", n, runs=50, rng=rng).mean for n in (100, 1000))
    >>> many < few
    True
    """
    _check.choice("design", design, DESIGNS)
    if not isinstance(scenario, KnownLaw):
        raise TypeError(
            "scenario must have the methods sample, replicates and truth, got "
            f"{_check.shown(scenario)}"
        )
    what = statistics.resolve(statistic)
    size = _check.integer("labels", labels, low=what.arity + 1)
    repeat = _check.integer("runs", runs, low=2)
    factor = _check.integer("pool_factor", pool_factor, low=2)
    _check.generator("rng", rng)
    test_x = scenario.sample(_check.integer("test_points", test_points, low=1), rng)[0]
    truth = scenario.truth(test_x)
    errors = np.empty(repeat)
    with warnings.catch_warnings():
        # A fit that leaves the statistic's domain is measured like any other.
        warnings.simplefilter("ignore", UserWarning)
        for run in range(repeat):
            model = _fit(scenario, design, size, what, factor, rng)
            if model is None:
                errors[run] = inf
            else:
                errors[run] = np.mean((model.predict(_table(test_x)) - truth) ** 2)
    rows = {"pool": factor * size, "replicates": size // what.arity}.get(design, size)
    return Simulation(design, size, rows, errors)


def _table(x: FloatArray) -> FloatArray:
    return x[:, None] if x.ndim == 1 else x


def _fit(
    scenario: KnownLaw,
    design: Design,
    labels: int,
    what: Statistic,
    factor: int,
    rng: np.random.Generator,
) -> TwoMomentRegressor | MultiObservationRegressor | None:
    """Fit the design once; None when no metasample can be formed."""
    if design == "pool":
        x, y = scenario.sample(factor * labels, rng)
        plan = LabelPlan.from_pool(x, what, budget=labels, shortfall="fewer", rng=rng)
        rows = plan.ask()
        plan.record(rows, y[rows])  # a label is drawn from its own x: when does not matter
        return plan.fit() if plan.n_metasamples else None
    if design == "replicates":
        x = scenario.sample(labels // what.arity, rng)[0]
        repeated = scenario.replicates(x, what.arity, rng)
        active = MultiObservationRegressor(what, "replicates", transport=None)
        return active.fit(_table(x), repeated)
    x, y = scenario.sample(labels, rng)
    X = _table(x)
    if design == "two-moment":
        k = max(1, round(labels ** (2 / (2 + X.shape[1]))))
        return TwoMomentRegressor(what, estimator=KNeighborsRegressor(k)).fit(X, y)
    if design == "supervised":
        batches = Improved(shuffle=False)  # these rows come in an order of chance
        if batches.build(X, what.arity, rng).count() == 0:
            return None
        paper = MultiObservationRegressor(what, batches, transport=None, random_state=rng)
        return paper.fit(X, y)
    return MultiObservationRegressor(what, random_state=rng).fit(X, y)


@final
@dataclass(frozen=True)
class SimulatedSize:
    """Labels with which a share 1 - delta of the runs met the target; None if beyond the limit.

    Attributes
    ----------
    design : str
        Which.
    labels : int or None
        How many were enough.
    curve : tuple of Simulation
        The simulations on the way, from few labels to many.

    Examples
    --------
    >>> from multiobs.experiments import SCENARIOS
    >>> law, rng = SCENARIOS["variance-line"], np.random.default_rng(0)
    >>> found = simulated_size(law, "replicates", 0.05, runs=20, rng=rng)
    >>> found.curve[-1].labels == found.labels
    True
    """

    design: Design
    labels: int | None
    curve: tuple[Simulation, ...]


def simulated_size(
    scenario: KnownLaw,
    design: Design,
    target: float,
    *,
    statistic: str | Statistic = "variance",
    delta: float = 0.05,
    runs: int = 100,
    start: int = 32,
    limit: int = 20_000,
    pool_factor: int = 20,
    rng: np.random.Generator,
) -> SimulatedSize:
    """Search for the number of labels with which a design meets a target error.

    Labels grow by factors of sqrt(2) from ``start``, so the answer is right to that factor and to
    the noise of ``runs`` repetitions.

    Parameters
    ----------
    scenario, design, statistic, runs, pool_factor, rng
        As in :func:`simulate`.
    target : float
        The mean squared error to be met by a share 1 - ``delta`` of the runs.
    delta : float
        The share of runs that may miss it.
    start, limit : int
        The fewest and the most labels tried.

    Examples
    --------
    >>> from multiobs.experiments import SCENARIOS
    >>> found = simulated_size(
    ...     SCENARIOS["variance-line"], "replicates", 0.05, runs=20, rng=np.random.default_rng(0)
    ... )
    >>> found.labels > 100
    True
    """
    aim = _check.positive("target", target)
    if not 0 < _check.real("delta", delta) < 1:
        raise ValueError(f"delta must be strictly between 0 and 1, got {delta!r}")
    curve: list[Simulation] = []
    labels = float(_check.integer("start", start, low=1))
    most = _check.positive("limit", limit)
    while labels <= most:
        found = simulate(
            scenario, design, round(labels), statistic=statistic, runs=runs,
            pool_factor=pool_factor, rng=rng,
        )  # fmt: skip
        curve.append(found)
        if found.quantile(1 - delta) <= aim:
            return SimulatedSize(design, found.labels, tuple(curve))
        labels *= sqrt(2)
    return SimulatedSize(design, None, tuple(curve))
