"""Words of which a script shows one: each is hidden, and nothing else fills their place (Command or Ctrl)."""

from __future__ import annotations

from lxml.html import HtmlElement

_MAX_CHARACTERS = 30  # of a word or two: hidden sentences are no such choice
_MAX_CHOICES = 6


def is_last_alternative(element: HtmlElement) -> bool:
    """Whether an element (hidden) is the last of two to `_MAX_CHOICES` hidden words that are all their parent holds,
    inline in a line of text. The last is what is shown where no script knows better."""
    parent = element.getparent()
    if element.tag != "span" or parent is None or parent.tag != "span" or (parent.text or "").strip():
        return False
    if not 2 <= len(parent) <= _MAX_CHOICES or element.getnext() is not None:
        return False
    return all(
        other.tag == "span"
        and "hidden" in other.attrib
        and 0 < len(other.text_content().strip()) <= _MAX_CHARACTERS
        and not (other.tail or "").strip()
        for other in parent
    )
