"""The same plan on a Dask cluster, and when workers or the scheduler die in the middle of it."""

import os
import signal
import subprocess
import sys
import threading
import time

import joblib
import numpy as np
import pytest

from multiobs import MultiObservationRegressor, samplers, scoring
from multiobs.scale import DaskFutures, Serial, fit

pytestmark = pytest.mark.filterwarnings("ignore")  # of distributed's own shutting down

distributed = pytest.importorskip("distributed")
OPTIONS = dict(sampler=samplers.Adjacent(8), ranges=12)


@pytest.fixture(scope="module")
def client():
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, dashboard_address=":0", memory_limit="1GB"
        ) as cluster,
        distributed.Client(cluster) as connected,
    ):
        yield connected


def same(found, expected):
    assert np.array_equal(found.coef_, expected.coef_)
    assert np.array_equal(found.coef_cov_, expected.coef_cov_)


def test_a_cluster_gives_the_same_bits(client, rows, table):
    x, y = rows("plain", 4000)
    frame = table(x, y)
    same(
        fit(frame, "x", "y", engine="dask", client=client, **OPTIONS),
        fit(frame, "x", "y", engine=Serial(), **OPTIONS),
    )


@pytest.mark.parametrize("statistic", ["variance", "gini_mean_difference"])
def test_several_columns_on_a_cluster(client, statistic, rows, table):
    x, y = rows("plain", 700)
    frame = table(x, y, z=np.random.default_rng(0).random(700))
    options = dict(statistic=statistic, transport=None)
    same(
        fit(frame, ["x", "z"], "y", engine="dask", client=client, **options),
        fit(frame, ["x", "z"], "y", engine=Serial(), **options),
    )


class Slowly:
    """A cluster whose tasks take so long that a worker can be killed among them."""

    def __init__(self, client, seconds):
        self.inner, self.seconds = DaskFutures(client), seconds

    def map(self, function, items):
        seconds = self.seconds

        def slowly(item):  # by value: workers do not know this module
            time.sleep(seconds)
            return function(item)

        return self.inner.map(slowly, items)


def living(client, killed):
    """Processes of two workers, none of which was killed."""
    while True:
        client.wait_for_workers(2)
        found = sorted(client.run(os.getpid, on_error="ignore").values())
        if len(found) == 2 and not killed & set(found):
            return found
        time.sleep(0.2)


@pytest.mark.parametrize("kills", [1, pytest.param(5, marks=pytest.mark.slow)])
def test_a_worker_killed_at_random_moments(kills, client, rows, table, tmp_path):
    x, y = rows("plain", 4000)
    frame = table(x, y)
    expected = fit(frame, "x", "y", engine=Serial(), **OPTIONS)
    moments = np.random.default_rng(0).uniform(0.05, 1.5, kills)
    killed = set()
    for number, moment in enumerate(moments):
        victim = living(client, killed)[number % 2]
        killed.add(victim)
        timer = threading.Timer(float(moment), os.kill, (victim, signal.SIGKILL))
        timer.start()
        scratch = tmp_path / str(number)
        found = fit(frame, "x", "y", engine=Slowly(client, 0.05), scratch=scratch, **OPTIONS)
        timer.join()
        same(found, expected)
        assert list(scratch.iterdir()) == []


SCHEDULER = """
import sys, distributed
from distributed import LocalCluster

if __name__ == "__main__":
    cluster = LocalCluster(n_workers=1, threads_per_worker=1, dashboard_address=":0")
    print(cluster.scheduler_address, flush=True)
    sys.stdin.readline()
"""


def test_a_killed_scheduler_leaves_parts_from_which_the_next_run_resumes(
    rows, table, tmp_path, monkeypatch
):
    x, y = rows("plain", 4000)
    frame = table(x, y)
    expected = fit(frame, "x", "y", engine=Serial(), **OPTIONS)
    scheduler = subprocess.Popen(
        [sys.executable, "-c", SCHEDULER], stdout=subprocess.PIPE, stdin=subprocess.PIPE, text=True
    )
    assert scheduler.stdout is not None
    assert scheduler.stdin is not None
    address = scheduler.stdout.readline().strip()
    scratch = tmp_path / "scratch"

    def watching():
        while len(list(scratch.rglob("range-*.npz"))) < 3:
            time.sleep(0.02)
        scheduler.send_signal(signal.SIGKILL)

    timer = threading.Thread(target=watching)
    timer.start()
    with (
        distributed.Client(address, timeout="5s") as connected,
        pytest.raises(RuntimeError, match="the scheduler must live"),
    ):
        fit(frame, "x", "y", engine=Slowly(connected, 0.1), scratch=scratch, **OPTIONS)
    timer.join()
    scheduler.wait()
    scheduler.stdout.close()
    scheduler.stdin.close()
    done = len(list(scratch.rglob("range-*.npz")))
    assert done >= 3
    made = []
    from multiobs.scale import work

    make = work._Task._make
    monkeypatch.setattr(work._Task, "_make", lambda *a: made.append(a) or make(*a))
    same(fit(frame, "x", "y", engine=Serial(), scratch=scratch, **OPTIONS), expected)
    assert len(made) <= 24 - done  # two passes over twelve ranges, less what was there


def test_bootstraps_run_on_the_cluster_by_joblib(client, rows):
    from sklearn.base import clone
    from sklearn.tree import DecisionTreeRegressor

    x, y = rows("plain", 300)
    tree = DecisionTreeRegressor(max_depth=2, random_state=0)
    reg = MultiObservationRegressor(
        "variance", samplers.Adjacent(8), estimator=tree, transport=None, n_jobs=2, random_state=0
    ).fit(x[:, None], y)
    at = x[:5, None]
    expected = reg.predict_interval(at, n_bootstrap=10)
    again = clone(reg).fit(x[:, None], y)
    with joblib.parallel_config(backend="dask", client=client):
        found = again.predict_interval(at, n_bootstrap=10)
    np.testing.assert_array_equal(found, expected)


def test_width_paths_run_on_the_cluster_by_joblib(client, rows):
    x, y = rows("plain", 200)
    reg = MultiObservationRegressor("variance", transport=None)
    options = dict(epsilons=[0.05, 0.2], cv=2)
    expected = scoring.epsilon_path(reg, x[:, None], y, **options)
    with joblib.parallel_config(backend="dask", client=client):
        found = scoring.epsilon_path(reg, x[:, None], y, n_jobs=2, **options)
    np.testing.assert_array_equal(found.score, expected.score)
    np.testing.assert_array_equal(found.estimate, expected.estimate)


def test_experiments_run_on_the_cluster_by_joblib(client):
    from multiobs.experiments.run import Block, _compute

    blocks = [Block("variance-line", "sliding", 40, (trial,)) for trial in range(4)]
    here = sorted(map(repr, _compute(blocks, 0, 1)))
    with joblib.parallel_config(backend="dask", client=client):
        there = sorted(map(repr, _compute(blocks, 0, 2)))
    assert here == there
