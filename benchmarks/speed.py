"""How fast the fits are, against the limits that the project set itself.

Every claim is a ratio of two times of the same run, after a warm-up; the shortest of several
repeats counts.  ``python -m benchmarks --out out/bench`` writes a table, a JSON file and a figure,
and exits with an error when a claim fails.
"""

import ctypes
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from multiobs import MultiObservationRegressor, contract, statistics
from multiobs._types import FloatArray
from multiobs.samplers import Nearby
from multiobs.statistics.kernels import OrderStatistic, moment
from multiobs.tuples import sorted_windows

HERE = Path(__file__).parent


@dataclass(frozen=True)
class Claim:
    """A measured number and its limit."""

    what: str
    measured: float
    limit: float
    at_least: bool = False
    note: str = ""

    @property
    def holds(self) -> bool:
        """Whether the number is on the right side of its limit."""
        return self.measured >= self.limit if self.at_least else self.measured <= self.limit

    def as_dict(self) -> dict[str, Any]:
        return {**asdict(self), "holds": self.holds}


def data(n: int, columns: int = 1) -> tuple[FloatArray, FloatArray]:
    """Uniform x, a sine wave for the mean, noise that grows."""
    rng = np.random.default_rng(n)
    x = rng.random(n)
    y = np.sin(9 * x)[:, None] + rng.normal(size=(n, columns)) * (0.5 + x)[:, None]
    return x, y[:, 0] if columns == 1 else y


def shortest(*functions: Callable[[], Any], repeats: int) -> list[float]:
    """Shortest wall-clock time of each function, one after the other in every round."""
    for function in functions:
        function()
    best = [np.inf] * len(functions)
    for _ in range(repeats):
        for i, function in enumerate(functions):
            start = time.perf_counter()
            function()
            best[i] = min(best[i], time.perf_counter() - start)
    return best


def fit(
    statistic: Any, x: FloatArray, y: FloatArray, epsilon: Any = "paper"
) -> MultiObservationRegressor:
    """The paper's estimator: all tuples within epsilon, labels as they are."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # a line may leave the statistic's domain
        model = MultiObservationRegressor(statistic, Nearby(epsilon), transport=None)
        return model.fit(x[:, None], y)


def sort_and_gather(x: FloatArray, y: FloatArray) -> None:
    order = np.argsort(x)
    x[order], y[order]


def against_the_sort(largest: int) -> Iterator[Claim]:
    for n in (10**6, 10**7):
        if n > largest:
            continue
        x, y = data(n)
        fitted, sort = shortest(
            partial(fit, "variance", x, y),
            partial(sort_and_gather, x, y),
            repeats=15 if n == 10**6 else 4,
        )
        note = f"{fitted:.3f} s against {sort:.3f} s"
        yield Claim(
            f"fit of the variance, n = {n:.0e}, by argsort and two gathers",
            fitted / sort,
            2.0,
            note=note,
        )


def many_tuples() -> Iterator[Claim]:
    x, y = data(10**5)
    x2, y2 = data(2 * 10**5)
    statistic = statistics.minvar(4)
    model, wide = fit(statistic, x, y), fit(statistic, x, y, 0.1)
    paper, tenth, once, twice = shortest(
        lambda: fit(statistic, x, y),
        lambda: fit(statistic, x, y, 0.1),
        lambda: fit(statistic, x, y, 0.01),
        lambda: fit(statistic, x2, y2, 0.01),
        repeats=3,
    )
    yield Claim(
        "minvar(4), n = 1e5, tuples a second",
        model.n_metasamples_ / paper,
        1e12,
        at_least=True,
        note=f"{model.n_metasamples_:.2e} tuples in {paper:.2f} s",
    )
    note = f"{wide.n_metasamples_:.1e} tuples in {tenth:.2f} s"
    yield Claim("minvar(4), epsilon = 0.1, by the paper's epsilon", tenth / paper, 4.0, note=note)
    note = f"{once:.2f} s and {twice:.2f} s"
    yield Claim("minvar(4), epsilon = 0.01, n = 2e5 by n = 1e5", twice / once, 2.4, note=note)


def higher_orders() -> Iterator[Claim]:
    x, y = data(10**6)
    names = {
        "central_moment(3)": (statistics.central_moment(3), 6.0),
        "central_moment(4)": (statistics.central_moment(4), 6.0),
        "l_moment(2)": (statistics.l_moment(2), 30.0),
        "l_moment(3)": (statistics.l_moment(3), 30.0),
        "l_moment(4)": (statistics.l_moment(4), 30.0),
    }
    variance = shortest(lambda: fit("variance", x, y), repeats=5)[0]
    for name, (statistic, limit) in names.items():
        taken = shortest(lambda s=statistic: fit(s, x, y), repeats=2)[0]
        note = f"{taken:.2f} s against {variance:.3f} s"
        yield Claim(f"{name}, n = 1e6, by the variance", taken / variance, limit, note=note)


MEMORY = """
import sys
import numpy as np
from multiobs import MultiObservationRegressor, statistics
from multiobs.samplers import Nearby

def status(key):
    with open("/proc/self/status") as lines:
        return next(int(line.split()[1]) for line in lines if line.startswith(key)) * 1024

n, name, epsilon = int(sys.argv[1]), sys.argv[2], sys.argv[3]
epsilon = epsilon if epsilon == "paper" else float(epsilon)
rng = np.random.default_rng(0)
X, y = np.empty((n, 1)), np.empty(n)
rng.random(out=X[:, 0])
rng.random(out=y)
if name == "collision_probability":
    y *= 5
    np.floor(y, out=y)
make = lambda: MultiObservationRegressor(name, Nearby(epsilon), transport=None)
make().fit(X[:1000], y[:1000])
before = status("VmRSS")
with open("/proc/self/clear_refs", "w") as file:
    file.write("5")
make().fit(X, y)
print((status("VmHWM") - before) / (X.nbytes + y.nbytes))
"""


def memory(largest: int) -> Iterator[Claim]:
    n = min(largest, 10**7)
    cases = [
        ("variance", "paper", n),
        ("variance", "0.1", n),
        ("minvar", "paper", n),
        ("minvar", "0.1", n // 10),
        ("ucb", "paper", n // 10),
        ("collision_probability", "paper", n // 10),
    ]
    for name, epsilon, size in cases:
        run = subprocess.run(
            [sys.executable, "-W", "ignore", "-c", MEMORY, str(size), name, epsilon],
            capture_output=True,
            text=True,
            check=True,
        )
        what = (
            f"peak memory beyond the input, by the input: {name}, epsilon {epsilon}, n = {size:.0e}"
        )
        yield Claim(what, float(run.stdout), 6.0)


def in_fresh_process(code: str, repeats: int = 7) -> float:
    """Shortest time that the code prints, each in its own process."""
    return min(
        float(
            subprocess.run(
                [sys.executable, "-c", code], capture_output=True, text=True, check=True
            ).stdout.splitlines()[-1]
        )
        for _ in range(repeats)
    )


IMPORT = "import time; t = time.perf_counter(); import {}; print(time.perf_counter() - t)"
FIRST = """
import sys, time, warnings
warnings.simplefilter("ignore")
import numpy as np
import multiobs
from multiobs.samplers import Nearby
rng = np.random.default_rng(0)
x = rng.random((10_000, 1))
statistic = multiobs.statistics.resolve({name!r})
y = rng.integers(0, 5, size=(10_000, statistic.n_columns)).astype(float) + x
y = y[:, 0] if statistic.n_columns == 1 else y
model = multiobs.MultiObservationRegressor(statistic, {sampler}, transport={transport!r})
t = time.perf_counter()
model.fit(x, y)
print(time.perf_counter() - t)
"""


def first_use() -> Iterator[Claim]:
    ours, theirs = (
        in_fresh_process(IMPORT.format(m)) for m in ("multiobs", "sklearn.linear_model")
    )
    yield Claim(
        "import multiobs by import sklearn.linear_model",
        ours / theirs,
        1.2,
        note=f"{ours:.2f} s against {theirs:.2f} s",
    )
    times = {}
    for name in statistics.CATALOGUE:
        code = FIRST.format(name=name, sampler="Nearby('paper')", transport=None)
        times[name] = in_fresh_process(code, repeats=3)
    slowest = max(times, key=lambda name: times[name])
    yield Claim(
        f"first fit of 1e4 rows in a fresh process, seconds, slowest of {len(times)} statistics",
        times[slowest],
        0.3,
        note=slowest,
    )


SLOPES: dict[str, Callable[[], Any]] = {
    "variance": statistics.variance,
    "covariance": statistics.covariance,
    "ucb(1)": lambda: statistics.ucb(1.0),
    "central_moment(3)": lambda: statistics.central_moment(3),
    "central_moment(4)": lambda: statistics.central_moment(4),
    "dispersion_index": statistics.dispersion_index,
    "gini_mean_difference": statistics.gini_mean_difference,
    "minvar(4)": lambda: statistics.minvar(4),
    "l_moment(4)": lambda: statistics.l_moment(4),
    "collision_probability": statistics.collision_probability,
}


def slopes(largest: int) -> Iterator[Claim]:
    sizes = [n for n in (10**4, 10**5, 10**6, 10**7) if n <= largest]
    for name, make in SLOPES.items():
        times = []
        for n in sizes:
            statistic = make()
            x, y = data(n, statistic.n_columns)
            if name == "collision_probability":
                y = np.round(y)
            if n == sizes[-1] and times[-1] > 1.0:  # one long run: its warm-up was the size before
                start = time.perf_counter()
                fit(statistic, x, y)
                times.append(time.perf_counter() - start)
            else:
                repeats = 5 if n < 10**6 else 2
                times += shortest(lambda s=statistic, a=x, b=y: fit(s, a, b), repeats=repeats)
        slope = float(np.polyfit(np.log(sizes), np.log(times), 1)[0])
        note = ", ".join(f"{t:.3g} s" for t in times)
        yield Claim(
            f"log-log slope of time in n, 1e4 to {sizes[-1]:.0e}: {name}", slope, 1.15, note=note
        )


def enumeration() -> ctypes.CDLL:
    """Compile the plain loops that visit every tuple."""
    folder = Path(tempfile.mkdtemp())
    library = folder / "enumerate.so"
    source = HERE / "enumerate_tuples.c"
    subprocess.run(
        ["cc", "-O3", "-march=native", "-shared", "-fPIC", "-o", str(library), str(source)],
        check=True,
    )
    return ctypes.CDLL(str(library))


def speed_up(seconds: float = 5.0) -> dict[str, list[dict[str, float]]]:
    """Time of visiting every tuple in compiled code by the time of the one sum, over n.

    Both start from sorted windows of the paper's epsilon; sizes grow until a visit takes longer
    than ``seconds``.
    """
    loops = enumeration()
    cases = {
        "variance, pairs": ("variance_of_pairs", moment(2) - moment(1) * moment(1)),
        "minvar(3), tuples of 4": ("least_of_four", OrderStatistic([1.0, 0.0, 0.0, 0.0])),
    }
    found: dict[str, list[dict[str, float]]] = {}
    for name, (function, kernel) in cases.items():
        visit = getattr(loops, function)
        visit.argtypes = [ctypes.c_void_p] * 3 + [ctypes.c_int64, ctypes.c_void_p]
        branch = "running sums" if function == "variance_of_pairs" else "rank tree"
        n, rows = 1000, found.setdefault(name, [])
        while n <= 10**7 and (not rows or rows[-1]["enumerated"] < seconds):
            x, y = data(n)
            windows = sorted_windows(x, 0.5 / np.sqrt(n), kernel.arity, None)
            xs, ys = x[windows.order], y[windows.order]
            Z = np.column_stack([np.ones(n), x])
            out = np.zeros(2)

            def plain(visit=visit, xs=xs, ys=ys, windows=windows, n=n, out=out) -> None:  # type: ignore[no-untyped-def]
                visit(xs.ctypes.data, ys.ctypes.data, windows.stop.ctypes.data, n, out.ctypes.data)

            def summed(windows=windows, kernel=kernel, Z=Z, y=y, branch=branch) -> FloatArray:  # type: ignore[no-untyped-def]
                return contract(windows, kernel, Z, y, 1, branch=branch)

            slow, fast = shortest(plain, summed, repeats=3 if n < 10**5 else 1)
            np.testing.assert_allclose(summed(), out, rtol=1e-8)
            rows.append(
                {
                    "n": n,
                    "tuples": windows.count(),
                    "enumerated": slow,
                    "summed": fast,
                    "speed_up": slow / fast,
                }
            )
            n *= 2 if kernel.arity > 2 else 4
    return found


def all_claims(largest: int) -> Iterator[Claim]:
    """Every claim, in the order of the table."""
    yield from against_the_sort(largest)
    yield from many_tuples()
    yield from higher_orders()
    yield from memory(largest)
    yield from first_use()
    yield from slopes(largest)
