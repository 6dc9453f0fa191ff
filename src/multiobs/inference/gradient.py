"""What the gradient of a risk is summed from, and how much a fit bends its scores."""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import final

import numpy as np

from multiobs._types import FloatArray
from multiobs.sums import LIMIT, Features, Lifted, features_of
from multiobs.sums.scores import Slope, tuple_scores
from multiobs.tuples import Tuples, TupleSet

HIGHEST = 0.8  # leverage is not taken to be larger: nothing would be left of a score


@final
@dataclass(frozen=True)
class Gradient:
    """A sum of scores of tuples: everything its variance is estimated from.

    Attributes
    ----------
    slope : Slope
        Derivative of the loss in r.
    tuples : TupleSet
        Which rows go together.
    Z : ndarray (n, q) or Lifted
        Features of the rows.
    y : ndarray (n,) or (n, s)
        Labels.
    w : ndarray (q,)
        Coefficients, of which the first p were estimated.
    weight : ndarray (n,) or None
        Weights of the rows.
    p : int
        How many coefficients were estimated.
    limit : int
        The most tuples that are enumerated.
    local : bool
        Take the features of a row for those of its tuples, which costs the same for any features.
    free : ndarray (p, f) or None
        Directions in which the coefficients were free to move; all of them by default.
    anchors : ndarray (n, q) or None
        Features of the tuples of each anchor, where these were all put at one place.
    """

    slope: Slope
    tuples: TupleSet
    Z: Features
    y: FloatArray
    w: FloatArray
    weight: FloatArray | None
    p: int
    limit: int = LIMIT
    local: bool = False
    free: FloatArray | None = None
    anchors: FloatArray | None = None

    @property
    def n_fitted(self) -> int:
        """How many coefficients the labels decided."""
        return self.p if self.free is None else self.free.shape[1]

    @cached_property
    def rows(self) -> FloatArray:
        """Features (n, p) at the rows themselves."""
        Z = self.Z
        return np.asarray((Z.function(Z.X) if isinstance(Z, Lifted) else Z)[:, : self.p])

    @cached_property
    def fitted(self) -> FloatArray:
        """The statistic of the residuals (n,) at the rows."""
        Z = self.Z
        return np.asarray((Z.function(Z.X) if isinstance(Z, Lifted) else Z) @ self.w)

    @cached_property
    def importance(self) -> FloatArray | None:
        """Weight of the tuples of each row.

        Weights multiply within a tuple, whose rows lie close together and weigh about the same.
        """
        return None if self.weight is None else self.weight**self.tuples.arity

    def scores(self, part: Tuples) -> FloatArray:
        """Scores (t, p) of listed tuples."""
        part, Z = self._placed(part)
        return tuple_scores(self.slope, part, Z, self.y, self.w, self.weight)[:, : self.p]

    def features(self, part: Tuples) -> FloatArray:
        """Features (t, p) of listed tuples."""
        return features_of(*self._placed(part))[:, : self.p]

    def _placed(self, part: Tuples) -> tuple[Tuples, Features]:
        """Tuples with the features that they are at: their anchor's, or the mean of members'."""
        if self.anchors is None:
            return part, self.Z
        return replace(part, representative=part.members[:, 0]), self.anchors

    def leverage(self, z: FloatArray, times: FloatArray) -> FloatArray:
        """Share (u,) of one tuple at each z (u, p) in the fit, where z has so many tuples."""
        return unit_leverage(z if self.free is None else z @ self.free, times)


def unit_leverage(z: FloatArray, times: FloatArray) -> FloatArray:
    """Share z' (Σ times · z z')^{-1} z of one tuple at each z in the fit, (u,)."""
    info = (z * times[:, None]).T @ z
    inverse = np.linalg.pinv(info, rcond=1e-12, hermitian=True)
    return np.asarray(np.einsum("ia,ia->i", z @ inverse, z))


def inflation(h: FloatArray) -> FloatArray:
    """Return (1 - h)^-1/2, (u, 1): what the fit takes away from scores it was fitted to.

    With h the share of all tuples that depend on a unit, this makes V unbiased when all units
    are alike, as the HC2 errors of least squares are.
    """
    return np.asarray((1.0 - np.clip(h, 0.0, HIGHEST)) ** -0.5)[:, None]
