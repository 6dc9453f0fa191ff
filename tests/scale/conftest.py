"""Rows for the tests of fits by parts."""

import tempfile
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

collect_ignore_glob = [] if find_spec("pyarrow") else ["test_*.py"]  # the extra `scale`


def rows_of(kind: str, n: int, labels: str = "real", seed: int = 0):
    """Positions and labels: plain, tied, with gaps, or far from zero."""
    rng = np.random.default_rng(seed)
    x = rng.random(n)
    if kind == "ties":
        x = np.where(rng.random(n) < 0.3, 0.5, np.round(x, 2))
    elif kind == "gaps":
        x = np.where(x < 0.5, x * 1e-3, 5.0 + x)
    elif kind == "offset":
        x = 1.7e9 + 1e5 * x
    u = (x - x.min()) / np.ptp(x)
    if labels == "pair":
        common = rng.normal(size=n)
        noise = rng.normal(size=(n, 2))
        return x, np.stack([np.sin(5 * u) + common, common * (1 + u)], axis=1) + noise
    if labels == "discrete":
        return x, rng.integers(0, 4, n).astype(float)
    if labels == "positive":
        return x, rng.gamma(2.0, 1.0 + u, n)
    return x, np.sin(6 * u) + rng.normal(size=n) * (1 + u)


def table_of(x, y, **more):
    import pyarrow as pa

    columns = {"x": x}
    if y.ndim == 1:
        columns["y"] = y
    else:
        columns |= {f"y{c}": y[:, c] for c in range(y.shape[1])}
    return pa.table(columns | more)


def far(found, expected) -> float:
    """Largest difference relative to the largest expected number."""
    found, expected = np.asarray(found, float), np.asarray(expected, float)
    return float(np.max(np.abs(found - expected)) / max(np.max(np.abs(expected)), 1e-300))


def agree(inside, by_parts) -> None:
    """The same tuples, coefficients, standard errors, degrees of freedom and limits."""
    assert by_parts.n_metasamples_ == inside.n_metasamples_
    expected = np.append(inside.coef_, inside.intercept_)
    assert far(np.append(by_parts.coef_, by_parts.intercept_), expected) < 1e-9
    errors = [np.sqrt(np.diag(each.coef_cov_)) for each in (by_parts, inside)]
    known, found = inside.inference_.covariance, by_parts.inference_.covariance
    # rounding moves the smallest direction of V by eps times its condition, in either fit
    V = np.linalg.solve(known.bread, np.linalg.solve(known.bread, known.matrix).T)
    limit = max(1e-8, 4.0 * np.finfo(float).eps * np.linalg.cond(V))
    assert far(*errors) < limit
    assert far(by_parts.coef_cov_, inside.coef_cov_) < limit
    assert found.df == pytest.approx(known.df, rel=1e-6)
    at = np.linspace(0.0, 1.0, 5)[:, None]
    limits = by_parts.inference_.interval(at, 0.9, "auto")
    assert far(limits, inside.inference_.interval(at, 0.9, "auto")) < 1e-7


@pytest.fixture
def equal():
    return agree


@pytest.fixture
def rows():
    return rows_of


@pytest.fixture
def table():
    return table_of


@pytest.fixture
def distance():
    return far


@pytest.fixture(autouse=True)
def own_scratch(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Two processes that fit one table would otherwise share their scratch folder."""
    folder = tmp_path_factory.mktemp("scratch")
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    monkeypatch.setenv("TMPDIR", str(folder))
    return folder
