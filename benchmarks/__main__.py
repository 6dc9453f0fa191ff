"""Run the speed benchmark: a table, a JSON file and a figure; an error when a claim fails.

``python -m benchmarks --out out/bench`` takes some minutes. ``--docs`` also writes the files that
the documentation shows.
"""

import argparse
import json
import os
import platform
import shutil
import sys
from pathlib import Path

import numpy as np

from benchmarks.speed import Claim, all_claims, speed_up

DOCS = Path(__file__).parent.parent / "docs" / "_static" / "performance"


def table(claims: list[Claim]) -> str:
    """The claims as a reStructuredText table."""
    lines = [
        ".. list-table::",
        "   :header-rows: 1",
        "   :widths: 56 12 12 20",
        "",
        "   * - Claim",
        "     - Measured",
        "     - Limit",
        "     - Note",
    ]
    for claim in claims:
        sign = "≥" if claim.at_least else "≤"
        mark = "" if claim.holds else " **fails**"
        lines += [
            f"   * - {claim.what}",
            f"     - {claim.measured:.3g}{mark}",
            f"     - {sign} {claim.limit:g}",
            f"     - {claim.note}",
        ]
    return "\n".join(lines) + "\n"


def figure(found: dict[str, list[dict[str, float]]], path: Path) -> None:
    """Speed-up over visiting every tuple, over n."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    shape, axes = plt.subplots(figsize=(6, 3.6))
    for name, rows in found.items():
        axes.loglog([r["n"] for r in rows], [r["speed_up"] for r in rows], "o-", label=name)
    axes.axhline(1.0, color="grey", linewidth=0.8)
    axes.set(xlabel="rows n", ylabel="times faster than visiting every tuple")
    axes.legend(frameon=False)
    shape.tight_layout()
    shape.savefig(path, dpi=150)


def main() -> int:
    """Measure, write, and return the number of claims that fail."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=Path("out/bench"))
    parser.add_argument("--largest", type=float, default=1e7, help="most rows of any fit")
    parser.add_argument("--docs", action="store_true", help="also write the files of the docs")
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    command = "python -m benchmarks" + (
        f" --largest {options.largest:g}" if options.largest != 1e7 else ""
    )
    claims = []
    for claim in all_claims(int(options.largest)):
        claims.append(claim)
        verdict = "holds" if claim.holds else "FAILS"
        print(
            f"{verdict}  {claim.what}: {claim.measured:.4g} (limit {claim.limit:g}) {claim.note}",
            flush=True,
        )
    found = speed_up()
    record = {
        "command": command,
        "machine": f"{os.cpu_count()} cores, {platform.machine()}, {platform.system()}",
        "python": platform.python_version(),
        "numpy": np.__version__,
        "claims": [claim.as_dict() for claim in claims],
        "speed_up": found,
    }
    (options.out / "speed.json").write_text(json.dumps(record, indent=1) + "\n")
    (options.out / "speed.rst").write_text(table(claims))
    figure(found, options.out / "speed_up.png")
    if options.docs:
        DOCS.mkdir(parents=True, exist_ok=True)
        for name in ("speed.json", "speed.rst", "speed_up.png"):
            shutil.copyfile(options.out / name, DOCS / name)
    return sum(not claim.holds for claim in claims)


if __name__ == "__main__":
    sys.exit(main())
