"""Samplers by name, and the least biased one."""

from multiobs import _check
from multiobs.samplers.base import Sampler
from multiobs.samplers.batches import Improved, Naive
from multiobs.samplers.near import Nearby, Nearest, Replicates
from multiobs.samplers.windows import Disjoint, SlidingWindow

SAMPLERS: dict[str, Sampler] = {
    "naive": Naive(),
    "improved": Improved(),
    "sliding": SlidingWindow(),
    "disjoint": Disjoint(),
    "nearby": Nearby(),
    "nearest": Nearest(),
    "replicates": Replicates(),
}


def resolve(sampler: str | Sampler) -> Sampler:
    """Return the sampler itself, or the default one of that name."""
    if isinstance(sampler, Sampler):
        return sampler
    if isinstance(sampler, str):
        _check.choice("sampler", sampler, ("auto", *SAMPLERS))
        if sampler in SAMPLERS:
            return SAMPLERS[sampler]
        raise ValueError("sampler 'auto' is chosen by an estimator, which sees all the data")
    raise TypeError(f"sampler must be a name or a Sampler, got {_check.shown(sampler)}")


def takes_replicates(sampler: str | Sampler) -> bool:
    """Whether several columns of y are several labels at the same x.

    >>> takes_replicates("replicates"), takes_replicates("nearby")
    (True, False)
    """
    return isinstance(SAMPLERS.get(sampler) if isinstance(sampler, str) else sampler, Replicates)


def narrowest(d: int, arity: int) -> Sampler:
    """Return the sampler with the least bias: adjacent rows, or the nearest ones.

    >>> narrowest(1, 2)
    SlidingWindow()
    """
    return SlidingWindow() if d == 1 else Nearest(n_neighbors=max(arity - 1, 1))
