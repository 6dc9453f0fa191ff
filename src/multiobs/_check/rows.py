"""Validated rows: positions, labels, weights and codes, with absent rows left out."""

from dataclasses import dataclass, field, replace
from typing import Any, final

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator
from sklearn.utils.validation import (
    check_consistent_length,
    column_or_1d,
)

from multiobs import _check
from multiobs._check import categories, check_sample_weight, checked_array, validate_data
from multiobs._check.categories import Categories
from multiobs._check.frames import FrameLayout, refuse_lazy, with_days
from multiobs._check.labelling import codes as group_codes
from multiobs._types import FloatArray, IntArray


@final
@dataclass(frozen=True)
class Rows:
    """Validated rows: everything a fit is given, in arrays of its own but for the labels.

    Attributes
    ----------
    X : ndarray (n, d)
        Columns of the class of functions: numbers, then indicators of categories.
    place : ndarray (n, q)
        Positions that the sampler sees: the numeric columns.
    y : ndarray (n,) or (n, s)
        Labels; may be the caller's array, since a fit keeps them in working units, which is
        another array.
    weight : ndarray (n,) or None
        Weights.
    groups : ndarray of int (n,) or None
        Codes that a tuple never crosses.
    indicators : tuple of (int, int)
        First and last-plus-one column of X that belong to each category.
    names : tuple of str
        Names of the columns of X.
    marks : dict
        What scikit-learn wants an estimator to remember of the columns it was given.
    """

    X: FloatArray
    place: FloatArray
    y: FloatArray
    weight: FloatArray | None
    groups: IntArray | None
    indicators: tuple[tuple[int, int], ...] = ()
    names: tuple[str, ...] = ()
    marks: dict[str, Any] = field(default_factory=dict)

    def at(self, index: IntArray) -> "Rows":
        """Return some of the rows."""
        return replace(
            self,
            X=self.X[index],
            place=self.place[index],
            y=self.y[index],
            weight=None if self.weight is None else self.weight[index],
            groups=None if self.groups is None else self.groups[index],
        )


@final
@dataclass(frozen=True)
class GivenTable:
    """What the user calls X, ready to be validated.

    Attributes
    ----------
    X : array-like or data frame
        With days in place of dates and codes in place of categories.
    categories : Categories or None
        Categorical columns.
    layout : FrameLayout or None
        How the data frame looked, if it was one.
    """

    X: Any
    categories: Categories | None = None
    layout: FrameLayout | None = None


def read_table(X: Any) -> GivenTable:
    """Read an array or a data frame; frames that are not in memory are refused.

    >>> read_table(np.zeros((2, 1))).categories is None
    True
    """
    if isinstance(X, np.ndarray):
        return GivenTable(X)
    refuse_lazy(X)
    return _coded(X, categories.find(X))


def by_frequency(X: Any, y: npt.ArrayLike, table: GivenTable) -> GivenTable:
    """Read X again with the levels of its categories in an order that their names do not decide.

    Parameters
    ----------
    X, y
        As given by the user, and valid.
    table : GivenTable
        What was read of X.
    """
    if table.categories is None:
        return table
    labels = np.asarray(y, dtype=np.float64)
    return _coded(X, table.categories.by_frequency(X, labels.reshape(len(labels), -1).mean(axis=1)))


def _coded(X: Any, found: Categories | None) -> GivenTable:
    days = with_days(X)
    coded = days if found is None else found.coded(days)
    return GivenTable(coded, found, FrameLayout.of(X, found))


@final
class _Door(BaseEstimator):  # type: ignore[misc]
    """Takes the marks of validation, so that a fit that fails changes no estimator."""


@final
@dataclass(frozen=True)
class Labels:
    """What the labels of a statistic look like.

    Attributes
    ----------
    name : str
        Name of the statistic, for messages.
    n_columns : int
        Columns of y it needs.
    replicated : bool
        Whether several columns of y are replicates at the same x.
    """

    name: str
    n_columns: int = 1
    replicated: bool = False


def positions(estimator: Any, X: npt.ArrayLike, found: Categories | None) -> FloatArray:
    """Validate positions at which to predict, with the categories of the fit."""
    X = with_days(X)
    if found is None:
        checked: FloatArray = validate_data(estimator, X, reset=False, dtype=np.float64)
        return checked
    if isinstance(X, np.ndarray | list):
        raise ValueError(
            f"X must be a data frame with the categorical columns of the fit "
            f"({', '.join(found.levels)}), got {type(X).__name__}"
        )
    coded = validate_data(estimator, found.coded(X), reset=False, dtype=np.float64)
    return found.expand(coded)[0]


def valid_rows(
    estimator: str,
    table: GivenTable,
    y: npt.ArrayLike,
    *,
    labels: "Labels",
    sample_weight: npt.ArrayLike | None = None,
    groups: npt.ArrayLike | None = None,
) -> Rows:
    """Validate everything that ``fit`` is given.

    Parameters
    ----------
    estimator : str
        Name of the estimator, for messages.
    table : Table
        What was given as X.
    y, sample_weight, groups : array-like
        As given by the user.
    labels : Labels
        What y must look like.
    """
    X, found, door = table.X, table.categories, _Door()
    full: FloatArray = validate_data(door, X, dtype=np.float64, estimator=estimator)
    _check.refuse_wide("X", full)
    given_names = vars(door).get("feature_names_in_")
    names = [f"x{j}" for j in range(full.shape[1])] if given_names is None else given_names
    names = [str(name) for name in names]
    place, joint = full, None
    indicators: tuple[tuple[int, int], ...] = ()
    if found is not None:
        columns = [at for _, at in found.indicators(full.shape[1]) if at]
        indicators = tuple((at[0], at[-1] + 1) for at in columns)
        numeric = [c for c in range(full.shape[1]) if c not in found.places]
        place = full[:, numeric] if numeric else np.zeros((full.shape[0], 1))
        full, joint = found.expand(full)
        names = found.names(names)
    if y is None:
        raise ValueError(f"{estimator} requires y to be passed, but the target y is None")
    if not isinstance(y, np.ndarray) or isinstance(y, np.ma.MaskedArray):
        _check.refuse_masked("y", y)
    given = checked_array("y", y)
    check_consistent_length(full, given)
    _check.refuse_wide("y", given, squared=False)
    codes = joint
    if groups is not None:
        own = group_codes("groups", groups, full.shape[0])
        codes = own if joint is None else own * (int(joint.max()) + 1) + joint
    weight = None
    if sample_weight is not None:
        weight = check_sample_weight(sample_weight, full)
    values: FloatArray
    wide = given.ndim == 2 and given.shape[1] > 1 and labels.n_columns == 1
    if wide and labels.replicated:
        repeats = given.shape[1]  # rows (x, y_1 .. y_r) are r rows that share x
        full, place = np.repeat(full, repeats, axis=0), np.repeat(place, repeats, axis=0)
        values = given.reshape(-1)
        codes = None if codes is None else np.repeat(codes, repeats)
        weight = None if weight is None else np.repeat(weight, repeats)
    elif labels.n_columns == 1:
        values = given if given.ndim == 1 else column_or_1d(given, warn=True)
    elif given.ndim == 2 and given.shape[1] == labels.n_columns:
        values = given
    else:
        raise ValueError(
            f"{labels.name} needs y with {labels.n_columns} columns, got shape {given.shape}"
        )
    if weight is not None:
        present = weight > 0
        if not np.any(present):
            raise ValueError("sample_weight must be positive somewhere, got only zeros")
        if not np.all(present):
            full, place, values = full[present], place[present], values[present]
            weight = weight[present]
            codes = None if codes is None else codes[present]
        if np.all(weight == weight[0]):
            weight = None  # equal weights change nothing
        else:
            weight = weight / weight.max()  # only ratios matter, but products are formed
    kept = _owned(full, X)
    return Rows(
        kept,
        kept if place is full else _owned(place, X),
        values,
        weight,
        codes,
        indicators,
        tuple(names),
        dict(vars(door)),
    )


def _owned(array: FloatArray, given: Any) -> FloatArray:
    """Copy an array that may be the caller's, so that no later change of it moves the fit."""
    return array if array.flags.owndata and array is not given else array.copy()


def batch(
    estimator: Any,
    X: npt.ArrayLike,
    y: npt.ArrayLike,
    sample_weight: npt.ArrayLike | None,
    first: bool,
) -> tuple[FloatArray, FloatArray, FloatArray | None]:
    """Validate a batch of rows of one column: x (k,), y (k,) and weights."""
    checked = validate_data(estimator, X, reset=first, dtype=np.float64)
    if checked.shape[1] != 1:
        raise ValueError(f"partial_fit needs one column of x, got {checked.shape[1]}")
    labels: FloatArray = column_or_1d(checked_array("y", y), warn=True)
    check_consistent_length(checked, labels)
    weight = None
    if sample_weight is not None:
        weight = check_sample_weight(sample_weight, checked)
    return np.ascontiguousarray(checked[:, 0]), labels, weight


def generator(random_state: Any) -> np.random.Generator:
    """Return the one Generator of a fit, from what scikit-learn users pass as random_state."""
    if isinstance(random_state, np.random.Generator):
        return random_state
    if isinstance(random_state, np.random.RandomState):
        return np.random.default_rng(random_state.randint(2**31 - 1))
    known = int | np.integer | np.random.SeedSequence | np.random.BitGenerator | None
    if isinstance(random_state, bool) or not isinstance(random_state, known):
        raise TypeError(
            "random_state must be an integer, a Generator or None, got "
            f"{_check.shown(random_state)}"
        )
    if isinstance(random_state, int | np.integer) and random_state < 0:
        raise ValueError(f"random_state must be at least 0, got {random_state}")
    return np.random.default_rng(random_state)
