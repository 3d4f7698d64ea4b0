"""A result to read, as one HTML file that needs no network and no script."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

from jinja2 import Template
from markdown_it import MarkdownIt
from markupsafe import Markup

from webrag_core.html_template import load_template
from webrag_core.readable import Readable


def render_readable(result: Readable) -> str:
    """The HTML file of the result's Markdown. Text of pages is escaped: HTML in Markdown is text."""
    body = MarkdownIt("commonmark", {"html": False}).render(result.to_markdown())
    return _template().render(title=result.summary(), body=Markup(body))


@lru_cache(maxsize=1)
def _template() -> Template:
    return load_template(Path(__file__).with_name("readable_page.html.j2"))
