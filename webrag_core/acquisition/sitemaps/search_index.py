"""Parse the search indexes that documentation generators ship with a site: pages, titles, and the words on each page.

Formats: Sphinx (`searchindex.js`), MkDocs (`search_index.json`), mdBook (`searchindex.js` or `.json`), and lists of
records with an address and a text, as Docusaurus, Hugo and Jekyll themes write them. The word lists of rustdoc and
Javadoc are not read: they hold names without texts, and a different format in every version.
"""

from __future__ import annotations

import json
import re
import time
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from webrag_core.acquisition.sitemaps.listing import Listed, Listing, TitleRank, plain_from_markup, plain_title
from webrag_core.acquisition.sitemaps.models import MAX_DESCRIPTION_CHARS, MAX_ENTRIES, MAX_TITLE_CHARS
from webrag_core.acquisition.urls import MAX_URL_CHARS, canonicalise
from webrag_core.errors import FetchError, Reason
from webrag_core.store.text import storable

MAX_INDEX_BYTES = 20_000_000
"""Bytes of one index. Parsed JSON takes several times as much memory."""
MAX_PAGE_WORDS = 2_000
"""Different words kept of one page."""
MAX_WORDS = 3_000_000
"""Words kept of all pages together."""

_MAX_WORD = 40  # characters
_MAX_DIGITS = 9
_TEXT_CHARS = 20_000  # of one record that are read
_HEAD_CHARS = 300_000
_CALL = re.compile(r"^[\s\w.=,(]*?(?=[{\[])")  # `Search.setIndex(`, `Object.assign(window.search, `, `var x = `
# a string that does not end is taken whole: looking for the end anew from each of its quotes would be quadratic
_BARE_KEY = re.compile(r'("(?:[^"\\]|\\[\s\S]?)*+(?:"|\Z))|([{,]\s*)([A-Za-z_$][\w$]*|\d+)(?=\s*:)')
_WORD = re.compile(r"\w+(?:[.'-]\w+)*")
_PARSE = "JSON.parse('"
_ADDRESSES = ("location", "url", "permalink", "uri", "href", "relUrl", "relpermalink", "u", "path")
_TITLES = ("title", "t", "name", "doc")
_TEXTS = ("text", "content", "contents", "body", "summary", "description", "excerpt", "s", "c", "headings", "tags")

_SPHINX = re.compile(r"""<script[^<>]{0,500}?\ssrc=["']([^"'<>]{0,500}?)_static/documentation_options\.js""", re.I)
_SPHINX_FOLDERS = re.compile(r"""href=["'][^"'<>]{0,500}?genindex/["']""", re.I)
_MDBOOK_FILE = re.compile(r"""path_to_searchindex_js\s*=\s*["']([^"'<>]{1,500})["']""")
_MDBOOK_ROOT = re.compile(r"""path_to_root\s*=\s*["']([^"'<>]{0,500})["']""")
_MKDOCS_CONFIG = re.compile(r"""<script id=["']?__config["']?[^<>]*>([^<]{2,20000})</script>""")
_MKDOCS_ROOT = re.compile(r"""\bbase_url\s*=\s*["']([^"'<>]{0,500})["']""")
_GENERATOR = re.compile(
    r"""<meta[^<>]{0,200}?generator[^<>]{0,200}?content=["']?(mkdocs|docusaurus|hugo|jekyll)""", re.I
)
_GENERATED = {"docusaurus": "/search-index.json", "hugo": "/index.json", "jekyll": "/search.json"}


@dataclass(frozen=True, slots=True)
class IndexPlace:
    """Where a page says its site's search index is. `root` is the folder of a Sphinx documentation, which holds an
    inventory too; its pages end in `suffix`."""

    url: str
    root: str | None = None
    suffix: str = ".html"


def find_search_index(html: str, page_url: str) -> IndexPlace | None:
    """Return the place of the search index that the generator of this page writes; None for an unknown generator."""
    head = html[:_HEAD_CHARS]
    if match := _SPHINX.search(head):
        root = _resolved(match[1] or "./", page_url)
        suffix = "/" if _SPHINX_FOLDERS.search(head) else ".html"
        return None if root is None else _place(f"{root}searchindex.js", page_url, root, suffix)
    if match := _MDBOOK_FILE.search(head):
        root_of_book = _MDBOOK_ROOT.search(head)
        return _place((root_of_book[1] if root_of_book else "") + match[1], page_url)
    if match := _MDBOOK_ROOT.search(head):
        return _place(f"{match[1]}searchindex.json", page_url)
    generator = match[1].lower() if (match := _GENERATOR.search(head)) else ""
    if generator in _GENERATED:
        return _place(_GENERATED[generator], page_url)
    root_of_docs = _mkdocs_root(head) if generator == "mkdocs" else None
    return None if root_of_docs is None else _place(f"{root_of_docs or '.'}/search/search_index.json", page_url)


def _mkdocs_root(head: str) -> str | None:
    """The relative address of the root: the theme Material has it in a JSON block, the others in a variable."""
    if match := _MKDOCS_CONFIG.search(head):
        try:
            config = json.loads(match[1])
        except (ValueError, RecursionError):
            return None
        base = config.get("base") if isinstance(config, dict) else None
        return base.rstrip("/") if isinstance(base, str) else None
    return match[1].rstrip("/") if (match := _MKDOCS_ROOT.search(head)) else None


def read_search_index(body: bytes, suffix: str, deadline: float) -> Listing:
    """Read one entry per page, with its words. URLs are relative to that of the index.

    `suffix` follows a Sphinx document's name in its URL. `deadline` is in time.monotonic(); what is not read by then
    is left out. Blocking: for a thread.

    Raises FetchError: TOO_LARGE above 20 MB, BAD_RESPONSE for what is no search index.
    """
    if len(body) > MAX_INDEX_BYTES:
        raise FetchError(Reason.TOO_LARGE, f"the search index has more than {MAX_INDEX_BYTES} bytes")
    data = _parsed(body.decode("utf-8-sig", errors="replace"))
    pages = _Pages(deadline)
    if isinstance(data, dict) and isinstance(data.get("docnames"), list):
        _read_sphinx(data, suffix, pages)
    else:
        for record in _records(data):
            if not pages.add_record(record):
                break
    listing = pages.listing()
    if not listing.pages:
        raise FetchError(Reason.BAD_RESPONSE, "it is no search index of a known kind")
    return listing


def _parsed(text: str) -> Any:
    """The JSON value of `text`, which may be JSON, or a script that assigns a value or passes it to a function."""
    begin, end = text.find(_PARSE), text.rfind("')")
    if 0 <= begin < end:
        text = re.sub(r"\\(['\\])", r"\1", text[begin + len(_PARSE) : end])
    call = _CALL.match(text)
    start = call.end() if call else 0
    decoder = json.JSONDecoder()
    try:
        try:
            return decoder.raw_decode(text, start)[0]
        except json.JSONDecodeError:
            # Sphinx below 5 writes keys without quotes
            return decoder.raw_decode(_BARE_KEY.sub(_quoted_key, text[start:]))[0]
    except (ValueError, RecursionError):
        raise FetchError(Reason.BAD_RESPONSE, "the search index is damaged, or of an unknown kind") from None


def _quoted_key(match: re.Match[str]) -> str:
    return match[1] or f'{match[2]}"{match[3]}"'


def _records(data: Any) -> Iterator[Mapping[str, Any]]:
    """Records of one page or section each, from the shapes in which generators write them."""
    if isinstance(data, dict):
        if isinstance(data.get("docs"), list):  # MkDocs
            for record in _mappings(data["docs"]):
                # addresses are relative to the root, the index lies in a folder below it
                yield {**record, "location": f"../{record['location']}"} if _has_location(record) else record
        elif isinstance(data.get("doc_urls"), list):  # mdBook
            yield from _mdbook_records(data)
        elif isinstance(data.get("documents"), list):  # Docusaurus, one of its parts
            yield from _mappings(data["documents"])
        else:  # Jekyll themes number their records
            yield from _mappings(data.values())
    elif isinstance(data, list):
        for part in data:
            if isinstance(part, dict) and isinstance(part.get("documents"), list):
                yield from _mappings(part["documents"])
            elif isinstance(part, dict):
                yield part


def _has_location(record: Mapping[str, Any]) -> bool:
    return isinstance(record.get("location"), str)


def _mappings(values: Iterable[Any]) -> Iterator[Mapping[str, Any]]:
    return (value for value in values if isinstance(value, dict))


def _mdbook_records(data: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    index = data.get("index")
    store = index.get("documentStore") if isinstance(index, dict) else None
    documents = store.get("docs") if isinstance(store, dict) else None
    if isinstance(documents, dict):
        urls = data["doc_urls"]
        for number, document in documents.items():
            place = int(number) if len(number) <= _MAX_DIGITS and number.isdecimal() else len(urls)
            if isinstance(document, dict) and place < len(urls):
                yield {"url": urls[place], "title": document.get("title"), "body": document.get("body")}


@dataclass(slots=True)
class _Page:
    title: str | None = None
    rank: TitleRank = TitleRank.NONE
    description: str | None = None
    words: dict[str, None] = field(default_factory=dict)


class _Pages:
    """Collects the records of an index by page, within the limits."""

    def __init__(self, deadline: float) -> None:
        self._deadline = deadline
        self._pages: dict[str, _Page] = {}
        self._words = 0
        self._invalid = 0
        self._cut = False
        self._late = False

    def add(self, url: str, title: str | None, rank: TitleRank) -> _Page | None:
        """Return the page at `url` with the better title; None beyond the limit of pages."""
        page = self._pages.get(url)
        if page is None:
            if len(self._pages) >= MAX_ENTRIES:
                self._cut = True
                return None
            page = self._pages[url] = _Page()
        if title and rank > page.rank:
            page.title, page.rank = title, rank
        return page

    def add_words(self, page: _Page, words: Iterable[str]) -> None:
        """Add words of one page, up to the limits."""
        before = len(page.words)
        room = min(MAX_PAGE_WORDS, before + MAX_WORDS - self._words)
        page.words.update(dict.fromkeys(words))
        for word in list(page.words)[room:]:
            del page.words[word]
        self._words += len(page.words) - before

    def add_record(self, record: Mapping[str, Any]) -> bool:
        """Add a page or a section of one; False when the time is over, or the limit of pages is reached."""
        if self.out_of_time() or self._cut:
            return False
        url = next((record[name] for name in _ADDRESSES if isinstance(record.get(name), str)), None)
        if url is None or len(url) > MAX_URL_CHARS:
            self._invalid += 1
            return True
        address, section, _ = url.partition("#")
        texts = [text for name in _TEXTS for text in _strings(record.get(name))]
        title = next((text for name in _TITLES for text in _strings(record.get(name)) if text.strip()), "")
        rank = TitleRank.SECTION if section else TitleRank.DOCUMENT
        page = self.add(address or "./", plain_title(title, MAX_TITLE_CHARS), rank)
        if page is not None:
            text = plain_from_markup(" ".join(texts), _TEXT_CHARS) or ""
            page.description = page.description or text[:MAX_DESCRIPTION_CHARS] or None
            words = _WORD.findall(f"{page.title or ''} {title} {text}".lower())
            self.add_words(page, (word for word in words if len(word) <= _MAX_WORD))
        return True

    def out_of_time(self) -> bool:
        """Whether the deadline has passed."""
        self._late = self._late or time.monotonic() > self._deadline
        return self._late

    def listing(self) -> Listing:
        """Return everything collected."""
        listing = Listing("search_index", cut=self._cut, invalid=self._invalid)
        listing.problem = "the time was over" if self._late else None
        listing.pages = [
            Listed(
                url,
                title=page.title,
                description=page.description,
                rank=page.rank,
                words=storable(" ".join(page.words)),
            )
            for url, page in self._pages.items()
        ]
        return listing


def _strings(value: Any) -> list[str]:
    if isinstance(value, str):
        return [value]
    return [item for item in value if isinstance(item, str)] if isinstance(value, list) else []


def _read_sphinx(data: Mapping[str, Any], suffix: str, pages: _Pages) -> None:
    """Add documents with their titles, then turn the word lists round: Sphinx lists the documents of each stem."""
    names = [name if isinstance(name, str) else "" for name in data["docnames"]]
    titles = data.get("titles")
    titles = titles if isinstance(titles, list) else []
    documents: list[_Page | None] = []
    for number, name in enumerate(names):
        title = titles[number] if number < len(titles) and isinstance(titles[number], str) else ""
        url = _sphinx_url(name, suffix)
        usable = bool(name) and len(url) <= MAX_URL_CHARS
        documents.append(pages.add(url, plain_title(title, MAX_TITLE_CHARS), TitleRank.DOCUMENT) if usable else None)
    words: list[list[str]] = [[] for _ in documents]
    for key in ("titleterms", "terms"):
        lists = data.get(key)
        for word, numbers in lists.items() if isinstance(lists, dict) else ():
            if pages.out_of_time():
                break
            if len(word) > _MAX_WORD or len(word.split()) != 1:
                continue
            word = word.lower()
            for number in numbers if isinstance(numbers, list) else [numbers]:
                # a list may name one document a million times
                if isinstance(number, int) and 0 <= number < len(words) and len(words[number]) < 2 * MAX_PAGE_WORDS:
                    words[number].append(word)
    for page, on_page in zip(documents, words, strict=True):
        if page is not None:
            pages.add_words(page, on_page)


def _sphinx_url(name: str, suffix: str) -> str:
    if suffix == "/":
        return f"{name.removesuffix('index')}" if name.split("/")[-1] == "index" else f"{name}/"
    return name + suffix


def _resolved(url: str, base: str) -> str | None:
    try:
        return canonicalise(url, base)
    except FetchError:
        return None


def _place(url: str, page_url: str, root: str | None = None, suffix: str = ".html") -> IndexPlace | None:
    resolved = _resolved(url, page_url)
    return None if resolved is None else IndexPlace(resolved, root, suffix)
