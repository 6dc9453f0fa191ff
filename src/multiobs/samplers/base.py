"""What every sampler is, and what some of them know besides."""

from abc import ABC, abstractmethod
from typing import final

import numpy as np

from multiobs._types import FloatArray, IntArray
from multiobs.tuples import TupleSet


class Sampler(ABC):
    """Builds the tuples of rows whose labels are used together, from x alone.

    Examples
    --------
    >>> from multiobs.samplers import Sampler, SlidingWindow
    >>> isinstance(SlidingWindow(), Sampler)
    True
    """

    @abstractmethod
    def build(
        self,
        X: FloatArray,
        arity: int,
        rng: np.random.Generator,
        groups: IntArray | None = None,
    ) -> TupleSet:
        """Return the tuples of ``arity`` rows of X (n, d)."""

    @final
    def is_open(self) -> bool:
        """Whether a width or a number of neighbours is left for validation to choose."""
        return isinstance(self, Adjustable) and self.left_open()

    @final
    def candidates(self, X: FloatArray, arity: int) -> list["Sampler"]:
        """Samplers among which validation chooses: itself where nothing is left open."""
        if isinstance(self, Adjustable) and self.left_open():
            return self.widths(X, arity)
        return [self]

    @final
    def can_stream(self) -> bool:
        """Whether rows in increasing x can be taken as they come."""
        return isinstance(self, Streaming) and self.settled()

    @final
    def stream_tail(self, x: FloatArray, arity: int) -> int:
        """Position in sorted x (n,) of the first row that a stream must keep for later rows."""
        assert isinstance(self, Streaming)
        return self.tail(x, arity)

    @final
    def at(self, rows: IntArray) -> "Sampler":
        """Return the sampler for some of the rows: itself unless it holds codes of rows."""
        return self.subset(rows) if isinstance(self, Coded) else self


class Coded(Sampler):
    """A sampler that holds something for every row."""

    @abstractmethod
    def subset(self, rows: IntArray) -> Sampler:
        """Return the same with what it holds for some rows."""


class Adjustable(Sampler):
    """A sampler whose width can be left open.

    Examples
    --------
    >>> from multiobs.samplers import Nearby
    >>> Nearby("auto").is_open(), Nearby(0.1).is_open()
    (True, False)
    """

    @abstractmethod
    def left_open(self) -> bool:
        """Whether it is."""

    @abstractmethod
    def widths(self, X: FloatArray, arity: int) -> list[Sampler]:
        """The same sampler with each width worth trying on X (n, d)."""


class Counted(Sampler):
    """A sampler that puts a number of further rows together with each.

    Examples
    --------
    >>> from multiobs.samplers import Adjacent
    >>> Adjacent(16).with_partners(8, by_group=False)
    Adjacent(n_rows=8)
    """

    @abstractmethod
    def partners(self) -> int:
        """How many there are."""

    @abstractmethod
    def with_partners(self, count: int, by_group: bool) -> "Counted":
        """Return the same with another number, in small groups in proportion if so asked."""


class Streaming(Sampler):
    """A sampler of one column whose tuples span a bounded stretch of x.

    Examples
    --------
    >>> from multiobs.samplers import Nearby
    >>> Nearby("auto").can_stream(), Nearby(0.1).can_stream()
    (False, True)
    """

    @abstractmethod
    def settled(self) -> bool:
        """Whether that stretch does not depend on rows yet to come."""

    @abstractmethod
    def tail(self, x: FloatArray, arity: int) -> int:
        """Position in sorted x (n,) of the first row whose tuples a later row may change."""
