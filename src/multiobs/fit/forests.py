"""Forests of fewer trees, for steps and replicates that do not need the mean of many."""

from typing import Any


def is_forest(regressor: Any) -> bool:
    """Whether what it predicts is the mean of what its trees do; derived classes may differ."""
    from sklearn.ensemble import ExtraTreesRegressor, RandomForestRegressor

    return type(regressor) in (RandomForestRegressor, ExtraTreesRegressor)


def fewer_trees(template: Any, count: int) -> Any:
    """Return a forest of so many trees, or None if the regressor is none of more than twice that.

    Parameters
    ----------
    template : regressor
        Any one.
    count : int
        Trees.

    Examples
    --------
    >>> from sklearn.ensemble import RandomForestRegressor
    >>> fewer_trees(RandomForestRegressor(50), 5).n_estimators
    5
    >>> fewer_trees(RandomForestRegressor(10), 5) is None
    True
    """
    from sklearn.base import clone  # here: a stored line predicts without scikit-learn

    if not is_forest(template) or template.n_estimators <= 2 * count:
        return None
    return clone(template).set_params(n_estimators=count, oob_score=False, warm_start=False)
