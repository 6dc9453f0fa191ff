"""The one sum over tuples, how it is formed, and everything that is read off it."""

from multiobs.sums import doors, leaf_pairs, leaves, moments, overlaps, pooling, scores, series
from multiobs.sums.contraction import (
    LIMIT,
    Plan,
    contract,
    contract_all,
    enumerate_tuples,
    features_of,
    plan,
    representatives,
    tuple_weights,
    weighted_power,
)
from multiobs.sums.features import Affine, Features, Lifted
from multiobs.sums.folding import added, folded
from multiobs.sums.joined import TupleFeatures, distinct, few_pairs
from multiobs.sums.pooling import Pooled, pool
from multiobs.sums.wide import many_features

__all__ = [
    "overlaps",
    "LIMIT",
    "Affine",
    "Features",
    "Lifted",
    "Plan",
    "Pooled",
    "TupleFeatures",
    "added",
    "contract",
    "contract_all",
    "distinct",
    "doors",
    "enumerate_tuples",
    "features_of",
    "few_pairs",
    "folded",
    "leaf_pairs",
    "leaves",
    "many_features",
    "moments",
    "plan",
    "pool",
    "pooling",
    "representatives",
    "scores",
    "series",
    "tuple_weights",
    "weighted_power",
]
