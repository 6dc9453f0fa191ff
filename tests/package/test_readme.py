"""The code blocks of README.md and docs/**/*.md run, and print what stands below them."""

import contextlib
import io
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("**/*.md"))]
FENCE = re.compile(r"^```(python|text)\n(.*?)^```$", re.M | re.S)
WITH_CODE = [page for page in PAGES if "```python\n" in page.read_text()]


@pytest.mark.parametrize("page", WITH_CODE, ids=lambda page: str(page.relative_to(ROOT)))
def test_code_blocks_print_what_the_page_shows(page: Path) -> None:
    """Blocks of a page share one namespace; a text block is the output of the block before it."""
    namespace: dict[str, object] = {"__name__": "__main__"}
    printed = None
    for match in FENCE.finditer(page.read_text()):
        language, body = match.groups()
        line = page.read_text()[: match.start()].count("\n") + 1
        if language == "python":
            assert not printed, f"{page.name}: the output before line {line} is not shown"
            out = io.StringIO()
            with contextlib.redirect_stdout(out):
                exec(compile(body, f"{page.name}:{line}", "exec"), namespace)
            printed = out.getvalue()
        else:
            assert body == printed, f"{page.name}, line {line}"
            printed = None
    assert not printed, f"{page.name}: the last output is not shown"


def test_the_first_example_is_ten_lines_and_the_same_everywhere() -> None:
    first = FENCE.search((ROOT / "README.md").read_text())
    assert first is not None
    body = first.group(2)
    assert len(body.strip().splitlines()) <= 10
    assert body in (ROOT / "docs" / "index.md").read_text()
