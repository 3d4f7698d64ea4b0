"""The neighbourhood of some keys as one HTML file that needs no network: a drawing, and every edge with its quote."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from pathlib import Path

from jinja2 import Template

from webrag_core.drawing.figure import style_sheet
from webrag_core.html_template import load_template
from webrag_core.page_text import one_line
from webrag_core.retrieval.graph.drawing import draw
from webrag_core.retrieval.graph.models import Related
from webrag_core.retrieval.graph.wording import proof, relation


def render_picture(related: Related) -> str:
    """The HTML file of the nodes nearest to some keys. All text of pages is escaped; control signs are left out."""
    return _template().render(drawing=draw(related), style=style_sheet())


@lru_cache(maxsize=1)
def _template() -> Template:
    words: dict[str, Callable[..., object]] = {"one_line": one_line, "relation": relation, "proof": proof}
    return load_template(Path(__file__).with_name("picture.html.j2"), words)
