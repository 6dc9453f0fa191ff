"""The catalogue: every statistic by its name."""

from collections.abc import Callable, Mapping
from functools import cache, partial
from inspect import signature
from typing import Any

from multiobs import _check
from multiobs.statistics.means import MEAN_TYPE
from multiobs.statistics.roots import ROOT_AND_RATIO_TYPE
from multiobs.statistics.statistic import Statistic

CATALOGUE: dict[str, Callable[[], Statistic]] = MEAN_TYPE | ROOT_AND_RATIO_TYPE


def build(name: str, parameters: Mapping[str, Any]) -> Statistic:
    """Return the catalogue's statistic of this name with these parameters.

    Parameters
    ----------
    name : str
        A key of ``CATALOGUE``.
    parameters : mapping
        Its parameters by name.

    Examples
    --------
    >>> build("ucb", {"lam": 8.0}).parameters["lam"]
    8.0
    """
    _check.choice("statistic", name, tuple(CATALOGUE))
    made = CATALOGUE[name]
    # A name alone stands for a default of some; their functions take any parameter.
    make = made.func if isinstance(made, partial) else made
    known = list(signature(make).parameters)
    if not isinstance(parameters, Mapping):
        raise TypeError(f"parameters must be named, got {_check.shown(parameters)}")
    for key in parameters:
        if key not in known:
            listed = ", ".join(known) or "none"
            raise ValueError(
                f"parameters of {name} must be ones it has ({listed}), got {_check.shown(key)}"
                f"{_check.near(key, known)}"
            )
    missing = [
        key
        for key, each in signature(make).parameters.items()
        if each.default is each.empty and key not in parameters
    ]
    if missing:
        raise ValueError(f"parameters of {name} must name {', '.join(missing)}, got none")
    return make(**parameters)


@cache
def _named(name: str) -> Statistic:
    return CATALOGUE[name]()


def resolve(statistic: str | Statistic) -> Statistic:
    """Return the statistic itself, or the catalogue's default of that name.

    >>> resolve("minvar")
    minvar(k=1)
    """
    if isinstance(statistic, Statistic):
        return statistic
    if isinstance(statistic, str):
        _check.choice("statistic", statistic, tuple(CATALOGUE))
        return _named(statistic)
    raise TypeError(f"statistic must be a name or a Statistic, got {_check.shown(statistic)}")
