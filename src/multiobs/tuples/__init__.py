"""Which rows go together: tuples of row numbers, listed or implied."""

from multiobs.tuples.shapes import (
    Anchored,
    Graph,
    Tuples,
    TupleSet,
    Windows,
    concatenate,
    group_ends,
    order_by,
    sorted_windows,
    subset_counts,
    unrank_subsets,
)

__all__ = [
    "Anchored",
    "Graph",
    "TupleSet",
    "Tuples",
    "Windows",
    "concatenate",
    "group_ends",
    "order_by",
    "sorted_windows",
    "subset_counts",
    "unrank_subsets",
]
