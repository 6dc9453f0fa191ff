"""Additive terms: centred columns of unit roughness, categories without a reference."""

import numpy as np
import pytest

from multiobs.fit.additive import Smooth, smooth_design
from multiobs.fit.terms import LineTerm, SplineTerm, TensorTerm, interaction, products


def test_spline_columns_are_centred_orthogonal_and_of_unit_roughness() -> None:
    x = np.sort(np.random.default_rng(0).normal(size=400))
    design = smooth_design(Smooth(n_knots=8), x[:, None])
    Z = design.columns(x[:, None])
    np.testing.assert_allclose(Z[:, 1:].mean(axis=0), 0.0, atol=1e-10)
    gram = Z[:, 2:].T @ Z[:, 2:]
    off = gram - np.diag(np.diag(gram))
    assert np.abs(off).max() < 1e-6 * np.diag(gram).max()
    (term,) = design.terms
    assert isinstance(term, SplineTerm)
    # roughness by differences on a fine grid, the domain scaled to length one
    grid = np.linspace(term.axis.knots[0], term.axis.knots[-1], 20_001)
    columns = term.columns(grid[:, None])
    step = 1.0 / 20_000
    second = (columns[2:] - 2 * columns[1:-1] + columns[:-2]) / step**2
    rough = np.sum(second**2, axis=0) * step
    np.testing.assert_allclose(rough[0], 0.0, atol=1e-6)
    np.testing.assert_allclose(rough[1:5], 1.0, rtol=1e-3)


def test_straight_beyond_the_data() -> None:
    x = np.linspace(0, 1, 100)
    design = smooth_design(Smooth(), x[:, None])
    far = design.columns(np.array([[1.0], [1.001], [1.002]]))
    bend = far[2] - 2 * far[1] + far[0]
    assert np.abs(bend).max() < 1e-3 * np.abs(far[1] - far[0]).max()


def test_few_values_are_a_line_and_constants_are_left_out() -> None:
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.integers(0, 2, 50), np.ones(50), rng.normal(size=50)])
    design = smooth_design(Smooth(), X, names=["sex", "one", "age"])
    assert [term.name for term in design.terms] == ["sex", "s(age)"]
    assert isinstance(design.terms[0], LineTerm)


def test_levels_span_the_same_whatever_comes_first() -> None:
    code = np.random.default_rng(0).integers(0, 3, 60)
    spans = []
    for order in ([0, 1, 2], [2, 0, 1]):
        place = np.argsort(order)[code]
        X = (place[:, None] == np.array([1, 2])).astype(float)
        design = smooth_design(Smooth(), X, ["a", "b"], [("colour", (0, 1))])
        Z = design.columns(X)[:, 1:]
        spans.append(Z @ Z.T)  # what a ridge on all levels depends on
    np.testing.assert_allclose(spans[0], spans[1], atol=1e-12)


def test_interactions_have_three_groups_and_must_name_columns() -> None:
    X = np.random.default_rng(0).uniform(size=(200, 2))
    design = smooth_design(Smooth(interactions=True), X)
    assert [term.name for term in design.terms] == ["s(x0)", "s(x1)", "s(x0):s(x1)"]
    last = design.groups[design.blocks == 2]
    assert set(last - last.min()) == {0, 1, 2}
    with pytest.raises(ValueError, match=r"pairs of different numeric columns of \[0, 1\]"):
        smooth_design(Smooth(interactions=[(0, 2)]), X)


def test_products_of_rough_parts_stay_as_small_as_these() -> None:
    """Or a penalty of the whole group would not tell a rough interaction from a smooth one."""
    X = np.random.default_rng(0).uniform(size=(300, 2)) * [1.0, 1000.0]
    design = smooth_design(Smooth(interactions=True), X)
    one, two, both = design.terms
    assert isinstance(both, TensorTerm)
    raw, Z = products(one, two, X), both.columns(X)
    for group in range(3):
        inside = both.groups == group
        unit = raw.std(axis=0)[inside] / Z.std(axis=0)[inside]
        np.testing.assert_allclose(unit, unit[0])
        np.testing.assert_allclose(Z.std(axis=0)[inside].max(), 1.0)
    # of products of curved parts, the first is the smoothest, the last the roughest
    curved = Z.std(axis=0)[both.groups == 2]
    assert curved[-1] < curved[0] / 20
    other = interaction(one, two, X).columns(X[::-1])
    np.testing.assert_array_equal(other[::-1], Z)
