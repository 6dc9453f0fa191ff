"""Matched categories: from the levels of the key columns to indicator columns."""

from multiobs._check.categories import Categories
from multiobs.scale.columns import Levels, SourceColumns
from multiobs.scale.recipe import Encoding


def encoding_of(columns: SourceColumns, levels: Levels, names: tuple[str, ...]) -> Encoding | None:
    """Indicator columns of the matched categories, or None where there are none.

    Parameters
    ----------
    columns : Columns
        What is read.
    levels : tuple of tuple
        Sorted values of each key column.
    names : tuple of str
        All columns of x, as the user gave them.
    """
    if not columns.matched:
        return None
    own = levels[len(levels) - len(columns.matched) :]
    # in the order of the user's columns, as in a data frame
    found = Categories(
        dict(zip(columns.matched, own, strict=True)),
        tuple(names.index(name) for name in columns.matched),
    )
    return Encoding(found, tuple(len(each) for each in own))
