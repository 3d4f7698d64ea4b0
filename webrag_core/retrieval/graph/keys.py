"""Find the nodes that keys name: exactly, else by their end (`Queue.get`), never by similarity."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from psycopg import AsyncConnection

from webrag_core.acquisition.urls import canonicalise
from webrag_core.errors import FetchError
from webrag_core.indexing.graph.model import NodeKind, term_node
from webrag_core.indexing.graph.names import parts
from webrag_core.retrieval.graph.models import GraphNode, KeyAnswer
from webrag_core.retrieval.request import check_text

_KINDS: tuple[NodeKind, ...] = ("page", "section", "symbol", "term", "entity")
_BEFORE_END = (":", ".", " ", "/")
_MOST_CANDIDATES = 20
_MOST_ROWS = 300
_LABELS = re.compile(r"[./:_-]")
_NODE = (
    "SELECT n.id, n.kind, n.key, CASE n.kind WHEN 'page' THEN coalesce(v.title, '') ELSE n.label END,"
    " n.kind = 'page' AND d.id IS NOT NULL OR n.kind = 'section' OR EXISTS (SELECT FROM graph_edges e"
    "  WHERE e.dst = n.id AND e.kind = 'defines' AND e.seen_until IS NULL)"
    " FROM graph_nodes n LEFT JOIN documents d ON n.kind = 'page' AND d.canonical_url = n.key"
    " LEFT JOIN document_versions v ON v.id = d.current_version"
)


@dataclass(frozen=True, slots=True)
class Row:
    """A node with its id, and whether something stored is or defines it."""

    id: int
    node: GraphNode
    defined: bool


@dataclass(frozen=True, slots=True)
class KeyMatch:
    """A key and the nodes that stand for it: its own and those of other spellings. None unless it was found."""

    answer: KeyAnswer
    ids: tuple[int, ...]


async def resolve_keys(connection: AsyncConnection, keys: Sequence[str]) -> list[KeyMatch]:
    """Find each key.

    A key is a URL (of a section with its fragment as in `contract.v_edge`), a term, `SOURCE:NAME`, `TYPE:NAME` of an
    entity (Person:Jane Doe), or a name or its end; SOURCE is the key of a source or a part of it (python for
    docs.python.org). `symbol:`, `term:`, `page:`, `section:` and `entity:` before it say what is meant. What is defined
    counts before what is only mentioned.
    """
    return [await _resolve(connection, key.strip()) for key in keys]


async def _resolve(connection: AsyncConnection, text: str) -> KeyMatch:
    check_text(text, "key")
    kind, key = _kind_of(text)
    if "://" in key:
        return await _resolve_url(connection, text, key, kind)
    rows = await _exact(connection, key, kind) or await _by_end(connection, key, kind)
    if kind in (None, "entity"):
        rows += [row for row in await _entities(connection, key) if row not in rows]
    defined = [row for row in rows if row.defined] or rows
    if not any(row.defined for row in defined):
        defined = await _shorter(connection, key, kind) or defined
    if not defined:
        return KeyMatch(KeyAnswer(asked=text, status="unknown_key"), ())
    if len(defined) > 1:
        nodes = [row.node for row in sorted(defined, key=lambda row: (len(row.node.key), row.node.key))]
        return KeyMatch(KeyAnswer(asked=text, status="ambiguous", candidates=nodes[:_MOST_CANDIDATES]), ())
    row = defined[0]
    others = await _other_spellings(connection, row) if row.node.kind == "symbol" else []
    return KeyMatch(KeyAnswer(asked=text, status="found", node=row.node), (row.id, *others))


def _kind_of(text: str) -> tuple[NodeKind | None, str]:
    for kind in _KINDS:
        if text.startswith(f"{kind}:"):
            return kind, text.removeprefix(f"{kind}:")
    return None, text


async def _entities(connection: AsyncConnection, name: str) -> list[Row]:
    """Entities of that name: many have an address for a key."""
    return await _nodes(connection, f"n.kind = 'entity' AND lower(n.label) = lower(%s) LIMIT {_MOST_ROWS}", name)


async def _resolve_url(connection: AsyncConnection, text: str, key: str, kind: NodeKind | None) -> KeyMatch:
    """A page under any of its addresses, or one of its sections, together with the thing of that identifier."""
    address, mark, fragment = key.partition("#")
    try:
        url = canonicalise(address)
    except FetchError:
        return KeyMatch(KeyAnswer(asked=text, status="unknown_key"), ())
    cursor = await connection.execute(
        "SELECT d.canonical_url, ARRAY(SELECT a.url FROM url_aliases a WHERE a.document_id = d.id) FROM documents d"
        " WHERE d.id = coalesce((SELECT a.document_id FROM url_aliases a WHERE a.url = %(url)s),"
        " (SELECT o.id FROM documents o WHERE o.canonical_url = %(url)s))",
        {"url": url},
    )
    canonical, aliases = await cursor.fetchone() or (url, [])
    if kind == "entity":
        rows = []
    elif mark:
        rows = await _nodes(connection, "n.key = %s AND n.kind = 'section'", f"{canonical}#{fragment}")
    else:
        rows = await _nodes(connection, "n.key = ANY(%s) AND n.kind = 'page'", [canonical, *aliases])
        rows.sort(key=lambda row: row.node.key != canonical)
    if kind in (None, "entity"):  # mark-up speaks of the thing that the page is
        rows += await _nodes(connection, "n.key = %s AND n.kind = 'entity'", f"{url}#{fragment}" if mark else url)
    if not rows:
        return KeyMatch(KeyAnswer(asked=text, status="unknown_key"), ())
    return KeyMatch(KeyAnswer(asked=text, status="found", node=rows[0].node), tuple(row.id for row in rows))


async def _exact(connection: AsyncConnection, key: str, kind: NodeKind | None) -> list[Row]:
    term = term_node(key) if kind in (None, "term") else None
    rows = await _nodes(connection, "n.key = ANY(%s)", [key] if term is None else [key, term.key])
    return [row for row in rows if kind in (None, row.node.kind) and (row.node.key == key or row.node.kind == "term")]


async def _by_end(connection: AsyncConnection, key: str, kind: NodeKind | None) -> list[Row]:
    """Nodes whose key ends so: whole names before ends of names, in the named source where there is one."""
    source, mark, name = key.partition(":")
    if not mark or name.startswith(":"):  # a::b is a name
        source, name = "", key
    if not name:
        return []
    rows = [row for before in _BEFORE_END for row in await ending_in(connection, before + name)]
    rows = [row for row in rows if kind in (None, row.node.kind) and row.node.kind != "term"]
    if source:
        rows = [row for row in rows if row.node.kind == "symbol" and _is_part(source, row.node)]
    whole = [row for row in rows if row.node.label == name]
    return whole if any(row.defined for row in whole) else rows


def _is_part(source: str, node: GraphNode) -> bool:
    place = node.key.removesuffix(f":{node.label}")
    return source == place or source.lower() in _LABELS.split(place.lower())


async def ending_in(connection: AsyncConnection, end: str) -> list[Row]:
    """Nodes whose key ends in `end`, at most 300."""
    pattern = re.sub(r"([\\%_])", r"\\\1", end[::-1]) + "%"
    return await _nodes(connection, f"reverse(n.key) LIKE %s LIMIT {_MOST_ROWS}", pattern)


async def _shorter(connection: AsyncConnection, key: str, kind: NodeKind | None) -> list[Row]:
    """What a page defines under the end of the name, its module left out: `loop.call_soon` for asyncio.loop.call_soon.

    At least two parts of it, and only where nothing else ends so.
    """
    source, mark, name = key.partition(":")
    if not mark or name.startswith(":"):
        source, name = "", key
    names = name.split(".")
    for start in range(1, len(names) - 1):
        short = ".".join(names[start:])
        alike = [row for before in (":", ".") for row in await ending_in(connection, before + short)]
        defined = [row for row in alike if row.defined and row.node.kind == "symbol" and kind in (None, "symbol")]
        defined = [row for row in defined if not source or _is_part(source, row.node)]
        if defined:
            return defined if [row.node.label for row in defined] == [short] else []
    return []


async def _other_spellings(connection: AsyncConnection, row: Row) -> list[int]:
    """Shorter and longer names that can only mean this symbol: `Queue.get` where its source defines no other Queue.get,
    `asyncio.loop.call_soon` where a page defines it as `loop.call_soon`."""
    names = parts(row.node.label)
    source = row.node.key.removesuffix(row.node.label)
    ids = []
    for length in range(2, len(names)):
        short = row.node.label[-len(".".join(names[-length:])) :]
        alike = [item for item in await ending_in(connection, f".{short}") if item.node.key.startswith(source)]
        nodes = await _nodes(connection, "n.key = %s AND n.kind = 'symbol'", source + short)
        if [candidate.id for candidate in alike if candidate.defined] == [row.id] and nodes and not nodes[0].defined:
            ids.append(nodes[0].id)
    if len(names) > 1 and row.defined:
        longer = [
            item for item in await ending_in(connection, f".{row.node.label}") if item.node.key.startswith(source)
        ]
        if not any(item.defined for item in longer):
            ids += [item.id for item in longer]
    return ids


async def _nodes(connection: AsyncConnection, condition: str, value: object) -> list[Row]:
    # never prepared: a generic plan could not use the index for LIKE
    cursor = await connection.execute(f"{_NODE} WHERE {condition}".encode(), (value,), prepare=False)
    return [
        Row(int(node), GraphNode(kind=kind, key=key, label=label), bool(defined))
        for node, kind, key, label, defined in await cursor.fetchall()
    ]
