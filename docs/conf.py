"""Sphinx settings: everything is read from this repository, nothing from a network."""

import json
import sys
import warnings
from pathlib import Path

import multiobs

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE / "_ext"))

project = "multiobs"
author = "the multiobs developers"
project_copyright = "2026, the multiobs developers"
release = version = multiobs.__version__

extensions = [
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.viewcode",
    "numpydoc",
    "myst_parser",
    "sphinx_gallery.gen_gallery",
    "sphinx_copybutton",
    "sphinx_design",
    "local_mathjax",
]
source_suffix = {".rst": "restructuredtext", ".md": "markdown"}
exclude_patterns = ["_build", "_templates", "_ext", "scripts", "gallery/*.ipynb", "gallery/*.py"]
exclude_patterns += ["sg_execution_times.rst", "gallery/sg_execution_times.rst"]
templates_path = ["_templates"]
suppress_warnings = ["config.cache"]  # sphinx-gallery's settings hold functions

autosummary_generate = True
autosummary_ignore_module_all = False  # a package lists what it exports
autodoc_typehints = "none"
autodoc_member_order = "bysource"
numpydoc_show_class_members = False
numpydoc_xref_param_type = False
myst_enable_extensions = ["dollarmath", "colon_fence", "deflist", "substitution"]
myst_heading_anchors = 3

sphinx_gallery_conf = {
    "examples_dirs": str(HERE.parent / "examples"),
    "gallery_dirs": "gallery",
    "filename_pattern": r"/plot_",
    "abort_on_example_error": True,
    "download_all_examples": False,
    "show_memory": False,
    "capture_repr": (),
    "remove_config_comments": True,
    "image_srcset": ["2x"],
    "within_subsection_order": "gallery_order.ByNeed",
    "min_reported_time": 1,
    "backreferences_dir": None,
    "doc_module": (),
}
# A warning in an example is a fault of the example.
warnings.filterwarnings("error", module="multiobs")
warnings.filterwarnings("ignore", message="FigureCanvasAgg is non-interactive")

html_theme = "pydata_sphinx_theme"
html_title = f"multiobs {release}"
html_static_path = ["_static"]
html_css_files = ["multiobs.css"]
html_show_sourcelink = False
html_theme_options = {
    "navigation_with_keys": False,
    "show_prev_next": False,
    "header_links_before_dropdown": 6,
    "navbar_end": ["theme-switcher"],
    "secondary_sidebar_items": ["page-toc"],
    "show_toc_level": 2,
    "collapse_navigation": True,
    "footer_start": ["copyright"],
    "footer_end": [],
}
# Pages without subpages have nothing to show on the left.
html_sidebars = {name: [] for name in ("index", "paper_map", "changelog", "contributing")}
# What is copied is what one types: no prompts, no output.
copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True
mathjax3_config = {"chtml": {"displayAlign": "center"}, "svg": {"displayAlign": "center"}}


def study_numbers() -> dict[str, str]:
    """What the studies measured, by name: pages quote it as {{ study.name }} and never by hand."""
    found = {}
    for path in sorted((HERE / "_static" / "studies").glob("*.json")):
        found[path.stem] = json.loads(path.read_text())
    return found


myst_substitutions = study_numbers()


def skip_request_methods(app, what, name, obj, skip, options):
    """Leave out what scikit-learn generates: its text refers to its own glossary."""
    generated = name.startswith("set_") and name.endswith("_request")
    return True if generated or name == "get_metadata_routing" else None


def setup(app):
    app.connect("autodoc-skip-member", skip_request_methods)
