"""Regression on higher-order statistics of Y given x, from ordinary rows (x, y).

Symbols used everywhere: n rows, t tuples, m arity, p features, k power of r, r prediction,
w coefficients, Z features of rows (n, p), Y labels of tuples (t, m), h kernel, M moment tensor.

>>> from multiobs import MultiObservationRegressor
>>> MultiObservationRegressor(statistic="variance")
MultiObservationRegressor()
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from multiobs._version import __version__ as __version__

if TYPE_CHECKING:  # for type checkers and editors; at run time each name is imported when asked for
    from multiobs import (
        baselines,
        bounds,
        datasets,
        experiments,
        models,
        planning,
        plots,
        report,
        samplers,
        scale,
        scoring,
        statistics,
    )
    from multiobs.estimator.listing import Metasamples, metasamples
    from multiobs.estimator.regressor import MultiObservationRegressor
    from multiobs.fit.additive import Smooth
    from multiobs.fit.empirical import empirical_risk
    from multiobs.fit.solvers import choose_solver, solve
    from multiobs.sums.contraction import contract, plan


__all__ = [
    "Metasamples",
    "MultiObservationRegressor",
    "Smooth",
    "baselines",
    "bounds",
    "choose_solver",
    "contract",
    "datasets",
    "empirical_risk",
    "experiments",
    "metasamples",
    "models",
    "plan",
    "planning",
    "plots",
    "report",
    "samplers",
    "scale",
    "scoring",
    "solve",
    "statistics",
]

# Where each name that is not a folder comes from: `import multiobs` and `multiobs --help` load
# neither numpy nor scikit-learn.
_HOMES = {
    "Metasamples": "multiobs.estimator.listing",
    "metasamples": "multiobs.estimator.listing",
    "MultiObservationRegressor": "multiobs.estimator.regressor",
    "empirical_risk": "multiobs.fit.empirical",
    "choose_solver": "multiobs.fit.solvers",
    "solve": "multiobs.fit.solvers",
    "Smooth": "multiobs.fit.additive",
    "contract": "multiobs.sums.contraction",
    "plan": "multiobs.sums.contraction",
}


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        found = getattr(import_module(_HOMES[name]), name)
        globals()[name] = found  # asked for once
        return found
    if name in __all__:
        return import_module(f"multiobs.{name}")
    raise AttributeError(f"module 'multiobs' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
