"""Odd and bad arguments, drawn from one random.Random so that every case can be drawn again."""

import random
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
from scipy import sparse

try:
    import pandas as pd
except ImportError:
    pd = None
try:
    import polars as pl
except ImportError:
    pl = None

HUGE = (1e300, -1e300, 1e308, 1e200, 1e160, 1e-300, 5e-324, 1e16, 1e8)

SCALARS = (
    None, "a", "", b"x", float("nan"), float("inf"), -float("inf"), -1, 0, 1, 2, 3, 7, 1.5, 0.5,
    -0.5,
    True, False, 1e200, 1e308, -1e308, 1e-320, 10**400, -(10**20), 2**63, 3 + 4j, np.float32(0.25),
    np.int64(3), np.array(3.0), np.float64("nan"), np.bool_(True), Decimal("1.5"), Fraction(1, 3),
    np.datetime64("2020-01-01"), np.timedelta64(3, "D"), "1.5", "auto", "nan", "é\n",
)  # fmt: skip

CONTAINERS = (
    [], (), {}, set(), {"a": 1}, {1, 2}, [None], [1, "b"], ["a", "b"], [[1, 2], [3]], (1,), (2, 1),
    ("a", "b"), (np.nan, 1.0), [np.nan] * 5, [np.inf] * 5, range(4), object(), int, len, print,
    np.zeros(0), np.zeros((3, 0)), np.zeros((0, 2)), np.zeros((2, 2, 2)), np.array([1 + 2j]),
    np.array([None, 1.0], dtype=object), np.array(["2020-01-01"], dtype="datetime64[D]"),
    np.array([1e308, -1e308] * 8), np.array(["x", "y"]), np.ma.masked_array([1.0, 2.0], [0, 1]),
    sparse.csr_matrix(np.eye(3)), memoryview(b"abc"), np.array([{}, []], dtype=object),
    np.zeros(3, dtype=[("a", float), ("b", int)]), lambda x: x, lambda: 1 / 0, Exception("e"),
)  # fmt: skip


class Draw:
    """Arguments of one call: rows that fit together, and whatever does not."""

    def __init__(self, seed: str) -> None:
        self.random = random.Random(seed)
        self.rng = np.random.default_rng(self.random.getrandbits(63))
        self.n = self.random.choice([0, 1, 2, 3, 4, 5, 8, 8, 12, 12, 20, 20, 30])
        self.d = self.random.choice([1, 1, 1, 1, 2, 2, 3, 5])

    def chance(self, share: float) -> bool:
        return self.random.random() < share

    def of(self, *options: Any) -> Any:
        return self.random.choice(options)

    # ------------------------------------------------------------ rows that should be taken

    def positions(self, d: int | None = None) -> np.ndarray:
        n, d = self.n, self.d if d is None else d
        kind = self.random.randrange(8)
        if kind <= 2:
            return self.rng.random((n, d))
        if kind == 3:
            return self.rng.integers(0, 3, (n, d)).astype(float)
        if kind == 4:
            return np.full((n, d), self.of(0.0, 1.0, *HUGE))
        if kind == 5:
            return self.rng.random((n, d)) * self.of(*HUGE)
        if kind == 6:
            return self.rng.normal(size=(n, d)) + self.of(1e8, -1e8, 1e15)
        X = self.rng.random((n, d))
        if X.size:
            X.flat[self.rng.integers(X.size)] = self.of(*HUGE)
        return X

    def labels(self, columns: int = 1) -> np.ndarray:
        n = self.n
        size = n if columns == 1 else (n, columns)
        kind = self.random.randrange(10)
        if kind <= 3:
            return self.rng.normal(size=size)
        if kind == 4:
            return self.rng.integers(0, 3, size).astype(float)
        if kind == 5:
            return np.full(size, self.of(0.0, 1.0, *HUGE))
        if kind == 6:
            return (self.rng.normal(size=size) * (self.of(*HUGE) / 8)).clip(-1e308, 1e308)
        if kind == 7:
            return self.rng.normal(size=size) + self.of(1e8, -1e8, 1e15)
        if kind == 8:
            return np.where(self.rng.random(size) < 0.5, 1e308, -1e308)
        y = self.rng.exponential(size=size)
        if y.size:
            y.flat[self.rng.integers(y.size)] = self.of(*HUGE)
        return y

    def weights(self) -> np.ndarray | None:
        return self.of(
            None,
            None,
            None,
            self.rng.random(self.n),
            self.rng.integers(0, 2, self.n).astype(float),
            np.zeros(self.n),
            np.full(self.n, self.of(*HUGE)),
            self.rng.random(self.n) * self.of(*HUGE),
            10.0 ** self.rng.uniform(-300, 300, self.n),
            -self.rng.random(self.n),
        )

    def groups(self) -> Any:
        codes = self.rng.integers(0, 3, self.n)
        return self.of(
            None,
            None,
            None,
            codes,
            np.arange(self.n),
            np.array(["a", "b", "c"])[codes],
            [("a", 1, None)[c] for c in codes],
            [("a", 1.5, True)[c] for c in codes],
            np.column_stack([codes, codes]),
            codes.astype(float) * np.nan,
            list(map(str, codes)),
            np.array([np.datetime64("2020-01-01"), None, "b"], dtype=object)[codes],
            codes[:-1],
        )

    def prediction(self) -> Any:
        return self.of(
            1.0, 0.0, -1.0, self.rng.random(self.n), np.ones(self.n), np.zeros(self.n),
            1e300, np.full(self.n, 1e-300), self.rng.normal(size=self.n),
            self.rng.random((self.n, 1)),
            [0.5] * self.n, np.nan, self.rng.random(self.n + 1), "a",
        )  # fmt: skip

    # ------------------------------------------------------------ the same in other forms

    def dressed(self, values: np.ndarray) -> Any:
        """Another form of an array: what users pass, right and wrong."""
        kind = self.random.randrange(34)
        if kind <= 12:
            return values
        simple = {
            13: lambda: values.tolist(),
            14: lambda: values.astype(np.float32),
            15: lambda: np.asfortranarray(values),
            16: lambda: np.nan_to_num(values, posinf=0.0).clip(-1e6, 1e6).astype(np.int32),
            17: lambda: values > 0.5,
            18: lambda: values.astype(object),
            19: lambda: values.astype(str),
            20: lambda: values.astype(complex),
            21: lambda: values[..., None],
            22: lambda: values[:-1],
            23: lambda: np.concatenate([values, values]),
            24: lambda: self.with_one(values, np.nan),
            25: lambda: self.with_one(values, np.inf),
            26: lambda: values.reshape(-1)[:1].sum(),
            27: lambda: sparse.csr_matrix(np.atleast_2d(values)) if values.ndim <= 2 else values,
            28: lambda: values.astype(np.float16),
            29: lambda: values.astype("datetime64[D]") if values.size and abs(values).max() < 1e9
            else values,
        }  # fmt: skip
        if kind in simple:
            with np.errstate(all="ignore"):
                return simple[kind]()
        return self.frame(values)

    def with_one(self, values: np.ndarray, odd: float) -> np.ndarray:
        out = np.array(values, dtype=float)
        if out.size:
            out.flat[self.rng.integers(out.size)] = odd
        return out

    def frame(self, values: np.ndarray) -> Any:
        """A pandas or polars frame or column, with something odd in it half of the time."""
        library = pl if pl is not None and self.chance(0.3) else pd
        if library is None or values.ndim > 2:
            return values
        if values.ndim == 1:
            return library.Series(values)
        named = {f"c{j}": values[:, j] for j in range(values.shape[1])}
        n, kind = len(values), self.random.randrange(12)
        codes = self.rng.integers(0, 2, n)
        odd: dict[int, Any] = {
            0: lambda: [("u", "v")[c] for c in codes],
            1: lambda: [("u", None)[c] for c in codes],
            2: lambda: [("u", 1)[c] for c in codes] if library is pd else list(map(str, codes)),
            3: lambda: codes.astype("datetime64[D]"),
            4: lambda: codes == 1,
            5: lambda: [(1.0, np.nan)[c] for c in codes],
            6: lambda: [[1], [2]] * n if n == 0 else [[int(c)] for c in codes],
        }
        if kind in odd:
            named["odd"] = odd[kind]()
        out = library.DataFrame(named)
        if library is pd and kind == 7 and out.shape[1] > 1:
            out.columns = ["a"] * out.shape[1]
        if library is pd and kind == 8:
            out.columns = [*range(out.shape[1] - 1), "z"]
        if library is pd and kind == 9 and n:
            out = out.astype("Float64")
            out.iloc[codes == 1] = pd.NA
        if library is pd and kind == 10 and n:
            out = out.assign(odd=pd.Categorical(["u", "v"] * n)[:n])
        if library is pd and kind == 11 and n:
            out.index = self.rng.permutation(n)
        return out

    def X(self, d: int | None = None) -> Any:
        return self.dressed(self.positions(d))

    def y(self, columns: int = 1) -> Any:
        return self.dressed(self.labels(columns))

    def bad(self) -> Any:
        """Anything at all."""
        return self.random.choice(SCALARS if self.chance(0.55) else CONTAINERS)


def misspelt(draw: Draw, name: str) -> str:
    """A name with one letter wrong."""
    at = draw.random.randrange(len(name))
    return name[:at] + draw.of("", "x", name[at] * 2) + name[at + 1 :]
