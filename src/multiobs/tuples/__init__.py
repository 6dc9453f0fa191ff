"""Which rows go together: tuples of row numbers, listed or implied."""

from multiobs.tuples.counting import (
    binomial,
    effective_count,
    first_anchors,
    membership_counts,
    numbered,
    spread_evenly,
)
from multiobs.tuples.shapes import (
    Anchored,
    Graph,
    Tuples,
    TupleSet,
    Windows,
    concatenate,
    shown,
    subset_counts,
    unrank_subsets,
)
from multiobs.tuples.sorting import group_ends, order_by, sorted_windows

__all__ = [
    "Anchored",
    "Graph",
    "TupleSet",
    "Tuples",
    "Windows",
    "binomial",
    "concatenate",
    "effective_count",
    "first_anchors",
    "group_ends",
    "membership_counts",
    "numbered",
    "order_by",
    "shown",
    "sorted_windows",
    "spread_evenly",
    "subset_counts",
    "unrank_subsets",
]
