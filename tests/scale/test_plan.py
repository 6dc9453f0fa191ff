"""The simulated plan of more rows than anybody here has: what a simulation must get right."""

from dataclasses import replace

import numpy as np
import pytest

from benchmarks.scale_plan import Assumed, Costs, model, quickest, simulated, slope, stage

COSTS = Costs(
    fixed=2.0, sort=2e-7, risk=1e-7, scores=4e-7, read=50.0, written=16.0, page=1e-5, task=1e-3,
    sent=5e4,
)  # fmt: skip
NEVER = Assumed(deaths=1e-12)


def measured(fixed, each):
    """Measurements that obey a model exactly."""
    found = {}
    for n in (1e6, 1e7, 1e8):
        one = {"cpu": fixed + each * n, "read": 50e-9 * n, "written": 16e-9 * n, "sent": 0.02}
        more = one | {"cpu": fixed + 2 * each * n}
        stages = {"sort_part": each * n / 4, "RiskOfRange": 3 * each * n / 4}
        found[str(int(n))] = {
            "fit": one | {"stages": stages}, "fit with errors": more, "fit on Dask": one,
        }  # fmt: skip
    return found


def test_coefficients_are_those_of_rows_that_obey_the_model():
    assert slope(measured(3.0, 5e-7), "fit", "cpu") == pytest.approx((3.0, 5e-7))
    costs = model(measured(3.0, 4e-7), {"page": 1e-5, "task": 1e-3})
    assert (costs.sort, costs.risk, costs.scores) == pytest.approx((1e-7, 3e-7, 4e-7))
    assert (costs.read, costs.written) == pytest.approx((50.0, 16.0))


def test_workers_share_equal_tasks_evenly():
    rng = np.random.default_rng(0)
    assert stage(np.full(100, 2.0), 10, NEVER, rng) == (pytest.approx(20.0), 0)
    assert stage(np.full(3, 2.0), 10, NEVER, rng) == (pytest.approx(2.0), 0)


def test_dead_workers_cost_their_task_and_a_restart():
    often = Assumed(deaths=1.0)  # an hour each
    took, again = stage(np.full(1000, 600.0), 100, often, np.random.default_rng(0))
    # a task survives with exp(-1/6); a death costs half of it and a minute, about
    assert again == pytest.approx(1000 * (np.exp(1 / 6) - 1), rel=0.2)
    assert took > 1000 * 600.0 / 100


def test_more_rows_take_longer_and_more_workers_are_quicker():
    hours = [[quickest(COSTS, n, w).hours for w in (100, 1000)] for n in (1e9, 1e10)]
    assert np.all(np.diff(hours, axis=0) > 0)
    assert np.all(np.diff(hours, axis=1) < 0)


def test_small_parts_drown_in_looking_for_rows():
    """Every range looks into every run: the pages grow with the square of the parts."""
    small, large = (simulated(COSTS, 1e11, 1000, memory, NEVER) for memory in ("1GB", "64GB"))
    assert small.parts == 64 * large.parts
    assert small.cpu_hours > 2 * large.cpu_hours
    free = simulated(replace(COSTS, page=0.0), 1e11, 1000, "1GB", NEVER)
    assert free.cpu_hours == pytest.approx(7e-7 * 1e11 / 3600, rel=0.01)
