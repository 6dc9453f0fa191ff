"""From a problem to a fitted class of functions: risks, designs, solvers."""

from multiobs.fit import knees, links, penalised, rowwise, stream, terms
from multiobs.fit.additive import LinearColumns, Smooth, SmoothDesign, smooth_design, smooth_terms
from multiobs.fit.anchor_risk import framed
from multiobs.fit.averages import mixing
from multiobs.fit.design import Design, make_design
from multiobs.fit.efficient import efficiently_weighted
from multiobs.fit.empirical import empirical_risk
from multiobs.fit.forests import fewer_trees, is_forest
from multiobs.fit.linear import (
    LinearFit,
    fit_linear,
    many_tuples,
    minimiser,
    risk_of,
    with_ridge,
)
from multiobs.fit.links import LinkedLoss, LinkName, linked
from multiobs.fit.problem import Problem, Reweighting
from multiobs.fit.regressor import RegressorFit, fit_regressor
from multiobs.fit.risk import (
    MomentRisk,
    Risk,
    SumRisk,
    TupleRisk,
    constant_direction,
    reference_level,
    ridge,
    risk_of_loss,
    some_rows,
    total_weight,
)
from multiobs.fit.shrinkage import shrunk
from multiobs.fit.solvers import (
    LBFGS,
    Newton,
    Quadratic,
    Solution,
    Solver,
    Status,
    choose_solver,
    solve,
)
from multiobs.fit.stream import Stream, StreamFit
from multiobs.fit.units import SAME_UNITS, LabelUnits, label_units

__all__ = [
    "links",
    "knees",
    "penalised",
    "rowwise",
    "smooth_design",
    "smooth_terms",
    "terms",
    "is_forest",
    "linked",
    "SmoothDesign",
    "Smooth",
    "LinkedLoss",
    "LinkName",
    "LinearColumns",
    "LBFGS",
    "SAME_UNITS",
    "Design",
    "LabelUnits",
    "LinearFit",
    "MomentRisk",
    "Newton",
    "Problem",
    "Quadratic",
    "RegressorFit",
    "Reweighting",
    "Risk",
    "Solution",
    "Solver",
    "Status",
    "Stream",
    "StreamFit",
    "SumRisk",
    "TupleRisk",
    "choose_solver",
    "constant_direction",
    "empirical_risk",
    "fewer_trees",
    "efficiently_weighted",
    "fit_linear",
    "fit_regressor",
    "framed",
    "label_units",
    "make_design",
    "many_tuples",
    "minimiser",
    "mixing",
    "reference_level",
    "ridge",
    "risk_of",
    "risk_of_loss",
    "shrunk",
    "solve",
    "some_rows",
    "stream",
    "total_weight",
    "with_ridge",
]
