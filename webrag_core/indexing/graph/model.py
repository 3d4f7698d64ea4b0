"""Nodes and edges as values, and the keys that name nodes.

A page is named by its canonical URL, a section by that and its slugged heading path (so that it survives edits of its
text), a symbol by the key of its source and its qualified name, a term by its stems, an entity by the identifier that
pages give it, else by its type and name. A key never depends on other pages: whether something is defined anywhere is a
question for the reader.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

from webrag_core.indexing.terms import terms

EXTRACTION_VERSION = "edges-2"
"""Version of the mapping of a page to its edges. Edges of another version are made again."""
MAX_KEY_BYTES = 2_000
"""Longer addresses are no nodes: an index of PostgreSQL takes no more than 2,700 bytes."""
MAX_SYMBOLS = 2_000
"""Symbols and terms that one page may define."""
MAX_EDGES = 5_000
"""Edges of one page."""
MAX_STATEMENTS = 300
"""Of these, edges that the page's mark-up states."""

NodeKind = Literal["page", "section", "symbol", "term", "entity"]
EdgeKind = Literal[
    "contains",
    "links_to",
    "defines",
    "mentions",
    "see_also",
    "same_as",
    "replaces",
    "deprecates",
    "cites",
    "modifies",
    "typed",
]
Origin = Literal["explicit", "inferred", "model"]
Reason = Literal["too_many_symbols", "too_many_edges", "too_many_statements", "address_too_long"]

_MAX_SLUG_BYTES = 400
_MAX_TERM_STEMS = 6
_NO_SLUG = re.compile(r"[^\w.]+")


class Node(NamedTuple):
    """A thing by kind and key. `label` is how a reader would write it; of pages and nameless entities it is empty."""

    kind: NodeKind
    key: str
    label: str = ""


class Edge(NamedTuple):
    """`src` is related to `dst`, as the text says at [start, end) within the section `place` (the page: before any).

    What the page's mark-up states has that `statement`; its span is where the text names `dst`, None where it does not.
    `strength` in (0, 1] has four decimals, which the table keeps exactly.
    """

    src: Node
    kind: EdgeKind
    dst: Node
    place: Node
    strength: float
    start: int | None
    end: int | None
    origin: Origin = "explicit"
    label: str | None = None
    statement: str | None = None

    @property
    def name(self) -> str:
        """What tells edges of one kind between the same nodes apart: the property of a typed one."""
        return self.label or "" if self.kind == "typed" else ""


@dataclass(frozen=True, slots=True)
class Extraction:
    """The edges of one version, in order of the text. `reason` says why some were left out (None: all are there)."""

    edges: list[Edge]
    reason: Reason | None


def page_node(url: str) -> Node | None:
    """Node of a canonical URL; None for one too long to be a key."""
    return Node("page", url) if len(url.encode()) <= MAX_KEY_BYTES else None


def section_node(page: Node, headings: Sequence[str], repeated: int) -> Node:
    """Node of a section. `repeated` counts earlier sections of the page with the same heading path."""
    slug = "/".join(_NO_SLUG.sub("-", heading.lower()).strip("-") or "-" for heading in headings)
    if len(slug.encode()) > _MAX_SLUG_BYTES or len(page.key) + len(slug) > MAX_KEY_BYTES:
        slug = hashlib.sha256(slug.encode()).hexdigest()[:16]
    again = f"~{repeated + 1}" if repeated else ""
    return Node("section", f"{page.key}#{slug}{again}", headings[-1])


def symbol_node(source: str, name: str) -> Node:
    """Node of a qualified name in a source."""
    return Node("symbol", f"{source}:{name}", name)


def entity_node(kind: str, name: str, identifier: str | None = None) -> Node | None:
    """Node of a thing: named by its identifier, else by its type and name; None without either, or too long."""
    key = identifier or (f"{kind}:{name}" if name else "")
    return Node("entity", key, name) if key and len(key.encode()) <= MAX_KEY_BYTES else None


def term_node(text: str) -> Node | None:
    """Node of a term of prose; None for text without content words, or with too many."""
    stems = terms(text)
    return Node("term", " ".join(stems), text) if 0 < len(stems) <= _MAX_TERM_STEMS else None
