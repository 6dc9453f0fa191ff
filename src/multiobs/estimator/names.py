"""Names of the columns of a linear class."""

from typing import Any

from multiobs._check.categories import Categories


def column_names(door: Any, transformer: Any, categories: Categories | None) -> tuple[str, ...]:
    """Names of the class's columns, from the data frame, its categories and the transformer.

    Parameters
    ----------
    door : estimator
        With ``n_features_in_`` and, after a data frame, ``feature_names_in_``.
    transformer : transformer or None
        The fitted features.
    categories : Categories or None
        Categorical columns, which stand as indicators after the others.
    """
    given = getattr(door, "feature_names_in_", None)
    names = (
        [f"x{j}" for j in range(door.n_features_in_)] if given is None else list(map(str, given))
    )
    if categories is not None:
        names = categories.names(names)
    if transformer is None:
        return tuple(names)
    ask = getattr(transformer, "get_feature_names_out", None)
    if ask is None:
        return ()
    return tuple(str(name) for name in ask(names))
