"""Formulas as MathML, which browsers draw themselves: no script, no network."""

from docutils import nodes
from docutils.utils.math.latex2mathml import tex2mathml


def _mathml(source: str, as_block: bool) -> str:
    return tex2mathml(source, as_block=as_block)


def inline(self, node: nodes.math) -> None:
    self.body.append(_mathml(node.astext(), as_block=False))
    raise nodes.SkipNode


def block(self, node: nodes.math_block) -> None:
    self.body.append(self.starttag(node, "div", CLASS="math"))
    self.body.append(_mathml(node.astext(), as_block=True))
    self.body.append("</div>")
    raise nodes.SkipNode


def setup(app):
    app.add_html_math_renderer("mathml", (inline, None), (block, None))
    app.config.html_math_renderer = "mathml"
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
