"""Table `version_markup`: what the page of a version states beside its text, as it was last seen."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache

from psycopg import AsyncConnection
from pydantic import TypeAdapter

from webrag_core.conversion.markup.models import NO_MARKUP, MarkupNode, PageMarkup
from webrag_core.corpus.forgotten_urls import ask_forgotten_of


@lru_cache(maxsize=1)
def _adapter() -> TypeAdapter[PageMarkup]:
    return TypeAdapter(PageMarkup)


async def store_markup(connection: AsyncConnection, version_id: int, markup: PageMarkup) -> None:
    """Keep the markup of a version in place of what is there. What names pages removed on request is left out."""
    urls = urls_of(markup)
    forgotten: set[str] = set()
    if urls:
        cursor = await ask_forgotten_of(connection, urls)
        forgotten = {str(row[0]) for row in await cursor.fetchall()}
    await _write(connection, version_id, without(markup, forgotten) if forgotten else markup)


def decode(content: dict[str, object] | None) -> PageMarkup:
    """The markup in a row; none for None."""
    return NO_MARKUP if content is None else _adapter().validate_python(content)


async def forget_in_markup(connection: AsyncConnection, urls: Sequence[str]) -> tuple[int, list[str]]:
    """Take everything that names these pages out of the markup of all versions.

    Returns (versions changed, the identifiers of things on these pages that were named).
    """
    cursor = await connection.execute(
        "SELECT version_id, content, cut FROM version_markup WHERE urls && %s::text[] AND urls <> '{}'"
        " ORDER BY version_id FOR UPDATE",
        (list(urls),),
    )
    identifiers: set[str] = set()
    rows = await cursor.fetchall()
    for version_id, content, cut in rows:
        markup = decode({**content, "cut": cut})
        identifiers |= {identifier for identifier in _identifiers(markup) if page_of(identifier) in urls}
        await _write(connection, int(version_id), without(markup, frozenset(urls)))
    return len(rows), sorted(identifiers)


def urls_of(markup: PageMarkup) -> list[str]:
    """The pages that markup names, sorted."""
    named = {page_of(identifier) for identifier in _identifiers(markup)} | {url for _, url in markup.relations}
    return sorted(url for url in named if "://" in url)


def without(markup: PageMarkup, urls: Collection[str]) -> PageMarkup:
    """The markup without what names these pages: relations, identifiers and properties; places of nodes stay."""

    def clean(node: MarkupNode) -> MarkupNode:
        properties = tuple(
            (name, value) for name, value in node.properties if isinstance(value, int) or page_of(value) not in urls
        )
        if node.identifier is not None and page_of(node.identifier) in urls:
            return MarkupNode(node.syntax, None, (), (), False)
        return replace(node, properties=properties)

    return replace(
        markup,
        nodes=tuple(map(clean, markup.nodes)),
        relations=tuple((relation, url) for relation, url in markup.relations if url not in urls),
    )


def page_of(identifier: str) -> str:
    """The address without its fragment."""
    return identifier.partition("#")[0]


def _identifiers(markup: PageMarkup) -> set[str]:
    """Addresses of things: identifiers of nodes, and texts that are addresses."""
    texts = {value for node in markup.nodes for _, value in node.properties if isinstance(value, str)}
    named = {node.identifier for node in markup.nodes if node.identifier is not None}
    return named | {text for text in texts if text.startswith(("https://", "http://"))}


async def _write(connection: AsyncConnection, version_id: int, markup: PageMarkup) -> None:
    if markup == NO_MARKUP:
        await connection.execute("DELETE FROM version_markup WHERE version_id = %s", (version_id,))
    else:
        await write_markup(connection, {version_id: markup})


async def write_markup(connection: AsyncConnection, markup: Mapping[int, PageMarkup]) -> None:
    """Keep the markup of each version that has any, in place of what is there."""
    rows = [
        {"version": version, "content": _content(of), "urls": urls_of(of), "cut": list(of.cut)}
        for version, of in markup.items()
        if of != NO_MARKUP
    ]
    if rows:
        await connection.execute(
            "INSERT INTO version_markup (version_id, content, urls, cut, digest)"
            " SELECT version, content::jsonb, urls, cut, hashtextextended(content, 0)"
            " FROM json_to_recordset(%s::json) AS m (version integer, content text, urls text[], cut text[])"
            " ON CONFLICT (version_id) DO UPDATE SET content = EXCLUDED.content, urls = EXCLUDED.urls,"
            " cut = EXCLUDED.cut, digest = EXCLUDED.digest"
            " WHERE (version_markup.digest, version_markup.cut) <> (EXCLUDED.digest, EXCLUDED.cut)",
            (json.dumps(rows, ensure_ascii=False),),
        )


def _content(markup: PageMarkup) -> str:
    return json.dumps(
        {
            "nodes": [_fields(node) for node in markup.nodes],
            "relations": markup.relations,
            "anchors": markup.anchors,
        },
        ensure_ascii=False,
    )


def _fields(node: MarkupNode) -> dict[str, object]:
    return {name: getattr(node, name) for name in node.__slots__}
