"""The code on README.md and on every page of docs/ runs, and prints what stands below it."""

import doctest
from pathlib import Path

import page_code
import pytest

ROOT = page_code.ROOT
OPTIONAL = {"pandas", "polars", "matplotlib", "dask", "pyarrow", "duckdb"}
PAGES = page_code.pages()
WITH_CODE = [page for page in PAGES if any(b.language == "python" for b in page_code.blocks(page))]
WITH_PROMPTS = [page for page in PAGES if page.suffix == ".rst" and ">>> " in page.read_text()]


def name(page: Path) -> str:
    return str(page.relative_to(ROOT))


@pytest.mark.parametrize("page", WITH_CODE, ids=name)
def test_code_blocks_print_what_the_page_shows(page: Path) -> None:
    """Blocks of a page share one namespace; a text block is the output of the block before it."""
    try:
        with page_code.elsewhere():
            found = page_code.run(page)
    except (ModuleNotFoundError, ValueError) as error:
        missing = error if isinstance(error, ModuleNotFoundError) else error.__cause__
        if not isinstance(missing, ModuleNotFoundError) or missing.name not in OPTIONAL:
            raise
        pytest.skip(f"needs {missing.name}")
    for block, printed, shown in found:
        where = f"{page.name}, line {block.line}"
        printed = "\n".join(line.rstrip() for line in printed.splitlines())
        if shown is None:
            assert not printed, f"{where}: what it prints is not shown"
        else:
            assert shown.body.rstrip("\n") == printed, where


@pytest.mark.parametrize("page", WITH_PROMPTS, ids=name)
def test_prompts_answer_what_the_page_shows(page: Path) -> None:
    if ".to_frame()" in page.read_text():
        pytest.importorskip("pandas")
    runner = doctest.DocTestRunner(optionflags=page_code.FLAGS)
    with page_code.elsewhere():
        runner.run(page_code.doctests(page))
    results = runner.summarize(verbose=False)
    assert results.attempted > 0
    assert results.failed == 0


def test_the_first_example_is_ten_lines_and_the_same_everywhere() -> None:
    first = next(b for b in page_code.blocks(ROOT / "README.md") if b.language == "python")
    assert len(first.body.strip().splitlines()) <= 10
    assert first.body in (ROOT / "docs" / "index.md").read_text()
