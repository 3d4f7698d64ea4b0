"""What a judge reads of a passage: the part that fits the question, without what speaks to a model."""

from __future__ import annotations

from webrag_core.language.model_orders import is_order
from webrag_core.page_text import visible
from webrag_core.retrieval.quotes import quote_window, sentence_spans

PASSAGE_CHARACTERS = 1_500
"""Characters of a passage that are read, around its best sentences."""


def read_part(passage: str, question: str) -> str:
    """The part of `passage` (Markdown) that is sent. Orders to a model are left out with the rest of their block, which
    may be what is to be repeated, unless the question is about such text."""
    shown = quote_window(passage, question, PASSAGE_CHARACTERS).shown.of(passage)
    if is_order(question) or not is_order(visible(shown)):
        return shown
    return "\n\n".join(filter(None, map(_before_an_order, shown.split("\n\n"))))


def label(text: str, question: str) -> str:
    """A title or a heading; empty where it is an order."""
    return "" if is_order(visible(text)) and not is_order(question) else text


def _before_an_order(block: str) -> str:
    if not is_order(visible(block)):
        return block
    for span in sentence_spans(block):
        if is_order(visible(block[: span.end])):
            return block[: span.start]
    return ""
