"""First pass over a page: its sections, and what its definition lists and headings define."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

from webrag_core.indexing.graph.listed import ListedSymbols, ends_in
from webrag_core.indexing.graph.model import (
    MAX_SYMBOLS,
    Edge,
    Node,
    Origin,
    Reason,
    section_node,
    symbol_node,
    term_node,
)
from webrag_core.indexing.graph.names import declared_name, looks_like_code, parts, qualify
from webrag_core.indexing.markdown import Block, plain_text
from webrag_core.indexing.sentences import units_of

_CODE = re.compile(r"(?<!`)(`+)([^`\n]{1,400})\1(?!`)")
_HEADING_MARK = re.compile(r"(#{1,6})[ \t]+")
_BOX_TITLE = re.compile(r"\W*(?:note|tip|warning|important|caution|danger|hint|attention)\W*", re.IGNORECASE)
_WHOLE_CODE = re.compile(r"(?<!`)(`+)([^`\n]{1,400})\1(?:\s*(?:[—–:(-]|\().*)?", re.DOTALL)
_RUSTDOC = re.compile(
    r"(?:Struct|Enum|Trait|Function|Module|Macro|Union|Type(?: Alias| Definition)?|Constant|Static|Keyword"
    r"|Primitive Type|Crate|Derive Macro|Attribute Macro|Trait Alias) (?P<name>[\w:.]+)!?\Z"
)
_COMMAND = re.compile(r"[A-Z][A-Z0-9_]{2,}(?: [A-Z][A-Z0-9_]+){0,4}\Z")
_IS_A = re.compile(
    r"(?:An?|The)?\s*+(?P<name>[^\s.,;:()][^.,;:()\n]{1,59}?)\s+(?:is|are)\s+(?:an?|the|any|one)\s", re.IGNORECASE
)
_WORDS_OF_TERM = 6
_LONGEST_TERM = 80
_LONGEST_SPAN = 1_000  # characters of a definition that is quoted
_MOST_ALIKE = 50  # symbols of a page with the same last part: beyond that none of them is meant
_INFERRED = 0.5


@dataclass(slots=True)
class Structure:
    """Where the blocks of a page stand, and what it defines. Lists have one entry for each block."""

    page: Node
    source: str
    places: list[Node] = field(default_factory=list)
    scopes: list[str | None] = field(default_factory=list)
    """Qualified name of the innermost symbol whose description the block belongs to."""
    edges: list[Edge] = field(default_factory=list)
    reason: Reason | None = None
    symbols: set[str] = field(default_factory=set)
    """Qualified names of the symbols that the page defines."""
    _by_end: dict[str, list[str]] = field(default_factory=lambda: defaultdict(list))

    def define(self, name: str) -> bool:
        """Note a symbol. False when it is known already."""
        if name in self.symbols:
            return False
        self.symbols.add(name)
        self._by_end[parts(name)[-1]].append(name)
        return True

    def whole_name(self, name: str) -> str:
        """`Path.walk` -> pathlib.Path.walk where the page defines pathlib.Path: generators leave the module out."""
        outer = _outer(name)
        if outer is None or outer in self.symbols:
            return name
        candidates = [item for item in self._by_end.get(parts(outer)[-1], ()) if item.endswith(f".{outer}")]
        return candidates[0] + name[len(outer) :] if len(candidates) == 1 else name

    def resolve(self, name: str, scope: str | None, *, called: bool) -> str:
        """The qualified name that `name` has on this page: near `scope`, else the only one that ends so, else itself.

        A bare word that is not called (`list`) is not taken for a member that happens to have that name.
        """
        within = scope
        while within:
            if (qualified := qualify(within, name)) in self.symbols:
                return qualified
            within = _outer(within)
        if name in self.symbols:
            return name
        ends = parts(name)
        alike = self._by_end.get(ends[-1], ())
        if (len(ends) > 1 or called) and len(alike) <= _MOST_ALIKE:
            candidates = [candidate for candidate in alike if parts(candidate)[-len(ends) :] == ends]
            if len(candidates) == 1:
                return candidates[0]
        return name


def read_structure(
    text: str, blocks: Sequence[Block], page: Node, source: str, listed: ListedSymbols | None = None
) -> Structure:
    """Sections, symbols and terms of a page, with their `contains` and `defines` edges. At most MAX_SYMBOLS.

    What `listed` has at a place is a symbol of that name; other names are qualified by where they stand.
    """
    return _Reader(text, blocks, Structure(page, source), listed or ListedSymbols()).read()


def _outer(name: str) -> str | None:
    """asyncio.Queue.get -> asyncio.Queue."""
    cut = max(name.rfind("."), name.rfind(" "), name.rfind("::"))
    return name[:cut] if cut > 0 else None


class _Reader:
    def __init__(self, text: str, blocks: Sequence[Block], structure: Structure, listed: ListedSymbols) -> None:
        self._text = text
        self._blocks = blocks
        self._structure = structure
        self._listed = listed
        self._sections: list[tuple[int, Node]] = []  # that the text stands in, with the level of their headings
        self._repeated: Counter[str] = Counter()
        self._named: dict[tuple[str, ...], str | None] = {}  # symbol that a heading or term on the path declares
        self._terms: set[Node] = set()
        self._command: str | None = None  # that the page is about: its parameters are named after it
        self._awaiting: Node | None = None  # section whose first sentence is still to come

    def read(self) -> Structure:
        structure = self._structure
        scope, path = None, None
        for index, block in enumerate(self._blocks):
            declares = block.kind in ("heading", "term")
            if block.kind == "heading":
                self._heading(block)
            elif block.kind == "term":
                self._term(index, block)
            else:
                if self._awaiting is not None:
                    self._first_sentence(block)
                self._declare_listed(self._place, block, block.end)  # a term without a definition is a paragraph
            if declares or block.heading_path is not path:  # equal paths are one object
                path = block.heading_path
                scope = self._scope(path)
            structure.places.append(self._place)
            structure.scopes.append(scope)
        return structure

    @property
    def _place(self) -> Node:
        return self._sections[-1][1] if self._sections else self._structure.page

    def _scope(self, path: tuple[str, ...]) -> str | None:
        for length in range(len(path), 0, -1):
            if (name := self._named.get(path[:length])) is not None:
                return name
        return None

    def _heading(self, block: Block) -> None:
        """A section begins, unless the heading is the title of a box or stands in a list, quotation or definition."""
        path = block.heading_path
        mark = _HEADING_MARK.match(self._text, block.start, block.end)
        if mark is None or not path or "definition_list" in block.flags or _BOX_TITLE.fullmatch(path[-1]):
            return
        first, level = not self._repeated, len(mark[1])
        while self._sections and self._sections[-1][0] >= level:
            self._sections.pop()
        above, page = self._place, self._structure.page
        headings = [*(section.label for _, section in self._sections), path[-1]]
        section = section_node(page, headings, 0)
        seen = self._repeated[section.key]
        self._repeated[section.key] += 1
        if seen:
            section = section_node(page, headings, seen)
        self._sections.append((level, section))
        self._awaiting = section
        self._named.pop(path, None)
        self._structure.edges.append(Edge(above, "contains", section, above, 1.0, block.start, block.end))
        name = self._name_of_heading(block, path[-1], first=first)
        if name is not None:
            self._named[path] = self._declare(name, path[:-1], section, block, block.end)
            if first and name == path[-1]:
                self._command = name
        self._declare_listed(section, block, block.end)

    def _name_of_heading(self, block: Block, heading: str, *, first: bool) -> str | None:
        body = _HEADING_MARK.sub("", self._text[block.start : block.end], count=1).strip()
        if (code := _WHOLE_CODE.fullmatch(body)) is not None:
            return declared_name(code[2])
        if (declared := _RUSTDOC.match(heading)) is not None:
            return declared_name(declared["name"])
        return heading if first and _COMMAND.match(heading) and "_" not in heading else None

    def _term(self, index: int, block: Block) -> None:
        path = block.heading_path
        self._named.pop(path, None)
        place = self._place
        end = self._end_of_definition(index, block)
        line = self._text[block.start : block.end]
        start = _first_letter(self._text, block)
        first: str | None = None
        for text, is_code in _pieces(line):
            name = declared_name(text) if is_code else None
            if name is not None:
                symbol = self._declare(name, path[:-1], place, block, end)
                first = first or symbol
            elif not is_code:
                self._define_term(text, place, start, end)
        listed = self._declare_listed(place, block, end)
        first = first or listed
        if first is not None:
            self._named[path] = first

    def _end_of_definition(self, index: int, block: Block) -> int:
        """End of the first sentence of the definition, where there is one: that is what a reader is shown."""
        for following in self._blocks[index + 1 : index + 2]:
            if following.kind == "paragraph" and len(following.heading_path) >= len(block.heading_path):
                end = _first_sentence(self._text, following)[1]
                return end if end - block.start <= _LONGEST_SPAN else block.end
        return block.end

    def _declare(self, name: str, above: tuple[str, ...], place: Node, block: Block, end: int) -> str | None:
        """Note a symbol that `block` declares below the path `above`; return its qualified name."""
        scope = self._scope(above) or self._command
        return self._define(self._qualified(name, scope, block), scope, place, block, end)

    def _qualified(self, name: str, scope: str | None, block: Block) -> str:
        here = [item for item in self._listed.within(block.start, block.end) if ends_in(item, name)]
        if here:
            return here[0]
        if scope is not None and (len(parts(name)) == 1 or scope == self._command):
            qualified = qualify(scope, name)
        else:
            qualified = self._structure.whole_name(name)
        return self._listed.whole_name(name, qualified) or qualified

    def _declare_listed(self, place: Node, block: Block, end: int) -> str | None:
        """Note the symbols that an inventory has here and that the text did not tell; return the first."""
        scope = self._scope(block.heading_path[:-1])
        names = [
            self._define(name, scope, place, block, end)
            for name in self._listed.within(block.start, block.end)
            if name not in self._structure.symbols
        ]
        return names[0] if names else None

    def _define(self, name: str, scope: str | None, place: Node, block: Block, end: int) -> str | None:
        if self._full():
            return None
        structure = self._structure
        start = _first_letter(self._text, block)
        symbol = symbol_node(structure.source, name)
        if structure.define(name):
            nested = scope is not None and scope != name
            outer = symbol_node(structure.source, scope) if scope is not None and nested else place
            structure.edges.append(Edge(outer, "contains", symbol, place, 1.0, start, end))
        structure.edges.append(Edge(structure.page, "defines", symbol, place, 1.0, start, end))
        return name

    def _define_term(
        self, text: str, place: Node, start: int, end: int, origin: Origin = "explicit", strength: float = 1.0
    ) -> None:
        term = term_node(text)
        if term is None or term in self._terms or self._full():
            return
        self._terms.add(term)
        self._structure.edges.append(Edge(self._structure.page, "defines", term, place, strength, start, end, origin))

    def _full(self) -> bool:
        full = len(self._structure.symbols) + len(self._terms) >= MAX_SYMBOLS
        if full:
            self._structure.reason = "too_many_symbols"
        return full

    def _first_sentence(self, block: Block) -> None:
        """The first sentence of a section that says what its heading is defines it: "A coroutine is a …"."""
        section, self._awaiting = self._awaiting, None
        if section is None or block.kind != "paragraph":
            return
        match = _IS_A.match(self._text, block.start, min(block.end, block.start + 200))
        if match is None:
            return
        term, heading = term_node(plain_text(match["name"])), term_node(section.label)
        if term is not None and heading is not None and term.key == heading.key:
            start, end = _first_sentence(self._text, block)
            self._define_term(section.label, section, start, end, "inferred", _INFERRED)


def _first_letter(text: str, block: Block) -> int:
    """Where the block begins, without white space."""
    line = text[block.start : block.end]
    return block.start + len(line) - len(line.lstrip())


def _first_sentence(text: str, block: Block) -> tuple[int, int]:
    """Its span; of a sentence that does not end soon, the span of its beginning."""
    head = replace(block, end=min(block.end, block.start + 2 * _LONGEST_SPAN))
    return next(iter(units_of(text, head))).stripped(text)


def _pieces(term: str) -> Iterator[tuple[str, bool]]:
    """(text, whether it is code) of each name in a line of terms: its code spans, or what commas divide."""
    # not (`integer`), the type of a parameter, nor [`queue`](…), which is defined elsewhere
    codes = [match[2] for match in _CODE.finditer(term) if term[match.start() - 1 : match.start()] not in ("(", "[")]
    if codes:
        yield from ((code, True) for code in codes)
        return
    if "](" in term:
        return
    for piece in plain_text(term).split(", "):
        if 0 < len(piece) <= _LONGEST_TERM and len(piece.split()) <= _WORDS_OF_TERM:
            yield piece, looks_like_code(piece)
