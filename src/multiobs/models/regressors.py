"""A fitted regressor and the replicates of its bootstrap, to a file and back."""

from typing import TYPE_CHECKING, Any

import numpy as np

from multiobs import _check
from multiobs.fit import LabelUnits, RegressorFit, is_forest
from multiobs.inference import Dependence, bootstrap
from multiobs.models import parts
from multiobs.models.classes import RegressorClass
from multiobs.models.container import Fields, number
from multiobs.statistics import Statistic

if TYPE_CHECKING:  # reading a file needs neither the estimator nor scikit-learn
    from multiobs.estimator import MultiObservationRegressor


def regressor_to(
    model: "MultiObservationRegressor", dependence: Dependence | None, n_bootstrap: int
) -> tuple[dict[str, Any], int]:
    """Return what is stored, and the first version of the format that knows it.

    Parameters
    ----------
    model : MultiObservationRegressor
        A fit with ``estimator=``.
    dependence : Dependence or None
        How rows depend on each other.
    n_bootstrap : int
        Replicates for intervals; zero is none.
    """
    from multiobs.estimator import warn_of_cost

    result = model.result_
    assert isinstance(result, RegressorFit)
    content: dict[str, Any] = {"kind": "regressor"}
    content["regressor"] = parts.estimator_to(result.regressor)
    if n_bootstrap == 0:
        return content, 1
    count, seed = _check.integer("n_bootstrap", n_bootstrap, low=2), model._fitted.seed
    held = bootstrap.replicate(result, count, seed, model.n_jobs, dependence, tell=warn_of_cost)
    content["replicates"] = parts.estimator_to(held.models)
    content["scale"] = number(held.scale)
    return content if held.trees is None else {**content, "trees": held.trees}, 2


def regressor_from(fields: Fields, statistic: Statistic, units: LabelUnits) -> RegressorClass:
    """Read what :func:`regressor_to` stored."""
    regressor = parts.estimator_from(fields.inner("regressor"))
    if not fields.has("replicates"):
        return RegressorClass(statistic, units, regressor)
    models, scale = parts.estimator_from(fields.inner("replicates")), fields.real("scale")
    if not isinstance(models, list) or len(models) < 2 or not (np.isfinite(scale) and scale >= 0):
        raise fields.wrong("replicates", "a list with a scale")
    trees = fields.count("trees") if fields.has("trees") else None
    if trees is not None and not (trees > 0 and all(is_forest(each) for each in models)):
        raise fields.wrong("trees", "that of forests")
    return RegressorClass(statistic, units, regressor, bootstrap.Refits(models, scale, trees))
