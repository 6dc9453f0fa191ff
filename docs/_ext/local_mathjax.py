"""MathJax from an installed package, copied into the site: formulas need no network."""

from importlib.metadata import distribution
from pathlib import Path
from shutil import copyfile

NAME = "tex-svg.js"  # one file: glyphs are paths in it, so no fonts are fetched
FOLDER = "mathjax"


def source() -> Path:
    """Where the pinned package keeps the script."""
    package = distribution("sphinx-mathjax-offline")
    (found,) = (f for f in package.files or () if f.name == NAME)
    return Path(str(package.locate_file(found)))


def copy_script(app, error) -> None:
    if error is None and app.builder.format == "html":
        target = Path(app.outdir) / "_static" / FOLDER / NAME
        target.parent.mkdir(parents=True, exist_ok=True)
        copyfile(source(), target)


def setup(app):
    app.setup_extension("sphinx.ext.mathjax")
    app.config.mathjax_path = f"{FOLDER}/{NAME}"
    app.connect("build-finished", copy_script)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
