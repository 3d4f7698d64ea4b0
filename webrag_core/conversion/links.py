"""Links of a page: extracted with their surroundings, and cleaned for the Markdown.

The context of a link is its anchor text, the text of the block it stands in, the heading path, and whether it is in
navigation. The block of a link in a term holds the definitions too, that of a link in a table its whole row, that of a
link in a heading the paragraph below. Beyond the first 10,000 links of a page the anchor text stands for the block.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache

from lxml import etree
from lxml.html import HtmlElement

from webrag_core.acquisition.urls import canonicalise
from webrag_core.conversion.converted_page import PageLink
from webrag_core.conversion.main_content import drop
from webrag_core.conversion.shown.contact_links import contact_address, show_protected_addresses, write_address
from webrag_core.conversion.whitespace import without_invisible
from webrag_core.errors import FetchError
from webrag_core.store.text import storable

_SPACE = re.compile(r"\s+")
_SENTENCE_END = re.compile(r"(?<=[.!?])\s+(?=[A-Z\"'(\[])")
_MAX_ANCHOR = 400
_MAX_CONTEXT = 600
_MAX_BEFORE = 200  # characters of a long block before the link
_MOST_CONTEXTS = 10_000  # links of a page that get their block's text; it would be 60 MB for a directory of 100,000
_NAV_TAGS = {"nav", "header", "footer"}
_NAV_ROLES = {"navigation", "search", "banner", "contentinfo"}
_NAV_CLASS = re.compile(
    r"\b(nav|nav ?(?:bar|header|footer)|navigation|menu|sidebar|sphinxsidebar|breadcrumbs?|toplang|footer|related"
    r"|pagination)\b"
)
_WHOLE_PAGE = {"html", "body", "main", "article"}  # their classes tell about layout: <body class="with-sidebar">
_HEADINGS = {"h1": 1, "h2": 2, "h3": 3, "h4": 4, "h5": 5, "h6": 6}
# Paid links are no advice of the page. `ugc` alone does not count: it says who wrote a link, and the sources that an
# answer in a forum names are what a reader would follow; sites that do not trust them say `ugc nofollow`.
_NOT_FOLLOWED = {"nofollow", "sponsored"}
_BLOCKS = {"tr", "li", "dl"}  # whose text belongs together; an entry of a list of definitions begins with its term
_ENTRY = {"dt", "dd"}
_SKIPPED = {"script", "style", "noscript", "template", "svg", "head"}
_INLINE = {
    "a", "abbr", "b", "bdi", "bdo", "cite", "code", "data", "del", "dfn", "em", "font", "i", "img", "ins", "kbd",
    "label", "mark", "q", "s", "samp", "small", "span", "strong", "sub", "sup", "time", "tt", "u", "var", "wbr",
}  # fmt: skip
_OF_GENERATORS = {"headerlink", "test-arrow"}  # Sphinx: to a heading; rustdoc: to run the code, which the URL repeats
_PERMALINKS = {"¶", "#", "§", "\uf0c1"}
_BACK = re.compile(r"[\u21a9\u21b5\u23ce\u2934\u2191^\ufe0e\ufe0f\s]+\d{0,3}")  # from a footnote to where it is named


class _Block:
    """Text that belongs together, collected in pieces.

    `is_defined` says of an entry of a list of definitions whether its definition has begun; None for other blocks.
    """

    def __init__(self, *, is_defined: bool | None = None) -> None:
        self.is_defined = is_defined
        self._pieces: list[str] = []
        self._length = 0

    def add(self, text: str) -> int:
        """Append a run of text, and return where it begins."""
        start = self._length
        self._pieces.append(f"{text} ")
        self._length += len(text) + 1
        return start

    @cached_property
    def _text(self) -> str:
        return "".join(self._pieces)

    @cached_property
    def _sentence_starts(self) -> list[int]:
        return [0, *(match.end() for match in _SENTENCE_END.finditer(self._text))]

    def around(self, position: int) -> str:
        """Return the text from the sentence that holds `position` on, white space folded, at most 600 characters; what
        stands before it too where the rest is shorter."""
        sentence = self._sentence_starts[max(0, bisect_right(self._sentence_starts, position) - 1)]
        begin = max(0, min(max(sentence, position - _MAX_BEFORE), len(self._text) - _MAX_CONTEXT))
        if begin not in (0, sentence):  # not within a word
            begin = self._text.find(" ", begin, position) + 1 or begin
        context = _clean(self._text[begin : begin + 2 * _MAX_CONTEXT])
        return context if len(context) <= _MAX_CONTEXT else context[: _MAX_CONTEXT + 1].rpartition(" ")[0]


@dataclass(slots=True)
class _Anchor:
    href: str
    start: int
    end: int
    title: str
    nofollow: bool
    before: list[str] = field(default_factory=list)  # its text in blocks that ended inside it


def is_navigation(element: HtmlElement) -> bool:
    """Whether an element is navigation by tag, ARIA role or a conventional class or id."""
    if element.tag in _NAV_TAGS or (element.get("role") or "").lower() in _NAV_ROLES:
        return True
    if element.tag in _WHOLE_PAGE:
        return False
    names = f"{element.get('class') or ''} {element.get('id') or ''}"
    return names != " " and _names_navigation(names)


@lru_cache(maxsize=4096)  # a page has a handful of names, many times each
def _names_navigation(names: str) -> bool:
    return _NAV_CLASS.search(names.lower().replace("-", " ").replace("_", " ")) is not None


def extract_links(body: HtmlElement, base_url: str, page_url: str) -> list[PageLink]:
    """Return every distinct (target, anchor text) pair of `body`, in document order.

    Linear in the size of the page. Links to the page itself, to other schemes and to unusable URLs are left out.
    """
    walker = _Walker(base_url, page_url)
    for event, element in etree.iterwalk(body, events=("start", "end", "comment", "pi")):
        if event == "start":
            walker.start(element)
        elif event == "end":
            walker.end(element)
        else:
            walker.append(element.tail)
    walker.flush()
    return walker.links()


class _Walker:
    """Collects runs of inline text between block boundaries, so that nested blocks cost nothing twice."""

    def __init__(self, base_url: str, page_url: str) -> None:
        self._links: list[PageLink] = []
        self._places: list[tuple[_Block, int]] = []  # block and position in it, of the first links
        self._blocks: list[_Block] = []  # open rows and items, innermost last; of a list of definitions the last entry
        self._heading_block: _Block | None = None  # of the heading before, until a paragraph follows
        self._base_url = base_url
        self._page_url = page_url
        self._seen: set[tuple[str, str]] = set()
        self._canonical: dict[str, str | None] = {}
        self._text: list[str] = []
        self._length = 0
        self._anchors: list[_Anchor] = []
        self._open: list[_Anchor] = []
        self._headings: list[tuple[int, str]] = []
        self._nav_depth = 0
        self._navigation: list[bool] = []  # of each open element
        self._skip_depth = 0

    def links(self) -> list[PageLink]:
        """All links, once the page is read and every block is whole."""
        placed = zip(self._links, self._places, strict=False)
        first = [replace(link, context=block.around(start) or link.context) for link, (block, start) in placed]
        return first + self._links[len(first) :]

    def start(self, element: HtmlElement) -> None:
        tag = element.tag if isinstance(element.tag, str) else ""
        if tag in _SKIPPED:
            self._skip_depth += 1
        if tag not in _INLINE:
            self.flush()
        if tag in _BLOCKS or tag in _ENTRY:
            self._open_block(tag)
        navigation = is_navigation(element)
        self._navigation.append(navigation)
        self._nav_depth += navigation
        if tag == "a" and not self._skip_depth:
            anchor = _Anchor(
                href=(element.get("href") or "").strip(),
                start=self._length,
                end=self._length,
                title=element.get("title") or "",
                nofollow=not _NOT_FOLLOWED.isdisjoint((element.get("rel") or "").lower().split()),
            )
            self._open.append(anchor)
        self.append(element.text)

    def end(self, element: HtmlElement) -> None:
        tag = element.tag if isinstance(element.tag, str) else ""
        if tag == "a" and self._open and not self._skip_depth:
            anchor = self._open.pop()
            anchor.end = self._length
            if anchor.href:
                self._anchors.append(anchor)
        if tag in _HEADINGS:
            self._heading(_HEADINGS[tag], "".join(self._text))
        if tag not in _INLINE:
            self.flush(heading=tag in _HEADINGS)
        if tag in _BLOCKS:
            self._blocks.pop()
        self._nav_depth -= self._navigation.pop()
        if tag in _SKIPPED:
            self._skip_depth -= 1
        self.append(element.tail)

    def _open_block(self, tag: str) -> None:
        if tag in _BLOCKS:
            self._blocks.append(_Block(is_defined=False if tag == "dl" else None))
        elif tag == "dd" and self._blocks and self._blocks[-1].is_defined is not None:
            self._blocks[-1].is_defined = True
        elif tag == "dt" and self._blocks and self._blocks[-1].is_defined:  # a new entry, not a further term
            self._blocks[-1] = _Block(is_defined=False)

    def append(self, text: str | None) -> None:
        if text and not self._skip_depth:
            self._text.append(text)
            self._length += len(text)

    def _heading(self, level: int, text: str) -> None:
        if self._nav_depth:
            return
        while self._headings and self._headings[-1][0] >= level:
            self._headings.pop()
        clean = _clean(text)
        if clean:
            self._headings.append((level, clean))

    def flush(self, *, heading: bool = False) -> None:
        """End an inline run: its text joins its block, its anchors become links."""
        if not self._text and not self._anchors and not self._open:
            return
        run = "".join(self._text)
        for anchor in self._open:
            anchor.before.append(run[anchor.start :])
        if run.strip() or self._anchors:
            if self._heading_block is not None and not heading:
                self._heading_block.add(run)
            block = self._blocks[-1] if self._blocks else _Block()
            self._heading_block = block if heading else None
            start = block.add(run)
            for anchor in self._anchors:
                self._add(anchor, run, block, start)
        self._text.clear()
        self._anchors.clear()
        self._length = 0
        for anchor in self._open:  # an <a> around blocks: its text goes on in the next run
            anchor.start = 0

    def _add(self, anchor: _Anchor, run: str, block: _Block, start: int) -> None:
        target = self._resolve(anchor.href)
        if target is None or target == self._page_url:
            return
        text = _clean(" ".join([*anchor.before, run[anchor.start : anchor.end]])) or _clean(anchor.title)
        key = (target, text)
        if key in self._seen:
            return
        self._seen.add(key)
        link = PageLink(
            target_url=target,
            anchor_text=text[:_MAX_ANCHOR],
            context=text[:_MAX_ANCHOR],  # until its block is whole
            heading_path=tuple(text for _, text in self._headings),
            in_navigation=self._nav_depth > 0,
            nofollow=anchor.nofollow,
        )
        self._links.append(link)
        if len(self._places) < _MOST_CONTEXTS:
            self._places.append((block, start + anchor.start))

    def _resolve(self, href: str) -> str | None:
        href = href.split("#", 1)[0]
        if not href:
            return None
        if href not in self._canonical:
            try:
                self._canonical[href] = canonicalise(href, self._base_url)
            except FetchError:  # mailto:, javascript:, malformed: not a link to a page
                self._canonical[href] = None
        return self._canonical[href]


def _clean(text: str) -> str:
    if text.isascii():  # most are: the same without patterns
        return storable(" ".join(text.split()))
    return storable(_SPACE.sub(" ", without_invisible(text)).replace("¶", "").strip())


def absolute(link: str, base_url: str) -> str | None:
    """Resolve a link against `base_url` as the table of links does, with its fragment; None where it leads to no page
    of the web."""
    address, mark, fragment = link.strip().partition("#")
    try:
        return f"{canonicalise(address, base_url)}{mark}{fragment}"
    except FetchError:  # another scheme, malformed, with a password
        return None


def clean_anchors(main: HtmlElement, base_url: str, page_url: str) -> None:
    """Make links absolute; drop permalinks and back links of footnotes; reduce dead links to their words.

    Dead are links within the page, to other schemes than HTTP, and those without text or image. The addresses of mail
    and telephone links are written behind their words.
    """
    show_protected_addresses(main)
    resolved: dict[str, str] = {}
    for anchor in list(main.iter("a")):
        if not _OF_GENERATORS.isdisjoint((anchor.get("class") or "").split()):
            drop(anchor)
            continue
        written = anchor.get("href")
        href = ""
        if written is not None:
            if written not in resolved:
                resolved[written] = absolute(written, base_url) or ""
            href = resolved[written]
        if address := contact_address(written or ""):
            write_address(anchor, address)
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
        if within or not (text or _is_shown(anchor)):
            anchor.attrib.pop("href", None)
        else:
            anchor.set("href", href)


def _is_shown(anchor: HtmlElement) -> bool:
    """Whether a link without text shows an image, or has a name for screen readers."""
    return bool(anchor.get("aria-label")) or next(anchor.iter("img", "math", "video", "audio"), None) is not None
