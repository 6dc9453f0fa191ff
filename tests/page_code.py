"""The code on a page of documentation: find it, run it, and write its output below it again.

``python tests/page_code.py docs/guide/tutorial.md`` refreshes the output shown on a page.

A ``python`` block is run, in one namespace for the page; a ``text`` block after it shows what it
prints. In .rst a block that begins with ``>>>`` is a doctest.
"""

import contextlib
import doctest
import io
import os
import re
import sys
import tempfile
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from textwrap import dedent, indent

ROOT = Path(__file__).parents[1]
FENCE = re.compile(r"^```(?P<language>python|text)\n(?P<body>.*?)^```$", re.M | re.S)
DIRECTIVE = re.compile(
    r"^\.\. code-block:: (?P<language>python|text)\n\n(?P<body>(?:(?:[ \t]+.*)?\n)+)", re.M
)
# Output that depends on the moment, such as a time, is not compared.
FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


@dataclass(frozen=True)
class Block:
    """A block of code or of output, and where it stands."""

    language: str
    body: str
    start: int
    end: int
    line: int

    @property
    def is_doctest(self) -> bool:
        return self.language == "python" and self.body.lstrip().startswith(">>>")


def pages() -> list[Path]:
    """Every page that is written by hand."""
    made = {"_build", "_templates", "_static", "gallery", "generated"}
    found = [ROOT / "README.md"]
    for suffix in ("md", "rst"):
        found += sorted((ROOT / "docs").glob(f"**/*.{suffix}"))
    times = "sg_execution_times.rst"
    return [page for page in found if not made & set(page.parts) and page.name != times]


def blocks(page: Path) -> Iterator[Block]:
    """Blocks of a page in their order."""
    text = page.read_text()
    pattern = FENCE if page.suffix == ".md" else DIRECTIVE
    for match in pattern.finditer(text):
        yield Block(
            match["language"],
            dedent(match["body"]).strip("\n") + "\n",
            match.start("body"),
            match.end("body"),
            text[: match.start("body")].count("\n") + 1,
        )


def doctests(page: Path) -> doctest.DocTest:
    """All prompts of an .rst page, inside blocks or between paragraphs."""
    return doctest.DocTestParser().get_doctest(page.read_text(), {}, page.name, str(page), 0)


def run(page: Path) -> list[tuple[Block, str, Block | None]]:
    """Run the code of a page: each block, what it printed, and the block that shows it."""
    found: list[tuple[Block, str, Block | None]] = []
    namespace: dict[str, object] = {"__name__": "__main__"}
    for block in blocks(page):
        if block.language == "text":
            if found and found[-1][2] is None:
                found[-1] = (*found[-1][:2], block)
            continue
        if block.is_doctest:
            continue
        out = io.StringIO()
        with contextlib.redirect_stdout(out):
            exec(compile(block.body, f"{page.name}:{block.line}", "exec"), namespace)
        found.append((block, out.getvalue(), None))
    return found


@contextlib.contextmanager
def elsewhere() -> Iterator[None]:
    """Stay in an empty directory: pages save files."""
    before = os.getcwd()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        try:
            yield
        finally:
            os.chdir(before)


def refresh(page: Path) -> None:
    """Write below each block what it prints now."""
    page = page.resolve()
    with elsewhere():
        found = run(page)
    text = page.read_text()
    for _, printed, shown in reversed(found):
        if shown is not None:
            body = "\n".join(line.rstrip() for line in printed.splitlines()) + "\n"
            if page.suffix == ".rst":
                body = indent(body, "   ") + "\n"
            text = text[: shown.start] + body + text[shown.end :]
    page.write_text(text)


if __name__ == "__main__":
    warnings.simplefilter("error")
    for name in sys.argv[1:]:
        refresh(Path(name))
