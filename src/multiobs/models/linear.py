"""A linear class in a file: its coefficients and what its intervals need."""

from typing import Any

import numpy as np

from multiobs._types import FloatArray
from multiobs.fit import LabelUnits, LinearFit
from multiobs.inference import Inference, Shares, n_packed
from multiobs.models.additive import design_from, design_to
from multiobs.models.classes import Cubic, LinearClass, Uncertainty
from multiobs.models.container import Fields, array, number
from multiobs.statistics import Statistic


def linear_to(
    fit: LinearFit, inference: Inference | None, names: tuple[str, ...]
) -> dict[str, Any]:
    """Return what a file holds of a linear class.

    Parameters
    ----------
    fit : LinearFit
        What predictions are made with.
    inference : Inference or None
        What intervals are made with, if there are any.
    names : tuple of str
        Names of the columns, without the intercept.
    """
    return {
        "kind": "linear",
        **design_to(fit.design, fit.problem.X.shape[1]),
        "w": array(fit.w),
        "names": list(names),
        "uncertainty": None if inference is None else _uncertainty_to(inference),
    }


def linear_from(fields: Fields, statistic: Statistic, units: LabelUnits, width: int) -> LinearClass:
    """Return the linear class that a file describes."""
    w = fields.array("w", None)
    design = design_from(fields, w.size, width)
    names = fields.texts("names")
    if len(names) != design.spread.size:
        raise fields.wrong("names", f"{design.spread.size} texts")
    known = None
    if fields.has("uncertainty"):
        known = _uncertainty_from(fields.inner("uncertainty"), w.size)
    return LinearClass(statistic, units, design, w, names, known)


def _uncertainty_to(inference: Inference) -> dict[str, Any]:
    found = inference.covariance
    cubic = None
    if found.third is not None:
        bend, centre = found.third.tensors()
        cubic = {"bend": array(_packed(bend)), "centre": array(_packed(centre))}
    shares = None
    if found.shares is not None:
        near, own = found.shares.packed()
        shares = {
            "number": number(found.shares.number),
            "total": array(found.shares.total),
            "frame": array(found.shares.frame),
            "near": array(near),
            "own": array(own),
        }
    return {
        "w": array(inference.fit.w),
        "matrix": array(found.matrix),
        "bread": array(found.bread),
        "df": number(found.df),
        "cubic": cubic,
        "shares": shares,
    }


def _uncertainty_from(fields: Fields, p: int) -> Uncertainty:
    cubic = None
    if fields.has("cubic"):
        inner = fields.inner("cubic")
        size = p * (p + 1) * (p + 2) // 6
        cubic = Cubic(
            *(_unpacked(inner.array(name, size), p) for name in ("bend", "centre")),
        )
    shares = None
    if fields.has("shares"):
        inner = fields.inner("shares")
        frame = inner.array("frame", p, None)
        r = frame.shape[1]
        if not 0 < r <= p:
            raise inner.wrong("frame", f"of at most {p} columns")
        total, none = inner.array("total", r, r), np.zeros((r * r, r * r))
        near, own = (inner.array(name, n_packed(r)) for name in ("near", "own"))
        shares = Shares(inner.real("number"), total, none, none, frame).with_packed(near, own)
    df = fields.real("df")
    if not df > 0:
        raise fields.wrong("df", "positive")
    return Uncertainty(
        fields.array("w", p),
        fields.array("matrix", p, p),
        fields.array("bread", p, p),
        df,
        cubic,
        shares,
    )


def _places(p: int) -> tuple[Any, ...]:
    a, b, c = np.ogrid[:p, :p, :p]
    return np.nonzero((a <= b) & (b <= c))


def _packed(tensor: FloatArray) -> FloatArray:
    """Entries a <= b <= c of the symmetric part of a cubic form's tensor."""
    orders = ((0, 1, 2), (0, 2, 1), (1, 0, 2), (1, 2, 0), (2, 0, 1), (2, 1, 0))
    whole = np.mean([tensor.transpose(order) for order in orders], axis=0)
    return np.asarray(whole[_places(tensor.shape[0])])


def _unpacked(entries: FloatArray, p: int) -> FloatArray:
    a, b, c = _places(p)
    tensor = np.zeros((p, p, p))
    for order in ((a, b, c), (a, c, b), (b, a, c), (b, c, a), (c, a, b), (c, b, a)):
        tensor[order] = entries
    return tensor
