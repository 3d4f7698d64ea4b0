"""Headings that open a part of the page: in Markdown a summary is a line in bold type, which no heading survives."""

from __future__ import annotations

from lxml.html import HtmlElement

from webrag_core.conversion.shown.panels import HEADINGS


def free_headings(root: HtmlElement) -> None:
    """Make plain boxes of summaries with a heading."""
    for summary in list(root.iter("summary")):
        if next(summary.iter(*HEADINGS), None) is not None:
            summary.tag = "div"
