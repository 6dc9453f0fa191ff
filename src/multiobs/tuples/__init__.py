"""Which rows go together: tuples of row numbers, listed or implied."""

from multiobs.tuples.counting import (
    effective_count,
    numbered,
    spread_evenly,
)
from multiobs.tuples.graph import Graph
from multiobs.tuples.shapes import (
    CHUNK,
    Anchored,
    Tuples,
    TupleSet,
    Windows,
    binomial,
    concatenate,
    shown,
    subset_counts,
    unrank_subsets,
)
from multiobs.tuples.sorting import (
    canonical_order,
    group_ends,
    order_by,
    sorted_windows,
    tie_sizes,
)

__all__ = [
    "CHUNK",
    "Anchored",
    "Graph",
    "TupleSet",
    "Tuples",
    "Windows",
    "binomial",
    "canonical_order",
    "concatenate",
    "effective_count",
    "group_ends",
    "numbered",
    "order_by",
    "shown",
    "sorted_windows",
    "spread_evenly",
    "subset_counts",
    "tie_sizes",
    "unrank_subsets",
]
