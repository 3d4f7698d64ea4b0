"""What a page states beside its text, as plain values: nodes with properties, relations to other pages, anchors.

All of it is the page's claim about things, never text of ours: it is not searched, quoted or counted as content.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

MAX_NODES = 500
"""Nodes of one page, all syntaxes together."""
MAX_CHARS = 200_000
"""Characters of JSON-LD that are read of one page, and those of all properties that are kept."""
MAX_DEPTH = 16
"""Nodes within nodes."""
MAX_TEXT = 300
"""Longer texts are no names, dates or numbers: they are left out (`articleBody`, `description`)."""
MAX_ANCHORS = 5_000
MAX_IDENTIFIER = 2_000

Syntax = Literal["JSON-LD", "microdata", "RDFa"]
Cut = Literal["not_json", "too_large", "too_many_nodes", "nested_too_deeply", "too_many_anchors"]
"""Why a part of what a page states is left out."""


@dataclass(frozen=True, slots=True)
class MarkupNode:
    """A thing that the page describes. `identifier` is absolute: a canonical URL, with its fragment, or a URN.

    `types` and names of properties are without their vocabulary (Product, brand). A property is a text on one line of
    at most 300 characters, or the place of another node. `top` nodes stand in no other node. Nodes that share an
    identifier are one.
    """

    syntax: Syntax
    identifier: str | None
    types: tuple[str, ...]
    properties: tuple[tuple[str, str | int], ...]
    top: bool


@dataclass(frozen=True, slots=True)
class PageMarkup:
    """What a page states beside its text. `relations` are (relation, canonical URL) of its head and its Link header.

    `anchors` are (id, offset in the Markdown): where the heading or term with that id ends, in order of the text. `cut`
    says what is left out, each reason once.
    """

    nodes: tuple[MarkupNode, ...] = ()
    relations: tuple[tuple[str, str], ...] = ()
    anchors: tuple[tuple[str, int], ...] = ()
    cut: tuple[Cut, ...] = ()

    def is_sound(self, characters: int) -> bool:
        """Whether everything lies within the limits of a text of so many characters. For markup of another process."""
        texts = [text for node in self.nodes for text in (*node.types, node.identifier or "")]
        texts += [text for pair in self.relations for text in pair] + [name for name, _ in self.anchors]
        for node in self.nodes:
            for name, value in node.properties:
                texts += [name, value] if isinstance(value, str) else [name]
                if isinstance(value, int) and not 0 <= value < len(self.nodes):
                    return False
        return (
            len(self.nodes) <= MAX_NODES
            and len(self.anchors) <= MAX_ANCHORS
            and all(0 <= offset <= characters for _, offset in self.anchors)
            and all(len(text) <= MAX_IDENTIFIER and "\x00" not in text for text in texts)
            and sum(map(len, texts)) <= 4 * MAX_CHARS + MAX_ANCHORS * MAX_TEXT
        )


NO_MARKUP = PageMarkup()
"""Of a page that states nothing."""
