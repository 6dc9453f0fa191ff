"""Smooth terms and links in a file: terms by their parameters, losses by the catalogue."""

from dataclasses import replace
from typing import Any, get_args

import numpy as np

from multiobs.fit import (
    Design,
    LabelUnits,
    LinearColumns,
    LinkName,
    SmoothDesign,
    linked,
    smooth_terms,
)
from multiobs.fit.terms import LevelsTerm, LineTerm, SmoothTerm, SplineTerm, TensorTerm
from multiobs.inference import AdditiveFit, Curve, CurvePart, TermTest, term_tests
from multiobs.models import parts
from multiobs.models.classes import AdditiveClass
from multiobs.models.container import Fields, ModelFileError, array, number
from multiobs.statistics import Parts, Statistic
from multiobs.transport.basis import SplineAxis

LINKS = get_args(LinkName)


def units_to(units: LabelUnits) -> dict[str, Any]:
    """Describe the units of the labels."""
    return {
        "shift": array(np.atleast_1d(units.shift)),
        "scale": units.scale,
        "factor": units.factor,
        "offset": units.offset,
        "penalty": number(units.penalty),
    }


def units_from(fields: Fields) -> LabelUnits:
    """Return the units that a file describes."""
    shift = fields.array("shift", None)
    scale, factor, offset = (fields.real(name) for name in ("scale", "factor", "offset"))
    if not (np.isfinite([scale, factor, offset]).all() and factor != 0):
        raise fields.wrong("factor", "finite and not zero")
    return LabelUnits(
        shift if shift.size > 1 else np.asarray(shift[0]),
        scale,
        factor,
        offset,
        fields.real("penalty"),
    )


def design_to(design: Design, width: int) -> dict[str, Any]:
    """Describe the columns of a linear class of ``width`` columns of x."""
    return {
        "transformer": parts.transformer_to(design.transformer, width),
        "centre": array(design.centre),
        "spread": array(design.spread),
        "intercept": bool(design.intercept),
    }


def design_from(fields: Fields, size: int, width: int) -> Design:
    """Return the columns of a linear class with ``size`` coefficients."""
    transformer = parts.transformer_from(fields.inner("transformer"), width)
    intercept = fields.flag("intercept")
    q = size - int(intercept)
    spread = fields.array("spread", q)
    if np.any(spread == 0):
        raise fields.wrong("spread", "different from zero")
    design = Design(transformer, fields.array("centre", q), spread, intercept)
    _check_size(fields, design, size, width)
    return design


def _check_size(fields: Fields, design: Any, size: int, width: int) -> None:
    try:
        made = design.columns(np.zeros((1, width))).shape[1]
    except (ValueError, IndexError) as problem:
        raise ModelFileError(f"the model file was tampered with: {problem}") from None
    if made != size:
        raise fields.wrong("w", f"{made} numbers")


def additive_to(fit: AdditiveFit, names: tuple[str, ...]) -> dict[str, Any]:
    """Describe a fitted additive class."""
    width = fit.problem.X.shape[1]
    return {
        "kind": "additive",
        "parts": [_part_to(part, width) for part in fit.curve.parts],
        "made_of": None if fit.made_of is None else {"beta": fit.made_of.beta},
        "shared": [array(each) for each in fit.curve.shared],
        "beta": number(fit.beta),
        "names": list(names),
        "tests": [
            {
                "part": each.part,
                "name": each.name,
                "edf": number(each.edf),
                "statistic": number(each.statistic),
                "df": number(each.df),
                "p": number(each.p_value),
            }
            for each in ([] if fit.linear is not None else term_tests(fit))
        ],
    }


def additive_from(fields: Fields, statistic: Statistic, width: int) -> AdditiveClass:
    """Return the additive class that a file describes."""
    given = fields.objects("parts")
    made_of = _made_of(fields, statistic)
    kinds = (statistic,) if made_of is None else made_of.statistics
    if len(given) != len(kinds):
        raise fields.wrong("parts", f"{len(kinds)} parts")
    found = tuple(_part_from(each, kind, width) for each, kind in zip(given, kinds, strict=True))
    sizes = [part.w.size for part in found]
    pairs = [(sizes[j], sizes[k]) for k in range(len(found)) for j in range(k)]
    both = fields.objects("shared")
    if len(both) != len(pairs):
        raise fields.wrong("shared", f"{len(pairs)} arrays")
    shared = tuple(each.as_array(*pair) for each, pair in zip(both, pairs, strict=True))
    names = fields.texts("names")
    first = found[0].design
    if isinstance(first, LinearColumns) and len(names) != first.design.spread.size:
        raise fields.wrong("names", f"{first.design.spread.size} texts")
    tests = tuple(
        TermTest(
            each.text("part"), each.text("name"),
            *(each.real(key) for key in ("edf", "statistic", "df", "p")),
        )
        for each in fields.objects("tests")
    )  # fmt: skip
    beta = fields.real("beta") if fields.has("beta") else 0.0
    if not np.isfinite(beta) or (beta and len(found) < 2):
        raise fields.wrong("beta", "a finite number, zero for a single part")
    return AdditiveClass(Curve(statistic, found, made_of, shared, beta), names, tests)


def _made_of(fields: Fields, statistic: Statistic) -> Parts | None:
    if not fields.has("made_of"):
        return None
    inner, made_of = fields.inner("made_of"), statistic.parts
    beta = inner.real("beta")
    if made_of is None or not np.isfinite(beta) or (beta and made_of.mixed is None):
        raise inner.wrong("beta", "a number, for a statistic that is a function of others")
    return made_of.mixed(beta) if beta and made_of.mixed is not None else made_of


def _part_to(part: CurvePart, width: int) -> dict[str, Any]:
    design = part.design
    linear = design_to(design.design, width) if isinstance(design, LinearColumns) else None
    return {
        "link": part.loss.link,
        "knee": part.loss.knee,
        "units": units_to(part.units),
        "linear": linear,
        "terms": None if linear is not None else [_term_to(term) for term in design.terms],
        "w": array(part.w),
        "covariance": array(part.covariances[0]),
        "common": array(part.covariances[1]),
    }


def _part_from(fields: Fields, statistic: Statistic, width: int) -> CurvePart:
    link = fields.text("link")
    known = next((each for each in LINKS if each == link), None)
    if known is None:
        raise fields.wrong("link", f"one of {', '.join(LINKS)}")
    units = units_from(fields.inner("units"))
    low, high = statistic.domain
    ends = ((low - units.offset) / units.factor, (high - units.offset) / units.factor)
    knee = fields.real("knee") if fields.has("knee") else 1.0
    if not (np.isfinite(knee) and knee > 0):
        raise fields.wrong("knee", "a positive number")
    try:
        loss = linked(replace(statistic, domain=ends), known, knee=knee)
    except ValueError as problem:
        raise ModelFileError(f"the model file was tampered with: {problem}") from None
    w = fields.array("w", None)
    design: SmoothDesign | LinearColumns
    if fields.has("linear"):
        design = LinearColumns(design_from(fields.inner("linear"), w.size, width))
    else:
        design = smooth_terms([_term_from(each, width) for each in fields.objects("terms")])
        _check_size(fields, design, w.size, width)
    covariances = tuple(fields.array(name, w.size, w.size) for name in ("covariance", "common"))
    return CurvePart(design, w, (covariances[0], covariances[1]), loss, units)


def _term_to(term: SmoothTerm) -> dict[str, Any]:
    if isinstance(term, LineTerm):
        return {
            "kind": "line", "of": term.of, "column": term.column,
            "centre": term.centre, "spread": term.spread,
        }  # fmt: skip
    if isinstance(term, SplineTerm):
        return {
            "kind": "spline", "of": term.of, "column": term.column,
            "knots": array(term.axis.knots), "table": array(term.axis.table),
            "width": term.axis.width, "basis": array(term.basis), "centre": array(term.centre),
        }  # fmt: skip
    if isinstance(term, LevelsTerm):
        return {
            "kind": "levels", "of": term.of, "indicators": list(term.indicators),
            "centre": array(term.centre),
        }  # fmt: skip
    if isinstance(term, TensorTerm):
        return {
            "kind": "tensor", "one": _term_to(term.one), "two": _term_to(term.two),
            "centre": array(term.centre), "scale": array(term.scale),
        }  # fmt: skip
    raise ValueError(f"a model file holds the terms of multiobs, got {type(term).__name__}")


def _term_from(fields: Fields, width: int) -> SmoothTerm:
    kind = fields.text("kind")
    if kind == "tensor":
        one, two = (_term_from(fields.inner(name), width) for name in ("one", "two"))
        if isinstance(one, TensorTerm) or isinstance(two, TensorTerm):
            raise fields.wrong("kind", "an interaction of two columns")
        bare = TensorTerm(one, two, np.zeros(1), np.ones(1))
        size = bare.groups.size
        scale = fields.array("scale", size)
        if np.any(scale == 0):
            raise fields.wrong("scale", "different from zero")
        return TensorTerm(one, two, fields.array("centre", size), scale)
    if kind == "levels":
        places = fields.any("indicators")
        if (
            not isinstance(places, list)
            or not places
            or not all(type(each) is int and 0 <= each < width for each in places)
        ):
            raise fields.wrong("indicators", "places of columns")
        return LevelsTerm(fields.text("of"), tuple(places), fields.array("centre", len(places) + 1))
    column = fields.count("column")
    if column >= width:
        raise fields.wrong("column", f"below {width}")
    if kind == "line":
        centre, spread = fields.real("centre"), fields.real("spread")
        if not (np.isfinite([centre, spread]).all() and spread != 0):
            raise fields.wrong("spread", "finite and not zero")
        return LineTerm(fields.text("of"), column, centre, spread)
    if kind != "spline":
        raise fields.wrong("kind", "'line', 'spline', 'levels' or 'tensor'")
    return SplineTerm(fields.text("of"), column, *_spline_from(fields))


def _spline_from(fields: Fields) -> tuple[SplineAxis, Any, Any]:
    knots = fields.array("knots", None)
    if knots.size < 2 or np.any(np.diff(knots) <= 0):
        raise fields.wrong("knots", "two or more increasing numbers")
    table = fields.array("table", knots.size - 1, None, None)
    length = fields.real("width")
    if not (table.shape[1] == table.shape[2] > 0 and np.isfinite(length) and length > 0):
        raise fields.wrong("width", "positive, with a table of square blocks")
    axis = SplineAxis(knots, table, length)
    basis = fields.array("basis", axis.size, None)
    return axis, basis, fields.array("centre", basis.shape[1])
