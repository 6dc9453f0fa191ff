"""Pilots that are fitted once to rows that several classes of functions are fitted to."""

from collections.abc import Callable
from hashlib import blake2b
from typing import final

from multiobs._types import FloatArray
from multiobs.transport.pilots import Indicators, Piloted, fit_pilot

PilotFit = Callable[..., Piloted]  # with the arguments of fit_pilot


@final
class PilotMemory:
    """A :func:`fit_pilot` that knows the rows it has seen: a pilot costs more than most classes.

    Examples
    --------
    >>> import numpy as np
    >>> fit = PilotMemory()
    >>> X, y = np.linspace(0, 1, 50)[:, None], np.arange(50.0)
    >>> fit(X, y, None) is fit(X.copy(), y, None), fit(X, y, None) is fit(X, y, np.ones(50))
    (True, False)
    """

    def __init__(self) -> None:
        self._known: dict[bytes, Piloted] = {}

    def __call__(
        self,
        X: FloatArray,
        y: FloatArray,
        weight: FloatArray | None,
        indicators: Indicators = (),
        *,
        undersmooth: bool = False,
    ) -> Piloted:
        """Fit, or return what was fitted to equal rows."""
        key = blake2b(repr((X.shape, weight is None, indicators, undersmooth)).encode())
        for each in (X, y, weight):
            if each is not None:
                key.update(each.tobytes())
        name = key.digest()
        if name not in self._known:
            self._known[name] = fit_pilot(X, y, weight, indicators, undersmooth=undersmooth)
        return self._known[name]
