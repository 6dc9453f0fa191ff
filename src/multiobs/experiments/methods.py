"""The methods that the experiments compare: the paper's six, and ours marked as additions.

A method is a name and a function from (law, n, two generators) to a mean squared error. The name
says everything, since it is what a results file keeps: ``"nearby x8"`` is epsilon-Nearby with eight
times the paper's epsilon, ``"empirical k=10"`` the empirical approach with ten labels a point.
"""

import math
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from types import MappingProxyType
from typing import Any, final

import numpy as np
from sklearn.linear_model import LinearRegression

from multiobs import samplers, statistics
from multiobs._types import FloatArray
from multiobs.baselines import (
    EmpiricalStatisticRegressor,
    LocalPlugInRegressor,
    ResidualRegressor,
    TwoMomentRegressor,
    replicate_design,
)
from multiobs.estimator.regressor import MultiObservationRegressor
from multiobs.experiments.scenarios import Scenario
from multiobs.statistics import Statistic

__all__ = ["ADDITIONS", "METHODS", "PAPER_METHODS", "Method", "method", "statistic_of"]

Fit = Callable[[Scenario, int, np.random.Generator, np.random.Generator], Any]


@final
@dataclass(frozen=True)
class Method:
    """A way to estimate the statistic of a law from n labels.

    Parameters
    ----------
    name : str
        The legend's name, and the key in results.
    fit : callable
        ``fit(law, n, data_rng, own_rng)`` gives a fitted regressor. ``data_rng`` is the same for
        all methods of one trial, so that they see the same rows.
    statistics : tuple of str
        The statistics it can estimate.
    addition : bool
        False for the six methods of the paper's figure.
    line : bool
        Whether its predictions are a line in x, whose error has a closed form.
    may_fail : bool
        Whether it may find no metasample at all in a small sample; the error is then infinite.

    Examples
    --------
    >>> METHODS["sliding"].addition, METHODS["residual"].addition
    (False, True)
    """

    name: str
    fit: Fit
    statistics: tuple[str, ...] = ("variance", "ucb", "minvar")
    addition: bool = False
    line: bool = True
    may_fail: bool = False

    def error(
        self, law: Scenario, n: int, data_rng: np.random.Generator, own_rng: np.random.Generator
    ) -> tuple[float, str]:
        """Return the error of one fit, and ``"ok"``, ``"warned"`` or ``"failed"``.

        The error is the mean square to the truth. Lines and polynomials are integrated exactly;
        the two-moment UCB, the one case where the paper does so, by Monte Carlo with 1000 points.
        """
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            try:
                model = self.fit(law, n, data_rng, own_rng)
            except ValueError:
                if not self.may_fail:
                    raise
                return math.inf, "failed"
            if self.line:
                low, high = model.predict(np.array([[0.0], [1.0]]))
                mse = law.mse_of_line(float(low), float(high - low))
            elif law.statistic == "variance":
                mse = law.mse_of_polynomial(partial(_predict, model), 2 * model.degree)
            else:
                mse = law.mse_monte_carlo(partial(_predict, model), own_rng)
        return mse, "warned" if caught else "ok"


def statistic_of(law: Scenario) -> Statistic:
    """Return the statistic that a scenario is about, with its parameters.

    >>> from multiobs.experiments.scenarios import SCENARIOS
    >>> statistic_of(SCENARIOS["minvar-exponential"])
    minvar(k=4)
    """
    return statistics.build(law.statistic, law.parameters)


def _predict(model: Any, x: FloatArray) -> FloatArray:
    return np.asarray(model.predict(x[:, None]), dtype=np.float64)


def _rows(law: Scenario, n: int, rng: np.random.Generator) -> tuple[FloatArray, FloatArray]:
    x, y = law.sample(n, rng)
    return x[:, None], y


def _two_moment(
    degree: int, law: Scenario, n: int, data: np.random.Generator, own: np.random.Generator
) -> Any:
    return TwoMomentRegressor(statistic_of(law), degree).fit(*_rows(law, n, data))


def _metasamples(
    sampler: Callable[[float], Any],
    factor: float,
    law: Scenario,
    n: int,
    data: np.random.Generator,
    own: np.random.Generator,
) -> Any:
    """Fit the paper's estimator: a line, no transport, epsilon a multiple of 1 / (2 sqrt n)."""
    epsilon = factor / (2.0 * math.sqrt(n))
    seed = int(own.integers(2**31))
    model = MultiObservationRegressor(
        statistic_of(law), sampler(epsilon), transport=None, random_state=seed
    )
    return model.fit(*_rows(law, n, data))


def _default(law: Scenario, n: int, data: np.random.Generator, own: np.random.Generator) -> Any:
    seed = int(own.integers(2**31))
    return MultiObservationRegressor(statistic_of(law), random_state=seed).fit(*_rows(law, n, data))


def _empirical(
    k: int | str,
    unbiased: bool,
    law: Scenario,
    n: int,
    data: np.random.Generator,
    own: np.random.Generator,
) -> Any:
    """Spend n labels on replicates, the one method that may draw its labels so."""
    what = statistic_of(law)
    points, replicates = replicate_design(what, n, k)
    x = own.random(points)
    labels = law.replicates(x, replicates, own)
    return EmpiricalStatisticRegressor(what, unbiased=unbiased).fit(x[:, None], labels)


def _residual(law: Scenario, n: int, data: np.random.Generator, own: np.random.Generator) -> Any:
    return ResidualRegressor(statistic_of(law)).fit(*_rows(law, n, data))


def _local(law: Scenario, n: int, data: np.random.Generator, own: np.random.Generator) -> Any:
    model = LocalPlugInRegressor(statistic_of(law), "nearest", LinearRegression())
    return model.fit(*_rows(law, n, data))


def _nearby(factor: float) -> Fit:
    return partial(_metasamples, samplers.Nearby, factor)


def _improved(epsilon: float) -> samplers.Improved:
    return samplers.Improved(epsilon, shuffle=False)  # rows come in an order of chance


_MOMENTS = ("variance", "ucb")
_TABLE = (
    Method("2mom linear", partial(_two_moment, 1), _MOMENTS, line=False),
    Method("2mom quad", partial(_two_moment, 2), _MOMENTS, line=False),
    Method("improved", partial(_metasamples, _improved, 1.0), may_fail=True),
    Method("sliding", partial(_metasamples, lambda _: samplers.SlidingWindow(), 1.0)),
    Method("nearby", _nearby(1.0), may_fail=True),
    Method("empirical", partial(_empirical, "sqrt", True), ("ucb", "minvar")),
    Method("empirical /k", partial(_empirical, "sqrt", False), ("ucb",), addition=True),
    Method("nearby x8", _nearby(8.0), addition=True, may_fail=True),
    Method("default", _default, addition=True),
    Method("residual", _residual, _MOMENTS, addition=True),
    Method("local", _local, addition=True),
    Method("disjoint", partial(_metasamples, lambda _: samplers.Disjoint(), 1.0), addition=True),
)

METHODS: Mapping[str, Method] = MappingProxyType({method.name: method for method in _TABLE})
"""Every method with a name of its own."""

PAPER_METHODS = tuple(name for name, method in METHODS.items() if not method.addition)
"""The six legend names of the paper's figure."""

ADDITIONS = ("empirical /k", "nearby x8", "default", "residual", "local")
"""What the paper could not afford, left open or left out, drawn in the same figure."""


def method(name: str) -> Method:
    """Return the method of a name: a key of ``METHODS``, ``"nearby xF"`` or ``"empirical k=K"``.

    >>> method("nearby x0.5").name
    'nearby x0.5'
    """
    if name in METHODS:
        return METHODS[name]
    try:
        if name.startswith("nearby x"):
            factor = float(name.removeprefix("nearby x"))
            return Method(name, _nearby(factor), addition=True, may_fail=True)
        if name.startswith("empirical k="):
            k = int(name.removeprefix("empirical k="))
            return Method(name, partial(_empirical, k, True), addition=True)
    except ValueError:
        pass
    raise ValueError(
        f"method must be one of {list(METHODS)}, 'nearby xF' or 'empirical k=K', got {name!r}"
    )
