"""Sums over distinct indices as products of plain sums: the set-partition identity."""

from collections.abc import Iterator
from functools import cache
from math import factorial

Exponent = tuple[int, ...]  # one power for each column of a label
Products = tuple[tuple[float, tuple[tuple[int, Exponent], ...]], ...]  # coefficient, blocks


@cache
def distinct_sum(
    slots: tuple[tuple[int, Exponent], ...],
) -> Products:
    r"""Expand a sum over distinct indices into products of plain sums.

    :math:`\sum_{j_1..j_q\ \mathrm{distinct}} \prod_a f_a(j_a)
    = \sum_\pi \prod_{B \in \pi} (-1)^{|B|-1} (|B|-1)! \sum_j \prod_{a \in B} f_a(j)`.
    A slot is (how many factors it holds, their summed exponent); so is a block.

    >>> distinct_sum(((1, (1,)), (1, (2,))))
    ((1.0, ((1, (1,)), (1, (2,)))), (-1.0, ((2, (3,)),)))
    """
    if not slots:
        return ((1.0, ()),)
    *rest, last = sorted(slots)
    if len(rest) > 1 and all(slot == last for slot in rest):
        return _alike(len(slots), last)
    total: dict[tuple[tuple[int, Exponent], ...], float] = {}
    for factor, blocks in distinct_sum(tuple(rest)):
        key = tuple(sorted((*blocks, last)))
        total[key] = total.get(key, 0.0) + factor
    for slot in sorted(set(rest)):  # the last index may not equal any earlier one
        others = list(rest)
        others.remove(slot)
        merged = (slot[0] + last[0], tuple(x + y for x, y in zip(slot[1], last[1], strict=True)))
        times = rest.count(slot)
        for factor, blocks in distinct_sum(tuple(sorted((*others, merged)))):
            total[blocks] = total.get(blocks, 0.0) - times * factor
    return tuple((factor, blocks) for blocks, factor in total.items() if factor != 0.0)


def _alike(q: int, slot: tuple[int, Exponent]) -> Products:
    """The same for q equal slots: one product of plain sums for each partition of the number q."""
    found = []
    for sizes in _partitions(q, q):
        # set partitions of this type, times (-1)^(b-1) (b-1)! for each block of b slots
        factor = factorial(q)
        for size in set(sizes):
            times = sizes.count(size)
            factor //= size**times * factorial(times)
        sign = -1.0 if (q - len(sizes)) % 2 else 1.0
        blocks = tuple(sorted((size * slot[0], tuple(size * e for e in slot[1])) for size in sizes))
        found.append((sign * float(factor), blocks))
    return tuple(found)


def _partitions(total: int, largest: int) -> Iterator[tuple[int, ...]]:
    """Ways to write a number as a sum, parts falling and none above ``largest``."""
    if total == 0:
        yield ()
    for part in range(min(total, largest), 0, -1):
        for rest in _partitions(total - part, part):
            yield (part, *rest)
