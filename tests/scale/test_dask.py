"""The same plan on a Dask cluster, and when a worker is killed in the middle of it."""

import os
import signal
import threading

import numpy as np
import pytest

from multiobs import samplers
from multiobs.scale import DaskFutures, Serial, fit

pytestmark = pytest.mark.filterwarnings("ignore")  # of distributed's own shutting down

distributed = pytest.importorskip("distributed")


@pytest.fixture(scope="module")
def client():
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, dashboard_address=None, memory_limit="1GB"
        ) as cluster,
        distributed.Client(cluster) as connected,
    ):
        yield connected


def test_a_cluster_gives_the_same_bits_even_when_a_worker_is_killed(client, rows, table, tmp_path):
    x, y = rows("plain", 4000)
    frame = table(x, y)
    options = dict(sampler=samplers.Adjacent(8), ranges=12)
    expected = fit(frame, "x", "y", engine=Serial(), **options)
    found = fit(frame, "x", "y", engine="dask", client=client, **options)
    assert np.array_equal(found.coef_, expected.coef_)
    assert np.array_equal(found.coef_cov_, expected.coef_cov_)
    pids = list(client.run(os.getpid).values())
    timer = threading.Timer(0.3, os.kill, (pids[0], signal.SIGKILL))
    timer.start()
    again = fit(frame, "x", "y", engine=DaskFutures(client), scratch=tmp_path, **options)
    timer.join()
    assert np.array_equal(again.coef_, expected.coef_)
    assert np.array_equal(again.coef_cov_, expected.coef_cov_)
