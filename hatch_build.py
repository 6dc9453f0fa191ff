"""Build hook: compile the loops of ``multiobs`` with the machine's C compiler, if there is one.

The C sources include no Python header, so one shared library serves every Python 3 of a platform
and the compiler is the only thing needed. Without one the wheel is pure Python and numpy does the
same work. Run as a script (``python hatch_build.py``) it compiles the library in a working tree.
"""

import itertools
import os
import platform
import shlex
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path
from typing import Any, final

NATIVE = Path("src") / "multiobs" / "native"
SOURCES = ("window_sums.c", "rank_sums.c", "window_totals.c")
SUFFIX = {"win32": ".dll", "darwin": ".dylib"}.get(sys.platform, ".so")
# No -ffast-math and no -march=native, and no contraction to fused multiply-adds:
# the same wheel must give the same bits on every machine of a platform.
FLAGS = ("-std=gnu99", "-O3", "-shared", "-fPIC", "-fno-math-errno", "-ffp-contract=off")


def compilers() -> list[list[str]]:
    """Commands to try in turn: $CC, the compiler that built Python, then the usual names.

    None with MULTIOBS_PURE=1, for a wheel that runs everywhere.
    """
    if os.environ.get("MULTIOBS_PURE") == "1":
        return []
    named = [os.environ.get("CC"), sysconfig.get_config_var("CC"), "cc", "gcc", "clang"]
    commands = [shlex.split(name) for name in named if name]
    return [command for command in commands if command and shutil.which(command[0])]


def targets() -> list[tuple[tuple[str, ...], str]]:
    """More flags and the wheel's platform tag for each, to try in turn.

    A universal tag of macOS promises both architectures: the library gets both, or the wheel is
    tagged for the one at hand.
    """
    tag = sysconfig.get_platform().replace("-", "_").replace(".", "_")
    if not tag.endswith("universal2"):
        return [((), tag)]
    own = platform.machine()
    both = ("-arch", "x86_64", "-arch", "arm64")
    return [(both, tag), (("-arch", own), tag.removesuffix("universal2") + own)]


def compile_native(root: Path) -> tuple[Path, str] | None:
    """Compile ``libmultiobs`` beside its sources; None, and one line on stderr, when that fails.

    With it comes the platform part of a wheel's tag, such as linux_x86_64.
    """
    folder = root / NATIVE

    target = folder / f"libmultiobs{SUFFIX}"
    # Compiled under another name and moved, so that a process that has the old one loaded keeps it.
    partial = folder / f"libmultiobs.{os.getpid()}.tmp"
    sources = [str(folder / name) for name in SOURCES]
    problem = "no C compiler found"
    for command, (more, tag) in itertools.product(compilers(), targets()):
        run = subprocess.run(
            [*command, *FLAGS, *more, "-o", str(partial), *sources, "-lm"],
            capture_output=True,
            text=True,
            check=False,
        )
        if run.returncode == 0:
            os.replace(partial, target)
            return target, tag
        partial.unlink(missing_ok=True)
        problem = f"{command[0]}: " + (run.stderr.strip().splitlines() or ["failed"])[-1]
    target.unlink(missing_ok=True)
    print(f"multiobs: compiled loops not built, numpy is used instead ({problem})", file=sys.stderr)
    return None


try:
    from hatchling.builders.hooks.plugin.interface import BuildHookInterface
except ImportError:  # run as a script in an environment without the build backend
    pass
else:

    @final
    class CustomBuildHook(BuildHookInterface[Any]):
        """Compile before the wheel is packed; editable installs use the same file in place."""

        def initialize(self, version: str, build_data: dict[str, Any]) -> None:
            if self.target_name != "wheel":
                return
            built = compile_native(Path(self.root))
            if built is None:
                return
            library, tag = built
            build_data["pure_python"] = False
            build_data["tag"] = f"py3-none-{tag}"
            build_data["artifacts"].append(library.relative_to(self.root).as_posix())


if __name__ == "__main__":
    built = compile_native(Path(__file__).resolve().parent)
    print(built[0].name if built else "nothing built")
    sys.exit(0 if built else 1)
