"""Small faults planted one at a time, and whether the tests notice: ``make mutants``.

Each mutant replaces one piece of text in a copy of the package and runs only the test files that
should notice, so that the whole list takes some minutes.
Exits with an error if fewer than 95 % are noticed, or if a piece of text is no longer there.
"""

import argparse
import csv
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[1]
NEEDED = 0.95


VALUES, MEAT, JOINT, DEPENDENCE = (
    f"inference/test_{name}.py" for name in ("values", "meat", "joint", "dependence")
)
SCORES, ERRORS, MANY_COLUMNS = (
    f"scoring/test_{name}.py" for name in ("values", "errors", "many_columns")
)
WIDE, CONTRACT, LOSSES = "sums/test_wide.py", "sums/test_contract.py", "statistics/test_losses.py"


class Mutant(NamedTuple):
    file: str
    old: str
    new: str
    tests: str  # files below tests/, separated by blanks


class Survivor(NamedTuple):
    file: str
    old: str
    new: str
    reason: str


MUTANTS = [
    # the corrections of small samples
    Mutant("inference/sandwich.py", "np.clip(2.0 / p", "np.clip(1.0 / p", VALUES),
    Mutant(
        "inference/hypotheses.py", "scaled @ inverse @ scaled", "gap @ inverse @ scaled", VALUES
    ),
    Mutant("inference/hypotheses.py", "@ scaled) / rank", "@ scaled)", VALUES),
    Mutant("inference/meat_of_rows.py", "(1.0 - (1.0 - shared) ** m) / shared", "m * 1.0", VALUES),
    Mutant("inference/gradient.py", "self.weight**self.tuples.arity", "self.weight", VALUES),
    Mutant("inference/gradient.py", "** -0.5)[:, None]", "** -1.0)[:, None]", VALUES),
    Mutant(
        "inference/chain.py",
        "return Chain(A, number, Tuples(other, n), number * (m * (m - 1)) / common)",
        "return Chain(A, number, Tuples(other, n), number * (m * (m - 1)) / common / 2)",
        VALUES,
    ),
    Mutant("inference/intervals.py", "spread * (1.0 - 2.0 * share)", "spread", VALUES),
    Mutant("inference/intervals.py", "skewness.bend - 1.5 * removed", "skewness.bend", VALUES),
    Mutant("inference/meat_of_rows.py", "correction = squares + share", "correction = share", MEAT),
    Mutant("inference/pairs.py", "0.5 * c) for term", "1.0 * c) for term", MEAT),
    Mutant("inference/pairs.py", ") - mass[own]", ")", "inference/test_pairs.py"),
    Mutant("inference/skewness.py", "(1.5, 3.0, units", "(1.0, 3.0, units", MEAT),
    Mutant("inference/meat.py", "- self.correction", "", MEAT),
    Mutant("inference/score_test.py", "pinv(R) @ (R @ at - q)", "pinv(R) @ (R @ at)", JOINT),
    Mutant("inference/score_test.py", "special.chdtrc(rank,", "special.chdtrc(1,", JOINT),
    Mutant("inference/influence.py", "(m - 1) / m * share", "share", JOINT),
    Mutant("inference/influence.py", "near -= (m - 1) * g", "pass", JOINT),
    Mutant("inference/dependence.py", "(count / max(count - 1, 1))", "1.0", DEPENDENCE),
    Mutant("inference/dependence.py", "[1 : df + fitted]", "[0 : df + fitted]", DEPENDENCE),
    Mutant("inference/dependence.py", "self.outer(u) * float", "self.outer(u) / float", DEPENDENCE),
    Mutant(
        "inference/bootstrap.py",
        "return float(-totals[0] / totals[1])",
        "return float(totals[0] / totals[1])",
        "inference/test_inference.py",
    ),
    # sums
    Mutant("sums/wide.py", "block[0] ** 2 * others", "block[0] * others", WIDE),
    Mutant("sums/wide.py", "times**2 * fz", "times * fz", WIDE),
    Mutant("sums/wide.py", "return np.asarray(total / m**2)", "return np.asarray(total / m)", WIDE),
    Mutant("sums/overlaps.py", "found.data[:] = 1.0", "pass", MEAT),
    Mutant("sums/contraction.py", "total /= part.arity", "total /= 2", CONTRACT),
    Mutant(
        "sums/contraction.py",
        "product_of_rows * part.weight",
        "product_of_rows",
        "sums/test_row_scores.py",
    ),
    Mutant("sums/contraction.py", "kernel(Y) * w", "kernel(Y)", CONTRACT),
    Mutant("sums/pooling.py", "(safe * tuples.arity)", "(safe)", "sums/test_pooling.py"),
    Mutant("sums/pooling.py", "if recurring:", "if False:", "sums/test_pooling.py"),
    Mutant(
        "sums/scores.py", "else found * importance", "else found", "sums/test_row_scores.py " + MEAT
    ),
    Mutant("sums/scores.py", "1 if by_anchor else part.arity", "1", "sums/test_row_scores.py"),
    Mutant("sums/series.py", "factorial(", "(lambda a: 1)(", CONTRACT),
    # statistics
    Mutant("statistics/losses.py", "psi * -2.0, constant", "psi * -1.0, constant", LOSSES),
    Mutant("statistics/losses.py", "(r - psi) / r**2", "(r - psi) / r", LOSSES),
    Mutant(
        "statistics/kernels.py", "def __sub__", "def __subtract__", "statistics/test_kernels.py"
    ),
    # fits and samplers
    Mutant(
        "samplers/windows.py",
        "np.repeat(size, size) > rows",
        "np.repeat(size, size) >= rows",
        "samplers/test_ties.py samplers/test_samplers.py",
    ),
    Mutant("fit/anchor_risk.py", "self._z @ w + self._offset", "self._z @ w", "fit/test_risk.py"),
    Mutant("fit/risk.py", "comb(k, j) * value**j", "comb(k, j) * value", "fit/test_risk.py"),
    # scores
    Mutant("scoring/_losses.py", "- c * d * r", "+ c * d * r", SCORES),
    Mutant("scoring/_calibration.py", "p = 2.0 * float(", "p = float(", SCORES),
    Mutant(
        "scoring/_compare.py", "p = 2.0 * float(", "p = float(", "scoring/test_errors.py " + SCORES
    ),
    Mutant("scoring/_errors.py", "by_rows - (m - 1) *", "by_rows - m *", ERRORS),
    Mutant("scoring/_errors.py", "else by_rows / m", "else by_rows", SCORES),
    Mutant("scoring/_errors.py", "least + int(4 *", "least + int(8 *", SCORES),
    Mutant(
        "scoring/_errors.py", "max(m - 1, span)", "m - 1", SCORES + " scoring/test_row_order.py"
    ),
    Mutant("scoring/_errors.py", "_pairs_once(U, members, n_rows) if m == 2 else U", "U", ERRORS),
    Mutant("scoring/_moved.py", "undersmooth=True", "undersmooth=False", MANY_COLUMNS),
    Mutant("scoring/_heldout.py", "LAGS = 4", "LAGS = 3", MANY_COLUMNS),
    Mutant("scoring/_heldout.py", "if near.count() <", "if 0 <", MANY_COLUMNS),
    # bounds, plans and the paper's experiments
    Mutant(
        "experiments/methods.py",
        "factor / (2.0 * math.sqrt(n))",
        "factor / math.sqrt(n)",
        "experiments/test_epsilon.py",
    ),
    Mutant(
        "bounds/lipschitz.py", "np.sqrt(2 * spread", "np.sqrt(spread", "bounds/test_lipschitz.py"
    ),
    Mutant("bounds/dimension.py", "2 * last + 1", "2 * last - 1", "bounds/test_dimension.py"),
    Mutant(
        "bounds/constants.py",
        "min(reach**2, 2 * reach * (r1 - r0))",
        "reach**2",
        "bounds/test_constants.py",
    ),
    Mutant(
        "bounds/constants.py",
        "min(top - bottom, lipschitz * (r1 - r0))",
        "top - bottom",
        "bounds/test_constants.py",
    ),
    Mutant("planning/replicates.py", "p / (n - p - 1)", "p / n", "planning/test_replicates.py"),
]

# Faults that no test can notice, or that are noticed elsewhere, and why.
EXPECTED = [
    Survivor(
        "scoring/_losses.py",
        "4.0 * spread",
        "3.0 * spread",
        "the interval in which a polynomial is read off its values; any one will do",
    ),
    Survivor(
        "inference/score_test.py",
        "w - towards @",
        "w + towards @",
        "where the search under the hypothesis starts: the next line puts any start on the "
        "constraint, and one Newton step along it ends at the minimum of a quadratic risk; where "
        "not to start, the constraint, is mutated above",
    ),
]


def noticed(mutant, python):
    """Whether some test fails with the fault in place."""
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / "src"
        shutil.copytree(ROOT / "src", source)
        file = source / "multiobs" / mutant.file
        text = file.read_text()
        if mutant.old not in text:
            raise SystemExit(f"{mutant.file} no longer holds {mutant.old!r}")
        file.write_text(text.replace(mutant.old, mutant.new, 1))
        files = [f"tests/{each}" for each in mutant.tests.split()]
        command = [python, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", *files]
        # the package is imported from the copy, the tests from where they are
        environment = {**os.environ, "PYTHONPATH": str(source)}
        done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, check=False)
        if done.returncode not in (0, 1):
            raise SystemExit(f"{mutant.tests} did not run:\n{done.stdout.decode()[-2000:]}")
        return done.returncode == 1


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", default="", help="mutants of files whose name contains this")
    parser.add_argument("--out", type=Path, help="CSV of every fault and whether it was noticed")
    options = parser.parse_args()
    chosen = [each for each in MUTANTS if options.only in each.file]
    survivors, table = [], []
    for number, mutant in enumerate(chosen, 1):
        dead = noticed(mutant, sys.executable)
        line = f"{mutant.file}: {mutant.old!r} -> {mutant.new!r}"
        print(f"{number}/{len(chosen)} {'killed  ' if dead else 'SURVIVED'} {line}", flush=True)
        table.append((mutant.file, mutant.old, mutant.new, "killed" if dead else "survived", ""))
        if not dead:
            survivors.append(line)
    share = 1.0 - len(survivors) / max(len(chosen), 1)
    print(f"{share:.0%} of {len(chosen)} mutants were noticed")
    for each in EXPECTED:
        print(f"not tried: {each.file}: {each.old!r} -> {each.new!r}: {each.reason}")
        table.append((each.file, each.old, each.new, "not tried", each.reason))
    if options.out is not None:
        options.out.parent.mkdir(parents=True, exist_ok=True)
        with options.out.open("w", newline="") as lines:
            csv.writer(lines).writerows([("file", "old", "new", "result", "reason"), *table])
    return int(share < NEEDED)


if __name__ == "__main__":
    sys.exit(main())
