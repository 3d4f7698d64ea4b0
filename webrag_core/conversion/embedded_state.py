"""Prose in the state that a page embeds for its scripts: JSON of the common frameworks, never executed.

A page that scripts build often brings its text along: as JSON in a script (`__NEXT_DATA__`, `__NUXT_DATA__`, islands of
type application/json), assigned to a variable (`window.__INITIAL_STATE__ = {…}`), streamed (`self.__next_f.push`), or
in an attribute. Such state also holds labels, keys and other pages; what is taken are texts with sentences, from the
part of the state where most of them stand.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from html import escape
from itertools import islice
from typing import Any

from lxml.html import HtmlElement

MAX_NODES = 200_000
"""Values of JSON that are looked at."""
MIN_WORDS = 40
"""Words of prose below which a state holds no text."""

_MAX_DEPTH = 60
_MAX_ASSIGNED = 40  # of one script
_MAX_NESTED = 3  # JSON in a string of JSON
_MIN_ATTRIBUTE = 200
_MIN_SENTENCE_WORDS = 8
_MAX_TITLE_WORDS = 25
_MOST = 0.7

_ASSIGNED = re.compile(
    r"(?:window|self|globalThis)(?:\.\w+|\[[\"']\w+[\"']\]){1,4}\s*=\s*(?P<parse>JSON\.parse\(\s*)?(?=[{\[\"'])"
)
_PUSHED = re.compile(r"self\.__next_f\.push\(")
_ROW = re.compile(r"(?:^|\n)[0-9a-f]*:(?:T(?P<size>[0-9a-f]+),)?")
_UNDEFINED = re.compile(r"(?<=[:,\[])(?:undefined|void 0)(?=[,}\]])")
_SINGLE_QUOTED = re.compile(r"'((?:[^'\\\n]|\\.)*)'", re.DOTALL)
_NOT_TEXT = re.compile(
    r"i18n|intl|translat|locali[sz]|messages|dictionar|labels|strings|phrases|consent|cookie|gdpr|config|settings"
    r"|feature|experiment|analytics|tracking|footer|header(?!line)|nav(?:igation|bar)?$|menu|breadcrumb|seo|meta|schema"
    r"|jsonld|related|recommend|theme|style|css|script|query|policy|error|banner|cart|modal|form",
    re.IGNORECASE,
)
_TITLES = frozenset({"title", "headline", "heading", "name", "question", "subtitle", "sectiontitle"})
_TAG = re.compile(r"</?(?:p|div|h[1-6]|ul|ol|li|table|br|blockquote|section|article|pre)\b[^<>]*>", re.IGNORECASE)
_ANY_TAG = re.compile(r"<[^<>]*>")
_WORD = re.compile(r"\w+")
_SENTENCE = re.compile(r"\w[.!?…]+[\"'”’)]*(?:\s|$)|[。！？]")
_UNSPACED = re.compile("[\u0e00-\u0eff\u3040-\u30ff\u3400-\u9fff]")
_CODE = re.compile(r"[{}]|%[sd]\b|=>|://\S{1,2000}$|;\s*$|\bfunction\s*\(")
_BLOCKS = {
    **dict.fromkeys(("paragraph", "p", "block", "text-block", "unstyled"), "p"),
    **dict.fromkeys(("blockquote", "quote"), "blockquote"),
    **dict.fromkeys(("heading", "h2", "header-two"), "h2"),
    **{f"h{level}": f"h{level}" for level in range(1, 7)},
    **{f"heading-{level}": f"h{level}" for level in range(1, 7)},
    **dict.fromkeys(("list-item", "listitem", "list_item", "li"), "li"),
    **dict.fromkeys(("code", "pre", "codeblock", "code_block"), "pre"),
}
_KINDS = ("nodeType", "_type", "type", "tag")
_INNER = ("content", "children")


@dataclass(slots=True)
class _Part:
    """A value of the state that holds prose: HTML of its own, or parts in their order; `title` of a heading only."""

    words: int = 0
    html: str = ""
    title: bool = False
    parts: list[_Part] = field(default_factory=list)

    def add(self, part: _Part | None) -> None:
        if part is not None and (part.words or part.title):
            self.parts.append(part)
            self.words += part.words


class _Reader:
    """Reads values into parts, up to MAX_NODES of them."""

    def __init__(self) -> None:
        self._nodes = 0

    def part(self, value: Any, key: str = "", depth: int = 0, nested: int = 0) -> _Part | None:
        self._nodes += 1
        if depth > _MAX_DEPTH or self._nodes > MAX_NODES:
            return None
        if isinstance(value, str):
            return self._text(value, key, depth, nested)
        if isinstance(value, dict):
            if (block := self._block(value)) is not None:
                return block
            whole = _Part()
            for name, each in value.items():
                if not _NOT_TEXT.search(name):
                    whole.add(self.part(each, name, depth + 1, nested))
            return whole if whole.words else None
        if isinstance(value, list):
            if (element := self._element(value)) is not None:
                return element
            whole = _Part()
            for each in value:
                whole.add(self.part(each, key, depth + 1, nested))
            return whole if whole.words else None
        return None

    def _text(self, text: str, key: str, depth: int, nested: int) -> _Part | None:
        if nested < _MAX_NESTED and len(text) > 200 and text.startswith(("{", "[")):
            inner = _parsed(text)
            return self.part(inner, key, depth + 1, nested + 1) if isinstance(inner, dict | list) else None
        if _TAG.search(text):
            plain = _ANY_TAG.sub(" ", text)
            return _Part(_words(plain), text) if _is_prose(plain) else None
        if _is_prose(text) and not _CODE.search(text):
            paragraphs = (part for part in re.split(r"\n\s*\n", text) if part.strip())
            return _Part(_words(text), "".join(f"<p>{escape(part)}</p>" for part in paragraphs))
        if key.lower() in _TITLES and 0 < _words(text) <= _MAX_TITLE_WORDS and not _CODE.search(text):
            return _Part(0, f"<h2>{escape(_ANY_TAG.sub('', text))}</h2>", title=True)
        return None

    def _block(self, value: dict[str, Any]) -> _Part | None:
        """A paragraph, heading or item of rich text (Contentful, ProseMirror, Portable Text, Slate)."""
        kind = next((kind for name in _KINDS if isinstance(kind := value.get(name), str)), "")
        tag = _BLOCKS.get(kind.lower())
        if tag is None or not any(isinstance(value.get(name), list) for name in _INNER):
            return None
        style = str(value.get("style") or "")
        attributes = value.get("attrs") or value.get("data") or {}
        level = attributes.get("level") if isinstance(attributes, dict) else None
        if kind == "block":
            tag = "li" if value.get("listItem") else _BLOCKS.get(style, "p")
        elif kind == "heading" and level in range(1, 7):
            tag = f"h{level}"
        return self._leaf(tag, self._inline(value))

    def _element(self, value: list[Any]) -> _Part | None:
        """A block of a React tree: ["$", tag, key, {"children": …}]."""
        if len(value) < 4 or value[0] != "$" or not isinstance(value[3], dict):
            return None
        tag = _BLOCKS.get(value[1]) if isinstance(value[1], str) else None
        return None if tag is None else self._leaf(tag, self._inline(value[3].get("children")))

    def _leaf(self, tag: str, text: str) -> _Part | None:
        if not (words := _words(text)):
            return None
        html = f"<{tag}>{escape(text)}</{tag}>"
        return _Part(words, f"<ul>{html}</ul>" if tag == "li" else html)

    def _inline(self, value: Any, depth: int = 0) -> str:
        self._nodes += 1
        if depth > _MAX_DEPTH or self._nodes > MAX_NODES:
            return ""
        if isinstance(value, str):
            return "" if value.startswith("$") else value
        if isinstance(value, list):
            if len(value) >= 4 and value[0] == "$":
                return self._inline(value[3].get("children"), depth + 1) if isinstance(value[3], dict) else ""
            return "".join(self._inline(each, depth + 1) for each in value)
        if isinstance(value, dict):
            for name in ("text", "value"):
                if isinstance(text := value.get(name), str):
                    return text
            return "".join(self._inline(value[name], depth + 1) for name in _INNER if isinstance(value.get(name), list))
        return ""


def state_html(document: HtmlElement) -> str | None:
    """HTML of the prose that the page's state holds; None where it holds fewer than MIN_WORDS words of it."""
    reader, whole = _Reader(), _Part()
    for value in _values(document):
        whole.add(reader.part(value))
    part = whole
    while not any(each.title for each in part.parts):
        inner = max(part.parts, key=lambda each: each.words, default=None)
        if inner is None or inner.html or inner.words < _MOST * part.words:
            break
        part = inner
    pieces = dict.fromkeys(_pieces(part))  # stores of state hold a text more than once
    words = sum(_words(_ANY_TAG.sub(" ", piece)) for piece in pieces)
    return "\n".join(pieces) if words >= MIN_WORDS else None


def _pieces(part: _Part) -> Iterator[str]:
    if part.html:
        yield part.html
    for each in part.parts:
        yield from _pieces(each)


def _values(document: HtmlElement) -> Iterator[Any]:
    """Parsed values of the state, in the order of the page."""
    pushed: list[str] = []
    for element in document.iter("script"):
        text = element.text or ""
        kind = (element.get("type") or "").partition(";")[0].strip().lower()
        if kind == "application/json" or (element.get("id") or "").startswith(("__NEXT_DATA", "__NUXT_DATA")):
            yield _parsed(text)
        elif kind in ("", "text/javascript", "application/javascript", "module"):
            pushed += (each for each in _pushes(text) if isinstance(each, str))
            for match in islice(_ASSIGNED.finditer(text), _MAX_ASSIGNED):
                yield _assigned(text, match)
    yield from _rows("".join(pushed))
    for element in document.iter():
        for value in element.attrib.values():
            if len(value) >= _MIN_ATTRIBUTE and value.startswith(("{", "[")):
                yield _parsed(value)


def _assigned(text: str, match: re.Match[str]) -> Any:
    """The value that a script assigns, where it is JSON, or a string of JSON that is parsed."""
    if match["parse"] is None:
        return _parsed(text, match.end(), undefined=True)
    inner = _parsed(text, match.end())
    if inner is None and (quoted := _SINGLE_QUOTED.match(text, match.end())) is not None:
        plain = re.sub(r"\\(.)", lambda match: match[0] if match[1] in "\\/bfnrtu" else match[1], quoted[1])
        inner = _parsed('"' + re.sub(r'(?<!\\)"', r"\"", plain) + '"')
    return _parsed(inner) if isinstance(inner, str) else None


def _pushes(text: str) -> Iterator[Any]:
    for match in _PUSHED.finditer(text):
        value = _parsed(text, match.end())
        if isinstance(value, list) and len(value) == 2:
            yield value[1]


def _rows(stream: str) -> Iterator[Any]:
    """Values of a stream of React's server components: rows `id:JSON` and `id:Tsize,text`."""
    place = 0
    while (row := _ROW.search(stream, place)) is not None:
        place = row.end()
        if row["size"] is None:
            yield _parsed(stream, place)
            continue
        encoded = stream[place : place + int(row["size"], 16)].encode()[: int(row["size"], 16)]
        text = encoded.decode(errors="ignore")
        place += len(text)
        yield text


def _parsed(text: str, start: int = 0, *, undefined: bool = False) -> Any:
    """The JSON value that begins at `start`; None where there is none. Numbers are not read.

    `undefined`: what no JSON has, and scripts write, is null.
    """
    decoder = json.JSONDecoder(strict=False, parse_int=len, parse_float=len, parse_constant=len)
    begin = start + len(text[start : start + 100]) - len(text[start : start + 100].lstrip())
    try:
        return decoder.raw_decode(text, begin)[0]
    except (ValueError, RecursionError):
        if not undefined or (text.find("undefined", begin) < 0 and text.find("void 0", begin) < 0):
            return None
    try:
        return decoder.raw_decode(_UNDEFINED.sub("null", text[begin:]))[0]
    except (ValueError, RecursionError):
        return None


def _is_prose(text: str) -> bool:
    """Whether a text has a sentence of words, not of keys, addresses or code."""
    if _SENTENCE.search(text) is None or _words(text) < _MIN_SENTENCE_WORDS:
        return False
    letters = sum(map(str.isalpha, text)) + sum(map(str.isspace, text))
    return letters >= 0.8 * len(text) and (" " in text.strip() or _UNSPACED.search(text) is not None)


def _words(text: str) -> int:
    return len(_WORD.findall(text)) + len(_UNSPACED.findall(text)) // 2
