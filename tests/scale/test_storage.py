"""Runs on storage that fsspec knows: the same bits, nothing left behind, and a second attempt."""

import fsspec
import numpy as np
import pytest

from multiobs import samplers
from multiobs.scale import Serial, Threads, fit
from multiobs.scale import runs as runs_module
from multiobs.scale.storage import Remote, place_of


@pytest.fixture
def storage():
    """An address in memory, empty before and after."""
    held = fsspec.filesystem("memory")
    yield "memory://shared/scratch"
    held.rm("/", recursive=True)


@pytest.mark.parametrize(
    ("columns", "statistic"),
    [(["x"], "variance"), (["x", "z"], "variance"), (["x", "z"], "gini_mean_difference")],
)
def test_other_storage_gives_the_same_bits(columns, statistic, storage, rows, table):
    x, y = rows("plain", 700)
    frame = table(x, y, z=np.random.default_rng(0).random(700))
    options = dict(statistic=statistic, transport=None)
    expected = fit(frame, columns, "y", engine=Serial(), **options)
    found = fit(frame, columns, "y", engine=Threads(2), scratch=storage, **options)
    assert np.array_equal(found.coef_, expected.coef_)
    assert np.array_equal(found.coef_cov_, expected.coef_cov_)
    assert fsspec.filesystem("memory").find("/shared") == []


def test_runs_kept_on_other_storage_are_found_again(storage, rows, table, monkeypatch):
    frame = table(*rows("plain", 700))
    options = dict(sampler=samplers.Adjacent(8), transport=None, engine=Serial(), ranges=3)
    first = fit(frame, "x", "y", scratch=storage, keep=True, **options)
    monkeypatch.setattr(runs_module, "_sort", lambda *args: pytest.fail("sorted again"))
    again = fit(frame, "x", "y", scratch=storage, **options)
    assert np.array_equal(again.coef_, first.coef_)


def test_addresses():
    assert place_of("s3://bucket/a") / "b" == Remote("s3://bucket/a/b")
    assert str(place_of("/tmp/a")) == str(place_of("file:///tmp/a"))
