"""What every sampler is."""

from abc import ABC, abstractmethod

import numpy as np

from multiobs._types import FloatArray, IntArray
from multiobs.tuples import TupleSet


class Sampler(ABC):
    """Builds the tuples of rows whose labels are used together, from x alone."""

    @abstractmethod
    def build(
        self,
        X: FloatArray,
        arity: int,
        rng: np.random.Generator,
        groups: IntArray | None = None,
    ) -> TupleSet:
        """Return the tuples of ``arity`` rows of X (n, d)."""
