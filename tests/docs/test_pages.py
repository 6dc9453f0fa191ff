"""What the pages promise: every status explained, every public name and every link there."""

import re
from pathlib import Path

import page_code
import pytest

from multiobs.fit import Status

ROOT = page_code.ROOT
DOCS = ROOT / "docs"
BY_HAND = page_code.pages()
LINK = re.compile(r"\]\((?!https?:|#|mailto:)([^)#\s]+)")
DOC_ROLE = re.compile(r"(?:\{doc\}|:doc:)`(?:[^`<]*<)?([^`>]+)>?`")
MADE = ("gallery/", "api/generated/")
NOT_OURS = re.compile(r"\b(comfortable|carried|evened|lopsided|lean|apart)\b")


@pytest.mark.parametrize("status", list(Status), ids=lambda status: status.name)
def test_every_status_is_explained(status: Status) -> None:
    assert f"| `{status.name}` |" in (DOCS / "guide" / "troubleshooting.md").read_text()


@pytest.mark.parametrize("page", BY_HAND, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_between_pages_lead_somewhere(page: Path) -> None:
    text = page.read_text()
    for target in LINK.findall(text):
        assert (page.parent / target).exists(), target
    for target in DOC_ROLE.findall(text):
        base = DOCS if target.startswith("/") else page.parent
        there = (base / target.lstrip("/")).resolve()
        if str(there.relative_to(DOCS.resolve())).startswith(MADE):
            name = there.name
            assert name == "index" or (ROOT / "examples" / f"{name}.py").exists(), target
        else:
            assert any(there.with_suffix(s).exists() for s in (".md", ".rst")), target


def test_every_page_is_in_the_navigation() -> None:
    """A page that no table of contents names is found by nobody."""
    listed: set[Path] = set()
    for page in DOCS.glob("**/*.md"):
        for body in re.findall(r"```\{toctree\}\n(.*?)```", page.read_text(), re.S):
            for line in body.splitlines():
                if line and not line.startswith(":"):
                    name = line.rpartition("<")[2].rstrip(">").strip()
                    listed.add((page.parent / name).resolve())
    for page in BY_HAND:
        if page.parent == ROOT or page == DOCS / "index.md":
            continue
        assert page.resolve().with_suffix("") in listed, page


@pytest.mark.parametrize("page", BY_HAND, ids=lambda page: str(page.relative_to(ROOT)))
def test_words_are_those_of_the_field(page: Path) -> None:
    """In sentences: what a program prints is its own affair."""
    text = re.sub(r"(?s:```.*?```)|^ {3,}.*$", "", page.read_text(), flags=re.M)
    assert NOT_OURS.findall(text) == []
