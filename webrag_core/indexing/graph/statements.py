"""Third pass over a page: what its mark-up states about things, itself and other pages.

A statement is the page's claim and stands in no text of ours. An edge keeps the statement, and quotes the sentence that
names its target where the text has that name, letter for letter; else it has no span, and counts half.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Iterator, Sequence

from webrag_core.conversion.markup.builder import resolve_identifier
from webrag_core.conversion.markup.models import MarkupNode, PageMarkup
from webrag_core.indexing.graph.model import MAX_STATEMENTS, Edge, EdgeKind, Node, Origin, entity_node, page_node
from webrag_core.indexing.graph.quoting import BlockSentences
from webrag_core.indexing.graph.structure import Structure
from webrag_core.indexing.markdown import Block

DESCRIBES = "describes"
"""Label of the edge from a page to a thing that it describes: inferred, no property of the page says so."""

_NAMES = ("name", "headline", "legalName", "title", "alternateName")
_PAGE_TYPES = ("Page",)
_ARTICLE_TYPES = ("Article", "Posting", "Report")
# what is about the page as a file, or leads nowhere
_NO_EDGES = frozenset({"potentialAction", "image", "logo", "thumbnail", "primaryImageOfPage", "breadcrumb", "photo",
                       "mainEntityOfPage", "itemListElement", "video", "audio"})  # fmt: skip
# properties whose text names a thing, or another page
_NAMING = frozenset({"author", "creator", "contributor", "editor", "publisher", "brand", "manufacturer", "provider",
                     "about", "mentions", "sameAs", "isBasedOn", "citation", "isPartOf", "hasPart", "copyrightHolder",
                     "legislationChanges", "legislationRepeals", "legislationAmends", "legislationConsolidates",
                     "legislationTransposes", "legislationApplies"})  # fmt: skip
# and those whose text is a thing of the kind that the property names
_KINDS = frozenset({"isbn", "issn", "doi", "gtin", "gtin8", "gtin12", "gtin13", "gtin14", "mpn", "sku",
                    "legislationIdentifier", "recipeIngredient", "recipeCuisine", "recipeCategory"})  # fmt: skip
MAX_STEPS = 20_000
"""Properties that are looked at: of things without a name as often as they are reached."""
_MOST_NAMELESS = 4  # in a row
_LONGEST_TRAIL = 50
_MOST_TRIES = 50  # places of a name that are no words of their own
_UNSAID = 0.5
_CLAIMED = 0.5  # `canonical` and breadcrumbs are often wrong, or of the site's whole menu
_LONGEST_STATEMENT = 400


def read_statements(
    text: str, blocks: Sequence[Block], structure: Structure, markup: PageMarkup, room: int
) -> tuple[list[Edge], bool]:
    """(edges, whether all are there): at most `room` and MAX_STATEMENTS, in order of the mark-up."""
    reader = _Reader(text, blocks, structure, markup)
    edges: list[Edge] = []
    for edge in reader.read():
        if len(edges) >= min(room, MAX_STATEMENTS):
            return reader.weighted(edges), False
        edges.append(edge)
    return reader.weighted(edges), reader.steps <= MAX_STEPS


class _Reader:
    def __init__(self, text: str, blocks: Sequence[Block], structure: Structure, markup: PageMarkup) -> None:
        self._text = text
        self._blocks = blocks
        self._starts = [block.start for block in blocks] if markup.nodes else []
        self._structure = structure
        self._page = structure.page
        self._markup = markup
        self._nodes = markup.nodes
        self._articles = sum(node.top and _is_any(node, _ARTICLE_TYPES) for node in markup.nodes)
        self._things = [self._thing(node) for node in self._nodes]
        self._spans: dict[str, tuple[int, int, Node] | None] = {}
        self._sentences: dict[int, BlockSentences] = {}  # by block
        self.steps = 0

    def read(self) -> Iterator[Edge]:
        """All edges: of relations, breadcrumbs and nodes."""
        yield from self._relations()
        for place, node in enumerate(self._nodes):
            if "BreadcrumbList" in node.types:
                yield from self._parent(node)
                continue
            thing = self._things[place]
            if thing is None or "ListItem" in node.types:
                continue
            if node.top and thing != self._page:
                yield self._edge(
                    self._page, DESCRIBES, thing, f"{node.syntax}: {self._add_statement(place)}", "inferred"
                )
            yield from self._properties(place, thing, place, "", {place})

    def weighted(self, edges: Sequence[Edge]) -> list[Edge]:
        """The edges, each typed one with its part of the page's statements."""
        typed = sum(edge.kind == "typed" for edge in edges)
        strength = 1 / math.log2(1 + max(1, typed))
        return [
            edge._replace(strength=round(strength * edge.strength, 4)) if edge.kind == "typed" else edge
            for edge in edges
        ]

    def _thing(self, node: MarkupNode) -> Node | None:
        """The page, where a node is about it; an entity; None for what has neither identifier nor name."""
        if self._is_page(node):
            return self._page
        return entity_node(node.types[0] if node.types else "Thing", _name(node), node.identifier)

    def _is_page(self, node: MarkupNode) -> bool:
        url = self._page.key
        if node.identifier == url:
            return True
        stated = [value for name, value in node.properties if name == "url" and isinstance(value, str)]
        if not node.top or (node.identifier or url).partition("#")[0] != url:
            return False
        if stated and resolve_identifier(stated[0], url) != url:
            return False
        if _is_any(node, _PAGE_TYPES):
            return True
        return _is_any(node, _ARTICLE_TYPES) and (bool(stated) or self._articles == 1)  # one of several is in a list

    def _properties(self, place: int, source: Node, at: int, path: str, seen: set[int]) -> Iterator[Edge]:
        """Edges from `source` (node `place`) by the properties of node `at`, which it reaches through nameless ones."""
        for name, value in self._nodes[at].properties:
            self.steps += 1
            if name in _NO_EDGES or self.steps > MAX_STEPS:
                continue
            label = f"{path}{name}"
            if isinstance(value, str):
                target = self._named(name, value)
                description = f'"{value}"'
            elif "BreadcrumbList" in self._nodes[value].types:
                continue
            elif (target := self._things[value]) is None:
                if value not in seen and len(seen) < _MOST_NAMELESS:
                    yield from self._properties(place, source, value, f"{label}.", {*seen, value})
                continue
            else:
                description = self._add_statement(value)
            if target is not None and target != source:
                statement = f"{self._nodes[place].syntax}: {self._add_statement(place)} {label} {description}"
                yield self._edge(source, label, target, statement, "explicit")

    def _named(self, name: str, text: str) -> Node | None:
        """What the text of a property names."""
        if name in _KINDS:
            return entity_node(name, text)
        if name not in _NAMING:
            return None
        if text.startswith(("https://", "http://", "urn:")):
            identifier = resolve_identifier(text, self._page.key)
            if identifier is None:
                return None
            return self._page if identifier == self._page.key else entity_node("", "", identifier)
        return entity_node("Thing", text)

    def _edge(self, source: Node, label: str, target: Node, statement: str, origin: Origin) -> Edge:
        span = self._span(target.label) if target.kind == "entity" else None
        statement = statement[:_LONGEST_STATEMENT]
        if span is None:
            return Edge(source, "typed", target, self._page, _UNSAID, None, None, origin, label, statement)
        start, end, place = span
        return Edge(source, "typed", target, place, 1.0, start, end, origin, label, statement)

    def _add_statement(self, place: int) -> str:
        node, thing = self._nodes[place], self._things[place]
        if thing == self._page:
            return "this page"
        kind = node.types[0] if node.types else "Thing"
        return f'{kind} "{thing.label}"' if thing and thing.label else f"{kind} {node.identifier or 'without a name'}"

    def _span(self, name: str) -> tuple[int, int, Node] | None:
        """(start, end, section) of the first sentence that has the name as words of its own."""
        if name not in self._spans:
            self._spans[name] = self._span_of(name) if len(name) > 1 else None
        return self._spans[name]

    def _span_of(self, name: str) -> tuple[int, int, Node] | None:
        at = self._text.find(name)
        for _ in range(_MOST_TRIES):
            if at < 0:
                return None
            if not (_is_word(self._text, at - 1, name[0]) or _is_word(self._text, at + len(name), name[-1])):
                break
            at = self._text.find(name, at + 1)
        else:
            return None
        index = bisect_right(self._starts, at) - 1
        if index < 0 or at + len(name) > self._blocks[index].end:
            return None
        if index not in self._sentences:
            self._sentences[index] = BlockSentences(self._text, self._blocks[index])
        start, end = self._sentences[index].at(at)
        return min(start, at), max(end, at + len(name)), self._structure.places[index]

    def _relations(self) -> Iterator[Edge]:
        """What the head says of other addresses of the page, and of its versions."""
        for relation, url in self._markup.relations:
            target = page_node(url)
            if target is None or target == self._page:
                continue
            statement = f'rel="{relation}" {url}'
            if relation == "canonical":
                yield self._claim(self._page, "same_as", target, relation, statement, _CLAIMED)
            elif relation != "predecessor-version":
                yield self._claim(target, "replaces", self._page, relation, statement, 1.0)
            elif _host(url) == _host(self._page.key):  # nobody replaces pages of others
                yield self._claim(self._page, "replaces", target, relation, statement, 1.0)

    def _parent(self, breadcrumbs: MarkupNode) -> Iterator[Edge]:
        """The page that breadcrumbs name before this one contains it; of the same host alone."""
        trail = sorted(self._trail(breadcrumbs), key=lambda step: step[0])
        before = [url for _, _, url in trail if url != self._page.key]
        for number, (_, _, url) in enumerate(trail):
            if url == self._page.key:
                before = [earlier for _, _, earlier in trail[:number]]
                break
        parent = page_node(before[-1]) if before else None
        if parent is None or parent == self._page or _host(parent.key) != _host(self._page.key):
            return
        names = " › ".join(name for _, name, _ in trail)
        statement = f"{breadcrumbs.syntax}: BreadcrumbList {names}"
        yield self._claim(parent, "contains", self._page, "breadcrumb", statement, _CLAIMED)

    def _trail(self, breadcrumbs: MarkupNode) -> Iterator[tuple[int, str, str]]:
        """(position, name, URL) of each step with an address, of the first 50 steps."""
        places = [value for name, value in breadcrumbs.properties if name == "itemListElement"]
        for value in places[:_LONGEST_TRAIL]:
            if isinstance(value, str):
                continue
            step = self._nodes[value]
            inner = {key: item for key, item in step.properties if key in ("position", "item", "name")}
            item, position = inner.get("item"), str(inner.get("position", ""))
            node = self._nodes[item] if isinstance(item, int) else None
            address = node.identifier if node is not None else str(item or "") or step.identifier
            url = resolve_identifier(address, self._page.key) if address else None
            if url is not None and position.isdecimal() and len(position) < 6:
                label = inner.get("name") or (_name(node) if node is not None else "")
                yield int(position), str(label), url.partition("#")[0]

    def _claim(self, source: Node, kind: EdgeKind, target: Node, label: str, statement: str, strength: float) -> Edge:
        cut = statement[:_LONGEST_STATEMENT]
        return Edge(source, kind, target, self._page, strength, None, None, "explicit", label, cut)


def _name(node: MarkupNode) -> str:
    texts = {name: value for name, value in reversed(node.properties) if isinstance(value, str)}
    return next((texts[name] for name in _NAMES if name in texts), "")


def _is_any(node: MarkupNode, ends: tuple[str, ...]) -> bool:
    return any(kind.endswith(ends) for kind in node.types)


def _is_word(text: str, at: int, beside: str) -> bool:
    """Whether the character at `at` continues the word of the one beside it."""
    return 0 <= at < len(text) and (text[at].isalnum() or text[at] == "_") and beside.isalnum()


def _host(url: str) -> str:
    return url.split("/", 3)[2]
