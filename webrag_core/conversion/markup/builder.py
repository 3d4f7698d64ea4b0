"""Collect the nodes of a page within limits, and put names, texts and identifiers into one form."""

from __future__ import annotations

import html
import re
from dataclasses import dataclass, field

from webrag_core.acquisition.urls import canonicalise
from webrag_core.conversion.markup.models import (
    MAX_CHARS,
    MAX_IDENTIFIER,
    MAX_NODES,
    MAX_TEXT,
    Cut,
    MarkupNode,
    Syntax,
)
from webrag_core.conversion.whitespace import without_invisible
from webrag_core.errors import FetchError
from webrag_core.store.text import storable

_VOCABULARY = re.compile(r"\A.*[/#:]", re.DOTALL)
_NAME = re.compile(r"[A-Za-z][\w-]{0,63}")
_CONTROLS = re.compile(r"[\x01-\x1f\x7f-\x9f]")
_MOST_TYPES = 5
_URN = re.compile(r"urn:[a-z0-9][a-z0-9-]{1,31}:\S{1,400}", re.IGNORECASE)
# whole texts, which are the page's content and not what it states about it
_BODIES = frozenset({"articleBody", "reviewBody", "commentText", "description", "disambiguatingDescription", "text",
                     "transcript"})  # fmt: skip


@dataclass(slots=True)
class _Draft:
    syntax: Syntax
    identifier: str | None
    top: bool
    types: list[str] = field(default_factory=list)
    properties: list[tuple[str, str | int]] = field(default_factory=list)


class MarkupBuilder:
    """The nodes of one page, at most MAX_NODES with MAX_CHARS characters in all. `base_url` is that of its links."""

    def __init__(self, base_url: str) -> None:
        self.base_url = base_url
        self._drafts: list[_Draft] = []
        self._by_identifier: dict[str, int] = {}
        self._room = MAX_CHARS
        self._cut: dict[Cut, None] = {}

    def note(self, reason: Cut) -> None:
        """Note that something is left out."""
        self._cut[reason] = None

    def node(self, syntax: Syntax, written: str | None, types: list[str], *, top: bool) -> int | None:
        """Add a node, or to that with the same identifier (`written` as in the page); return its place, None without
        room."""
        identifier = None if written is None else resolve_identifier(written, self.base_url)
        key = identifier or (written if written is not None and written.startswith("_:") else None)
        place = self._by_identifier.get(key) if key is not None else None
        if place is None:
            if len(self._drafts) >= MAX_NODES:
                self.note("too_many_nodes")
                return None
            place = len(self._drafts)
            self._drafts.append(_Draft(syntax, identifier, top))
            if key is not None:
                self._by_identifier[key] = place
        draft = self._drafts[place]
        draft.top = draft.top or top
        for written_type in types[:_MOST_TYPES]:
            name = local_name(written_type)
            if name is not None and name not in draft.types and len(draft.types) < _MOST_TYPES and self._spend(name):
                draft.types.append(name)
        return place

    def add(self, place: int, written: str, value: str | int) -> None:
        """Add a property: a text, or the place of a node. What is no name of a property, or no short text, is none."""
        name = local_name(written)
        if name is None or name in _BODIES:
            return
        text = one_line(value) if isinstance(value, str) else str(value)
        if text is not None and text.startswith(("https://", "http://")):
            text = resolve_identifier(text, self.base_url) or text
        if text is None or not self._spend(name, text):
            return
        draft = self._drafts[place]
        item = (name, text if isinstance(value, str) else value)
        if item not in draft.properties[-8:]:
            draft.properties.append(item)

    def nodes(self) -> tuple[MarkupNode, ...]:
        """All nodes, in order of the page."""
        return tuple(
            MarkupNode(draft.syntax, draft.identifier, tuple(draft.types), tuple(draft.properties), draft.top)
            for draft in self._drafts
        )

    def cut(self) -> tuple[Cut, ...]:
        """What was noted, each reason once."""
        return tuple(self._cut)

    def _spend(self, *texts: str) -> bool:
        cost = sum(map(len, texts))
        if cost > self._room:
            self.note("too_large")
            return False
        self._room -= cost
        return True


def local_name(written: str) -> str | None:
    """The name of a type or property without its vocabulary: `https://schema.org/Product` -> Product."""
    name = _VOCABULARY.sub("", written[:MAX_TEXT].strip().rstrip("/#"))
    return name if _NAME.fullmatch(name) else None


def one_line(text: str) -> str | None:
    """A text as it would stand in the page: references resolved, one line; None for blank and for long ones."""
    if len(text) > 4 * MAX_TEXT:
        return None
    line = " ".join(_CONTROLS.sub(" ", storable(without_invisible(html.unescape(text)))).split())
    return line if 0 < len(line) <= MAX_TEXT else None


def resolve_identifier(written: str, base_url: str) -> str | None:
    """The absolute form of an `@id`: a canonical URL with its fragment, or a URN. None for anything else."""
    text = storable(written.strip())
    if len(text) > MAX_IDENTIFIER or not text or text.startswith("_:"):
        return None
    if _URN.fullmatch(text):
        return text
    address, mark, fragment = text.partition("#")
    try:
        url = canonicalise(address, base_url) if address else canonicalise(base_url)
    except FetchError:
        return None
    identifier = f"{url}#{' '.join(fragment.split())}" if mark and fragment.strip() else url
    return identifier if len(identifier.encode()) <= MAX_IDENTIFIER else None
