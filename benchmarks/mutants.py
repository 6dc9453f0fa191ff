"""Small faults planted one at a time, and whether the tests notice: ``make mutants``.

Each mutant replaces one piece of text in a copy of the package and runs the tests of that room.
Exits with an error if fewer than 95 % are noticed, or if a piece of text is no longer there.
"""

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[1]
NEEDED = 0.95


class Mutant(NamedTuple):
    file: str
    old: str
    new: str
    tests: str


VALUES, MEAT, JOINT = (f"tests/inference/test_{name}.py" for name in ("values", "meat", "joint"))
SCORING, STATISTICS = "tests/scoring/test_scoring.py", "tests/statistics"
DEPENDENCE, WIDE = "tests/inference/test_dependence.py", "tests/sums/test_wide.py"
MUTANTS = [
    Mutant("inference/sandwich.py", "np.clip(2.0 / p", "np.clip(1.0 / p", VALUES),
    Mutant("inference/wald.py", "scaled @ inverse @ scaled", "gap @ inverse @ scaled", VALUES),
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
    Mutant("inference/pairs.py", ") - mass[own]", ")", MEAT),
    Mutant("inference/skewness.py", "(1.5, 3.0, units", "(1.0, 3.0, units", MEAT),
    Mutant("inference/meat.py", "- self.correction", "", MEAT),
    Mutant("inference/score_test.py", "w - towards @", "w + towards @", JOINT),
    Mutant("inference/score_test.py", "side @ V @ side.T", "2 * side @ V @ side.T", JOINT),
    Mutant("inference/influence.py", "(m - 1) / m * share", "share", JOINT),
    Mutant("inference/influence.py", "near - (m - 1) * g", "near", JOINT),
    Mutant("inference/dependence.py", "(count / max(count - 1, 1))", "1.0", DEPENDENCE),
    Mutant("inference/dependence.py", "1.0 - lag / (self.lags + 1.0)", "1.0", DEPENDENCE),
    Mutant("inference/dependence.py", "self.outer(u) * float", "self.outer(u) / float", DEPENDENCE),
    Mutant("sums/wide.py", "block[0] ** 2 * others", "block[0] * others", WIDE),
    Mutant("sums/wide.py", "times**2 * fz", "times * fz", WIDE),
    Mutant("sums/wide.py", "return np.asarray(total / m**2)", "return np.asarray(total / m)", WIDE),
    Mutant("sums/overlaps.py", "found.data[:] = 1.0", "pass", MEAT),
    Mutant("sums/contraction.py", "total /= part.arity", "total /= 2", "tests/sums"),
    Mutant(
        "statistics/losses.py", "psi * -2.0, constant", "psi * -1.0, constant", "tests/statistics"
    ),
    Mutant("statistics/losses.py", "(r - psi) / r**2", "(r - psi) / r", STATISTICS),
    Mutant(
        "scoring/_errors.py",
        "by_rows - (m - 1) *",
        "by_rows - m *",
        "tests/scoring/test_scoring.py",
    ),
    Mutant(
        "scoring/_errors.py", "else by_rows / m", "else by_rows", "tests/scoring/test_scoring.py"
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
        command = [python, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", mutant.tests]
        # the package is imported from the copy, the tests from where they are
        environment = {**os.environ, "PYTHONPATH": str(source)}
        done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, check=False)
        if done.returncode not in (0, 1):
            raise SystemExit(f"{mutant.tests} did not run:\n{done.stdout.decode()[-2000:]}")
        return done.returncode == 1


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", default="", help="mutants of files whose name contains this")
    chosen = [each for each in MUTANTS if parser.parse_args().only in each.file]
    survivors = []
    for number, mutant in enumerate(chosen, 1):
        dead = noticed(mutant, sys.executable)
        line = f"{mutant.file}: {mutant.old!r} -> {mutant.new!r}"
        print(f"{number}/{len(chosen)} {'killed  ' if dead else 'SURVIVED'} {line}", flush=True)
        if not dead:
            survivors.append(line)
    share = 1.0 - len(survivors) / max(len(chosen), 1)
    print(f"{share:.0%} of {len(chosen)} mutants were noticed")
    return int(share < NEEDED)


if __name__ == "__main__":
    sys.exit(main())
