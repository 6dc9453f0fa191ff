"""Formulas as MathML, which browsers draw themselves: no script, no network."""

import re
from html import escape

from docutils import nodes
from docutils.utils.math import MathError
from docutils.utils.math.latex2mathml import tex2mathml
from sphinx.util import logging

logger = logging.getLogger(__name__)
# Brackets grow by themselves in MathML; docutils does not know \big and \Big without l or r.
SIZES = re.compile(r"\\[bB]igg?(?![A-Za-z])")


def convert(node: nodes.Element, as_block: bool) -> str:
    source = SIZES.sub("", node.astext())
    try:
        return tex2mathml(source, as_block=as_block)
    except MathError as problem:
        logger.warning("formula not understood: %s in %r", problem, source, location=node)
        return f"<code>{escape(source)}</code>"


def inline(self, node: nodes.math) -> None:
    self.body.append(convert(node, as_block=False))
    raise nodes.SkipNode


def block(self, node: nodes.math_block) -> None:
    self.body.append(self.starttag(node, "div", CLASS="math"))
    self.body.append(convert(node, as_block=True))
    self.body.append("</div>")
    raise nodes.SkipNode


def setup(app):
    app.add_html_math_renderer("mathml", (inline, None), (block, None))
    app.config.html_math_renderer = "mathml"
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
