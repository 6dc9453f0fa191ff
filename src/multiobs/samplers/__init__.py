"""From x to tuples of rows.  No sampler ever sees a label, so labels can be bought later.

Each sampler has ``build(X, arity, rng, groups=None)``: X is (n, d), ``groups`` holds codes that
a tuple never crosses.  Ties in x are broken by row order, never by y: sorting ties by y would
make adjacent differences too small.
"""

from multiobs.samplers.base import (
    Sampler,
)
from multiobs.samplers.batches import (
    Improved,
    Naive,
)
from multiobs.samplers.geometry import (
    column_scales,
    paper_epsilon,
)
from multiobs.samplers.windows import (
    SAMPLERS,
    Adjacent,
    Disjoint,
    Leaves,
    Nearby,
    Nearest,
    Replicates,
    SlidingWindow,
    narrowest,
    resolve,
)

__all__ = [
    "SAMPLERS",
    "Adjacent",
    "Disjoint",
    "Improved",
    "Leaves",
    "Naive",
    "Nearby",
    "Nearest",
    "Replicates",
    "Sampler",
    "SlidingWindow",
    "column_scales",
    "narrowest",
    "paper_epsilon",
    "resolve",
]
