"""The metasamples that a user can look at."""

import numpy as np
import oracle
import pytest
from tables import SAMPLERS, STATISTICS, draw_labels, draw_positions

from multiobs import Metasamples, MultiObservationRegressor, metasamples
from multiobs.samplers import Improved, Nearest

PRODUCTS = [
    (sampler, statistic)
    for sampler, case in SAMPLERS.items()
    if 1 in case.columns and sampler != "naive(2)"
    for statistic in STATISTICS
    if statistic != "skewness"
]


@pytest.mark.parametrize(("sampler", "statistic"), PRODUCTS)
def test_metasamples_are_the_oracles(sampler, statistic):
    case, estimated = SAMPLERS[sampler], STATISTICS[statistic]
    chosen = estimated.make()
    for seed in range(3):
        rng = np.random.default_rng(seed)
        n = 20
        X, y = draw_positions(rng, n, 1, case.ties), draw_labels(estimated.labels, rng, n)
        weight = rng.integers(1, 4, n).astype(float)
        groups = rng.integers(0, 2, n) if seed else None
        found = metasamples(
            X,
            y,
            chosen,
            case.make(),
            transport=None,
            sample_weight=weight,
            groups=groups,
            random_state=seed,
        )
        assert isinstance(found, Metasamples)
        codes = None if groups is None else groups.tolist()
        listed = case.listed(X.tolist(), chosen.arity, codes)
        assert len(found) == len(listed)
        expected = {}
        for members, rep in listed:
            x = oracle.representative(X.tolist(), members, rep)
            expected.setdefault(tuple(sorted(members)), []).append(
                (x, oracle.tuple_weight(members, weight.tolist()))
            )
        for members, x, Y, w, wide in zip(
            found.members, found.x, found.Y, found.weight, found.diameter, strict=True
        ):
            key = tuple(sorted(members.tolist()))
            at, importance = expected[key].pop()
            np.testing.assert_allclose(x, at, rtol=1e-14)
            assert w == importance
            np.testing.assert_array_equal(Y, y[members])
            assert wide == np.ptp(X[members, 0])
        assert not any(expected.values())
        assert found.label_use.tolist() == oracle.label_use(listed, n)
        unused = [i for i, use in enumerate(oracle.label_use(listed, n)) if use == 0]
        assert found.unused.tolist() == unused


def test_summary_and_frame():
    pd = pytest.importorskip("pandas")
    found = metasamples([0.1, 0.4, 0.2, 9.0], [1.0, 2.0, 4.0, 5.0], sampler=Nearest(1))
    summary = found.summary()
    assert summary["metasamples"] == len(found) == 4
    assert summary["rows"] == 4
    assert summary["rows unused"] == 0
    assert summary["diameter, max"] == pytest.approx(8.6)
    frame = found.to_frame()
    assert isinstance(frame, pd.DataFrame)
    assert list(frame.columns) == ["x", "y1", "y2", "row1", "row2", "weight", "diameter"]
    np.testing.assert_array_equal(frame[["row1", "row2"]], found.members)
    pairs = metasamples(
        np.zeros((3, 2)), np.arange(6.0).reshape(3, 2), "covariance", "replicates"
    ).to_frame()
    assert {"x0", "x1", "y1_0", "y1_1", "y2_0", "y2_1"} <= set(pairs.columns)


def test_no_metasample_at_all():
    found = metasamples([0.0, 1.0], [1.0, 2.0], sampler="replicates")
    assert len(found) == 0
    assert found.summary()["rows unused"] == 2
    assert found.unused.tolist() == [0, 1]


def test_the_seed_decides():
    rng = np.random.default_rng(0)
    X, y = rng.random((50, 1)), rng.normal(size=50)
    sampler = Improved(0.2, shuffle=True)
    one, two = (metasamples(X, y, sampler=sampler, random_state=3) for _ in range(2))
    np.testing.assert_array_equal(one.members, two.members)


def test_inputs_are_checked():
    with pytest.raises(ValueError, match=r"inconsistent numbers of samples: \[2, 3\]"):
        metasamples([0.0, 1.0], [1.0, 2.0, 3.0])
    with pytest.raises(ValueError, match="y contains NaN"):
        metasamples([0.0, 1.0], [1.0, np.nan])
    with pytest.raises(ValueError, match="X contains infinity"):
        metasamples([0.0, np.inf], [1.0, 2.0])
    with pytest.raises(ValueError, match="below 5 tuples, got 10"):
        metasamples(np.zeros(5), np.zeros(5), sampler="replicates", limit=5)


@pytest.mark.parametrize("d", [1, 2, 5])
def test_auto_is_what_the_estimator_uses(d):
    rng = np.random.default_rng(0)
    X, y = rng.random((150, d)), rng.normal(size=150)
    found = metasamples(X, y, random_state=3)
    model = MultiObservationRegressor(random_state=3).fit(X, y)
    assert len(found) == model.n_metasamples_
    np.testing.assert_array_equal(found.members, model.tuples_.listed().members)


def test_equal_weights_and_absent_rows_keep_their_numbers():
    found = metasamples(
        [0.0, 1.0, 2.0], [1.0, 2.0, 5.0], sampler="sliding", sample_weight=[2.0, 0.0, 2.0]
    )
    assert found.members.tolist() == [[0, 2]]
    assert found.weight.tolist() == [4.0]
    assert found.label_use.tolist() == [1, 0, 1]


def test_frames_with_categories_are_taken_as_fit_takes_them():
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame({"x": [0.0, 1.0, 2.0, 3.0], "kind": ["a", "b", "a", "b"]})
    found = metasamples(frame, [1.0, 2.0, 3.0, 4.0], sampler="sliding", transport=None)
    assert found.members.tolist() == [[0, 2], [1, 3]]
