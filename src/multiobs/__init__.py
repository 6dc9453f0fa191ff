"""Regression on higher-order statistics of Y given x, from ordinary rows (x, y).

Symbols used everywhere: n rows, t tuples, m arity, p features, k power of r, r prediction,
w coefficients, Z features of rows (n, p), Y labels of tuples (t, m), h kernel, M moment tensor.

>>> from multiobs import MultiObservationRegressor
>>> MultiObservationRegressor(statistic="variance")
MultiObservationRegressor()
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from multiobs import bounds, samplers, scoring, statistics
from multiobs.estimator.listing import Metasamples, metasamples
from multiobs.estimator.regressor import MultiObservationRegressor
from multiobs.fit.risk import empirical_risk
from multiobs.fit.solvers import choose_solver, solve
from multiobs.sums.contraction import contract, plan

if TYPE_CHECKING:
    from multiobs import baselines, experiments, planning, plots  # noqa: F401 (lazy below)

__version__ = "0.1.0"

__all__ = [
    "Metasamples",
    "MultiObservationRegressor",
    "baselines",
    "bounds",
    "choose_solver",
    "contract",
    "empirical_risk",
    "experiments",
    "metasamples",
    "plan",
    "planning",
    "samplers",
    "scoring",
    "solve",
    "statistics",
]

_LAZY = ("baselines", "experiments", "planning", "plots")  # import multiobs stays fast


def __getattr__(name: str) -> Any:
    if name in _LAZY:
        return import_module(f"multiobs.{name}")
    raise AttributeError(f"module 'multiobs' has no attribute {name!r}")
