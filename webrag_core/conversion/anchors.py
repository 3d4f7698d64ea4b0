"""Links of the content as Markdown shall show them: marks of the page's own making go, words stay."""

from __future__ import annotations

import re
from urllib.parse import urljoin

from lxml.html import HtmlElement

from webrag_core.conversion.main_content import drop

_OF_GENERATORS = {"headerlink", "test-arrow"}  # Sphinx: to a heading; rustdoc: to run the code, which the URL repeats
_PERMALINKS = {"¶", "#", "§", "\uf0c1"}
_BACK = re.compile(r"[\u21a9\u21b5\u23ce\u2934\u2191^\ufe0e\ufe0f\s]+\d{0,3}")  # from a footnote to where it is named


def absolute(link: str, base_url: str) -> str:
    """A link as it reads from `base_url`; what cannot be resolved stays as it is."""
    link = link.strip()
    try:
        return urljoin(base_url, link)
    except ValueError:
        return link


def clean_anchors(main: HtmlElement, base_url: str, page_url: str) -> None:
    """Make links absolute; take out permalinks and ways back from footnotes; leave words of links that lead nowhere.

    Nowhere is a place in the page itself, another scheme than HTTP, or where no word and no picture stands for it.
    """
    known: dict[str, str] = {}
    for anchor in list(main.iter("a")):
        if not _OF_GENERATORS.isdisjoint((anchor.get("class") or "").split()):
            drop(anchor)
            continue
        named = anchor.get("href")
        href = ""
        if named is not None:
            if named not in known:
                known[named] = absolute(named, base_url)
            href = known[named]
        text = anchor.text_content().strip()
        within = href.split("#", 1)[0] in ("", page_url)
        if within and href and text and _BACK.fullmatch(text):
            drop(anchor)
            continue
        anchor.attrib.pop("title", None)  # a tooltip repeats the target's name and would cost tokens in every chunk
        if text in _PERMALINKS:
            anchor.text = ""
            del anchor[:]
            text = ""
        if within or not href.startswith(("http:", "https:")) or not (text or _is_shown(anchor)):
            anchor.attrib.pop("href", None)
        else:
            anchor.set("href", href)


def _is_shown(anchor: HtmlElement) -> bool:
    """Whether a link without words has a picture, or a name for those who do not see its sign."""
    return bool(anchor.get("aria-label")) or next(anchor.iter("img", "math", "video", "audio"), None) is not None
