"""One visible function that turns "auto" into a sampler and a transport, and says why."""

from dataclasses import dataclass
from typing import Literal, final

from multiobs import _check, samplers
from multiobs._types import FloatArray
from multiobs.samplers import Nearby, Nearest, Sampler
from multiobs.statistics import Statistic
from multiobs.transport import Transport


@final
@dataclass(frozen=True)
class Choice:
    """A sampler and a transport, with the reason for each."""

    sampler: Sampler
    transport: Literal["location"] | None
    reasons: tuple[str, ...]


def choose(
    statistic: Statistic, sampler: str | Sampler, transport: Transport, X: FloatArray
) -> Choice:
    """Settle what the user left open.

    Parameters
    ----------
    statistic : Statistic
        What is estimated.
    sampler : str or Sampler
        "auto", a name, or a sampler.
    transport : "auto", "location", "location-scale" or None
        How labels are carried to the representative.
    X : ndarray (n, d)
        Positions of the rows.
    """
    reasons = []
    d = X.shape[1]
    if isinstance(sampler, str) and sampler == "auto":
        chosen: Sampler = Nearby("paper") if d == 1 else Nearest()
        reasons.append(f"sampler: {chosen!r}, since x has {d} column{'s' if d > 1 else ''}")
    else:
        chosen = samplers.resolve(sampler)
        reasons.append(f"sampler: {chosen!r}, as asked")
    if transport == "auto":
        carried: Literal["location"] | None = "location" if statistic.shift is not None else None
        reasons.append(f"transport: {carried!r}")
    elif transport is None:
        carried = None
    else:
        _check.choice("transport", transport, ("auto", "location", "location-scale"))
        carried = "location"
    return Choice(chosen, carried, tuple(reasons))
