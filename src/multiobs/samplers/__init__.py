"""From x to tuples of rows.  No sampler ever sees a label, so labels can be bought later.

Each sampler has ``build(X, arity, rng, groups=None)``: X is (n, d), ``groups`` holds codes that
a tuple never crosses.  Ties in x are broken by row order, never by y: sorting ties by y would
make adjacent differences too small.
"""

from multiobs.samplers.base import (
    Adjustable,
    Counted,
    Sampler,
    Streaming,
)
from multiobs.samplers.batches import (
    Improved,
    Naive,
)
from multiobs.samplers.catalogue import (
    SAMPLERS,
    narrowest,
    resolve,
    takes_replicates,
)
from multiobs.samplers.geometry import (
    column_scales,
    paper_epsilon,
)
from multiobs.samplers.halo import (
    Reach,
    for_group,
    one_order,
    reach,
    settled_for,
)
from multiobs.samplers.near import (
    Leaves,
    Nearby,
    Nearest,
    Replicates,
)
from multiobs.samplers.windows import (
    Adjacent,
    Disjoint,
    SlidingWindow,
)

__all__ = [
    "SAMPLERS",
    "Adjacent",
    "Adjustable",
    "Counted",
    "Disjoint",
    "Improved",
    "Leaves",
    "Naive",
    "Nearby",
    "Nearest",
    "Reach",
    "Replicates",
    "Sampler",
    "SlidingWindow",
    "Streaming",
    "column_scales",
    "for_group",
    "narrowest",
    "one_order",
    "paper_epsilon",
    "reach",
    "resolve",
    "settled_for",
    "takes_replicates",
]
