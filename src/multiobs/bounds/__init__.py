"""The paper's theorems and lemmas as functions of numbers.

Everything here is vectorised over numpy arrays, works in logarithms (no overflow at d = 50) and
checks the conditions under which the statement holds. Where the printed text and its proof do
not agree, ``form="paper"`` (the default) is the printed statement and ``form="repaired"`` is what
the proof gives; the page *Theory* of the documentation lists every such place.

Nothing but :mod:`math` and :mod:`numpy` is imported.
"""

from .complexity import (
    RademacherEstimate,
    empirical_rademacher_linear,
    rademacher_linear,
)
from .constants import (
    LossConstants,
    kernel_range,
    ratio_loss_constants,
    squared_loss_constants,
    strong_convexity,
    ucb_loss_constants,
)
from .dimension import (
    CornerCube,
    corner_cube,
    dimension_lower_bound,
    repeat_probability,
    repeat_probability_bound,
)
from .lipschitz import TVLipschitz, estimate_tv_lipschitz
from .rates import (
    direct_rate,
    label_rate,
    rate_exponent,
    sample_rate,
    stone_construction,
    two_moment_rate,
)
from .risk import (
    FAST_DELTA,
    clean_excess_risk,
    clean_metasamples,
    excess_risk,
    fast_epsilon,
    fast_excess_risk,
    fast_metasamples,
    fast_sample_size,
    slow_metasamples,
    uniform_convergence,
)
from .sampling import (
    good_set_size,
    improved_sample_size,
    improved_sample_size_uniform,
    metasamples_within,
    naive_sample_size,
)

__all__ = [
    "FAST_DELTA",
    "CornerCube",
    "LossConstants",
    "RademacherEstimate",
    "TVLipschitz",
    "clean_excess_risk",
    "clean_metasamples",
    "corner_cube",
    "dimension_lower_bound",
    "direct_rate",
    "empirical_rademacher_linear",
    "estimate_tv_lipschitz",
    "excess_risk",
    "fast_epsilon",
    "fast_excess_risk",
    "fast_metasamples",
    "fast_sample_size",
    "good_set_size",
    "improved_sample_size",
    "improved_sample_size_uniform",
    "kernel_range",
    "label_rate",
    "metasamples_within",
    "naive_sample_size",
    "rademacher_linear",
    "rate_exponent",
    "ratio_loss_constants",
    "repeat_probability",
    "repeat_probability_bound",
    "sample_rate",
    "slow_metasamples",
    "squared_loss_constants",
    "stone_construction",
    "strong_convexity",
    "two_moment_rate",
    "ucb_loss_constants",
    "uniform_convergence",
]
