"""Sums over the tuples that contain each row, by running sums in as few passes as there can be."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import final

import numpy as np

from multiobs._types import FloatArray
from multiobs.statistics.kernels import Monomials
from multiobs.sums import moments, series
from multiobs.tuples import Graph, TupleSet, Windows


@final
@dataclass(frozen=True)
class Summed:
    """A term whose sums over tuples are running sums."""

    kernel: Monomials
    forms: tuple[FloatArray, ...]
    over: TupleSet

    @property
    def degree(self) -> int:
        """The power of the features in its score."""
        return len(self.forms) + 1


def in_few_passes(
    todo: Sequence[tuple[Summed, FloatArray]], rows: moments.RowValues, by_anchor: bool
) -> FloatArray:
    """Sum terms with their seeds (q, monomials), (n, q).

    One pass for all terms over the same tuples that may be centred alike.
    """
    out = np.zeros((rows.U.shape[0], todo[0][1].shape[0]))
    passes: dict[tuple[int, bool], list[tuple[Summed, FloatArray]]] = {}
    for term, seeds in todo:
        key = (id(term.over), term.kernel.shift_invariant)
        passes.setdefault(key, []).append((term, seeds))
    for group in passes.values():
        over = group[0][0].over
        assert isinstance(over, Windows | Graph)
        parts = [(term.kernel, term.degree, seeds) for term, seeds in group]
        tasks = [(kernel, degree) for kernel, degree, _ in parts]
        evaluator = moments.Evaluator(tasks, rows, keep_counts=True)
        out += membership(evaluator, over, parts, by_anchor)
    return out


def membership(
    evaluator: moments.Evaluator,
    tuples: Windows | Graph,
    parts: Sequence[tuple[Monomials, int, FloatArray]],
    by_anchor: bool = False,
) -> FloatArray:
    """Sum over the tuples that contain each row of a linear function of their series, (n, q).

    A tuple contributes to its anchor directly, and to a partner j through the sums in which one
    slot is held at j.  ``parts`` holds kernels with the degree of their series and the seeds
    (q, monomials) of the linear function.
    """
    v = evaluator.p
    q = parts[0][2].shape[0]
    out = np.zeros((tuples.n_rows, q))
    for chunk in evaluator.chunks(tuples):
        D = np.zeros((q, chunk.anchors.size, len(evaluator.columns)))
        for kernel, degree, seeds in parts:
            sums = evaluator.anchor_sums(chunk, kernel, degree)
            for c in range(q):
                for each, factor in zip(sums, seeds[c], strict=True):
                    if factor != 0.0:
                        np.add.at(out[:, c], chunk.anchors, factor * each)
            if by_anchor:
                continue
            triples = series.products(v, degree)
            for block, partners in evaluator.partner_factors(chunk, kernel, degree).items():
                scale = series.exp_weights(v, degree, block[0])
                for alpha, beta, gamma in triples:
                    column = evaluator.where[(block, alpha)]
                    for c in (c for c in range(q) if seeds[c, gamma] != 0.0):
                        D[c, :, column] += (seeds[c, gamma] * scale[alpha]) * partners[beta]
        if not by_anchor:
            for c in range(q):
                chunk.hand_back(D[c], out[:, c])
    return out
