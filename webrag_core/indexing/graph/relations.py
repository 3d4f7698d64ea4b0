"""Second pass over a page: what it links to, mentions, recommends and deprecates, each with its sentence."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from webrag_core.acquisition.urls import canonicalise
from webrag_core.errors import FetchError
from webrag_core.indexing.graph.model import Edge, EdgeKind, Node, Origin, page_node, symbol_node, term_node
from webrag_core.indexing.graph.names import linked_name, referred_name
from webrag_core.indexing.graph.quoting import BlockSentences
from webrag_core.indexing.graph.structure import Structure
from webrag_core.indexing.markdown import Block, plain_text
from webrag_core.late_pattern import late_pattern

MENTIONS_PER_SECTION = 40
"""Symbols and terms that one section mentions, the first ones."""

_INLINE = late_pattern(
    r"(?<!!)\[(?P<text>(?:[^\[\]\\\n]|\\.|\[[^\[\]\n]*\]){0,1000}+)\]\((?P<url>[^()\s]*(?:\([^()\s]*\)[^()\s]*)*+)\)"
    r"|(?<!`)(?P<ticks>`+)(?P<code>[^`\n]{1,200})(?P=ticks)(?!`)"
)
_CODE_ALONE = late_pattern(r"[*_]*(`+)(?P<code>[^`\n]{1,200})\1[*_]*")
_LIST_ITEM = late_pattern(r"[ \t]*(?:[-*+]|\d{1,9}[.)])[ \t]")
_SEE_ALSO = late_pattern(r"\bsee also\b", re.IGNORECASE)
_SEE_ALSO_ALONE = late_pattern(r"\W*see also\W*", re.IGNORECASE)
_DEPRECATED = late_pattern(r"(?<!not )(?<!never )(?<!no longer )\bdeprecated\b", re.IGNORECASE)
_SUBJECT = late_pattern(
    r"(?<!`)(`+)(?P<code>[^`\n]{1,200})\1[^`.]{0,60}?\b(?:is|are|was|were|been|now)\s+(?:\w+\s+)?deprecated\b"
)
_REPLACEMENT = late_pattern(
    r"\b(?:us(?:e|ing)|favou?r of|replaced (?:by|with)|superseded by|prefer)\s(?:the\s)?(?:new\s)?"
    r"\[?(`+)(?P<code>[^`\n]{1,200})\1(?:\]\((?P<url>[^()\s]*)\))?",
    re.IGNORECASE,
)
# of one way to use a thing, not of the thing
_IN_PART = late_pattern(
    r"\bdeprecat(?:ed|ion)\b[^.]{0,80}?(?:warning is (?:emitted|issued|raised)|param|argument|keyword|option|flag|form"
    r"|use of|usage|passing|calling|if |when |[*_]\w+[*_])",
    re.IGNORECASE,
)
_NAVIGATION = 0.05
_PARTLY = 0.5
_AGAIN = 0.5  # a mention in a further section of the page
_MAX_LABEL = 200
_MOST_JUDGED = 1_000
_SKIPPED = frozenset({"code", "heading", "hr"})


class LinkTarget(NamedTuple):
    """What the page's link candidates say of one target."""

    in_navigation: bool
    nofollow: bool


@dataclass(frozen=True, slots=True)
class _Link:
    target: Node
    place: Node
    start: int
    end: int
    label: str
    in_navigation: bool


def read_relations(
    text: str, blocks: Sequence[Block], structure: Structure, links: Mapping[str, LinkTarget], room: int
) -> tuple[list[Edge], bool]:
    """(edges, whether all are there): at most `room` edges, in order of the text."""
    reader = _Reader(text, structure, links, room)
    for index, block in enumerate(blocks):
        reader.visit(index, block)
        if reader.full:
            break
    return reader.edges(), not reader.full


class _Reader:
    def __init__(self, text: str, structure: Structure, links: Mapping[str, LinkTarget], room: int) -> None:
        self._text = text
        self._structure = structure
        self._targets = links
        self._room = room
        self._canonical: dict[str, str | None] = {}
        self._symbols: dict[tuple[str, str, str | None], Node | None] = {}
        self._links: dict[str, _Link] = {}
        self._recommended: dict[str, _Link] = {}
        self._mentions: dict[tuple[str, str], tuple[Node, Node, int, int]] = {}  # by place and target
        self._per_section: Counter[str] = Counter()
        self._statements: dict[tuple[str, str, str], Edge] = {}  # deprecates, replaces
        self._see_also_section: str | None = None  # key of the section under that heading
        self._box = ""  # "fresh" after a line "See also", "list" within the list below it
        self._place, self._scope = structure.page, structure.scopes[0] if structure.scopes else None
        self._block: Block | None = None
        self._sentences: BlockSentences | None = None  # of the block, once one is asked for
        self._judged = 0  # sentences that speak of a deprecation

    @property
    def full(self) -> bool:
        """Whether there is no room for another edge."""
        count = len(self._links) + len(self._recommended) + len(self._mentions) + len(self._statements)
        return count >= self._room

    def visit(self, index: int, block: Block) -> None:
        """Take in one block."""
        before = self._place
        self._place, self._scope = self._structure.places[index], self._structure.scopes[index]
        if block.kind == "heading":
            self._box = ""
            if self._place != before:
                alone = _SEE_ALSO_ALONE.fullmatch(self._place.label)
                self._see_also_section = self._place.key if alone else None
            elif block.heading_path and _SEE_ALSO_ALONE.fullmatch(block.heading_path[-1]):
                self._box = "fresh"
            return
        if block.kind in _SKIPPED:
            return
        body = self._text[block.start : block.end]
        if len(body) < 40 and _SEE_ALSO_ALONE.fullmatch(body):
            self._box = "fresh"
            return
        boxed = self._is_boxed(block, body)
        if "`" not in body and "](" not in body and "eprecated" not in body:
            return
        self._block, self._sentences = block, None
        recommends = boxed or self._see_also_section == self._place.key
        see_also = _SEE_ALSO.search(body) if not recommends else None
        for match in _INLINE.finditer(body):
            if match["url"] is not None:
                self._link(match, recommends or (see_also is not None and self._follows(see_also, match)))
            elif block.kind != "term":  # what it defines is no mention
                self._mention(match["code"], match.start(), "", same_source=True)
            if self.full:
                return
        if "eprecated" in body:
            self._deprecations(body)

    def _is_boxed(self, block: Block, body: str) -> bool:
        """Whether the block belongs to the box that a line "See also" opened: the list below it, or one block."""
        in_list = _LIST_ITEM.match(body) is not None or "definition_list" in block.flags
        boxed = self._box == "fresh" or (self._box == "list" and in_list)
        self._box = "list" if boxed and in_list else ""
        return boxed

    def _follows(self, see_also: re.Match[str], link: re.Match[str]) -> bool:
        """Whether the link stands after "see also" in the same sentence."""
        return link.start() > see_also.start() and self._sentence(link.start()) == self._sentence(see_also.start())

    def _sentence(self, offset: int) -> tuple[int, int]:
        """Span of the sentence at `offset` of the block."""
        assert self._block is not None
        if self._sentences is None:
            self._sentences = BlockSentences(self._text, self._block)
        return self._sentences.at(self._block.start + offset)

    def _resolve(self, url: str) -> str | None:
        if url not in self._canonical:
            try:
                self._canonical[url] = canonicalise(url)
            except FetchError:
                self._canonical[url] = None
        return self._canonical[url]

    def _link(self, match: re.Match[str], recommended: bool) -> None:
        address, _, fragment = match["url"].partition("#")
        url = self._resolve(address)
        known = None if url is None else self._targets.get(url)
        if url is None or known is None or known.nofollow or url == self._structure.page.key:
            return
        words = match["text"]
        target = page_node(url)
        links = self._recommended if recommended else self._links
        if target is not None and url not in links:
            start, end = self._sentence(match.start())
            label = plain_text(words[: 4 * _MAX_LABEL])[:_MAX_LABEL]
            links[url] = _Link(target, self._place, start, end, label, known.in_navigation)
        same_source = self._in_source(url)
        if (code := _CODE_ALONE.fullmatch(words)) is not None:
            self._mention(code["code"], match.start(), fragment, same_source=same_source)
        elif fragment.startswith("term-") and same_source:
            self._mention_of(term_node(fragment.removeprefix("term-").replace("-", " ")), match.start())

    def _in_source(self, url: str) -> bool:
        place, source = url.partition("://")[2], self._structure.source
        return place.startswith(source) and place[len(source) : len(source) + 1] in ("", "/")

    def _symbol(self, code: str, fragment: str) -> Node | None:
        """What code in running text refers to here; None for what is no name."""
        key = (code, fragment, self._scope)
        if key not in self._symbols:
            self._symbols[key] = self._referred(code, fragment)
        return self._symbols[key]

    def _referred(self, code: str, fragment: str) -> Node | None:
        referred = referred_name(code)
        if referred is None:
            return None
        name = linked_name(referred[0], fragment)
        if name == referred[0] and not fragment:
            name = self._structure.resolve(name, self._scope, called=referred[1])
        return symbol_node(self._structure.source, name)

    def _mention(self, code: str, offset: int, fragment: str, *, same_source: bool) -> None:
        if same_source:
            self._mention_of(self._symbol(code, fragment), offset)

    def _mention_of(self, target: Node | None, offset: int) -> None:
        if target is None or (target.kind == "symbol" and target.label == self._scope):
            return
        key = (self._place.key, target.key)
        if key in self._mentions or self._per_section[self._place.key] >= MENTIONS_PER_SECTION:
            return
        self._per_section[self._place.key] += 1
        self._mentions[key] = (target, self._place, *self._sentence(offset))

    def _deprecations(self, body: str) -> None:
        last = (0, 0)
        for match in _DEPRECATED.finditer(body):
            if match.start() and body[match.start() - 1] == "`":
                continue
            start, end = self._sentence(match.start())
            if (start, end) == last:
                continue
            if self._judged >= _MOST_JUDGED:
                return
            last, self._judged = (start, end), self._judged + 1
            sentence = self._text[start:end]
            old = self._deprecated(sentence)
            if old is None:
                continue
            partly = _IN_PART.search(sentence) is not None
            weight: float = _PARTLY if partly else 1.0
            origin: Origin = "inferred" if partly else "explicit"
            self._state(Edge(self._structure.page, "deprecates", old, self._place, weight, start, end, origin))
            replacement = None if partly else _REPLACEMENT.search(sentence)
            if replacement is None:
                continue
            address, _, fragment = (replacement["url"] or "").partition("#")
            if not address or ((url := self._resolve(address)) is not None and self._in_source(url)):
                new = self._symbol(replacement["code"], fragment)
                if new is not None and new != old:
                    self._state(Edge(new, "replaces", old, self._place, 1.0, start, end))

    def _deprecated(self, sentence: str) -> Node | None:
        """What a sentence says is deprecated: its subject, else what the block describes, else the first code in it."""
        if (subject := _SUBJECT.search(sentence)) is not None:
            return self._symbol(subject["code"], "")
        if self._scope is not None:
            return symbol_node(self._structure.source, self._scope)
        replacement = _REPLACEMENT.search(sentence)
        code = _INLINE.search(sentence, 0, replacement.start() if replacement else len(sentence))
        while code is not None and code["code"] is None:
            code = _INLINE.search(sentence, code.end(), replacement.start() if replacement else len(sentence))
        return None if code is None else self._symbol(code["code"], "")

    def _state(self, edge: Edge) -> None:
        self._statements.setdefault((edge.src.key, edge.kind, edge.dst.key), edge)

    def edges(self) -> list[Edge]:
        """All edges, in order of the text."""
        page = self._structure.page
        edges = list(self._statements.values())
        links = {url: link for url, link in self._links.items() if url not in self._recommended}
        groups: tuple[tuple[EdgeKind, dict[str, _Link]], ...] = (("links_to", links), ("see_also", self._recommended))
        for kind, group in groups:
            strength = 1 / math.log2(1 + max(1, len(group)))
            for link in group.values():
                weight = round(strength * (_NAVIGATION if link.in_navigation else 1.0), 4)
                label = link.label or None
                edges.append(Edge(page, kind, link.target, link.place, weight, link.start, link.end, "explicit", label))
        mentioned: set[str] = set()
        strength = 1 / math.log2(1 + max(1, len({target.key for target, *_ in self._mentions.values()})))
        for target, place, start, end in self._mentions.values():
            weight = round(strength * (_AGAIN if target.key in mentioned else 1.0), 4)
            mentioned.add(target.key)
            edges.append(Edge(page, "mentions", target, place, weight, start, end))
        return sorted(edges, key=lambda edge: (edge.start, edge.end, edge.kind, edge.dst.key))
