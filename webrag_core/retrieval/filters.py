"""Names in a filter that nothing bears: said at once, with those that exist."""

from __future__ import annotations

import re
from collections.abc import Sequence
from difflib import get_close_matches
from typing import get_args

from psycopg import AsyncConnection

from webrag_core.errors import InvalidInputError
from webrag_core.retrieval.query_text import check_text
from webrag_core.retrieval.scope import DocumentType, ScopeFilter

TYPES: tuple[DocumentType, ...] = get_args(DocumentType)
FLAGS = ("admonition", "code", "definition_list", "image", "math", "steps", "table")
"""What a chunk may hold besides plain text, as the parser flags it."""

_TAG = re.compile(r"[A-Za-z]{2,3}(?:[-_][A-Za-z0-9]{1,8})*")
_LISTED = 12


def document_types(names: Sequence[str] | None) -> list[DocumentType] | None:
    """The types of these names, None for None. Raises InvalidInputError, listing what there is."""
    _known("document type", names, TYPES)
    return None if names is None else [kind for kind in TYPES if kind in names]


async def check_filters(connection: AsyncConnection, filters: ScopeFilter) -> list[str]:
    """A warning for each language that no page is in.

    Raises InvalidInputError, listing what there is, for an unknown source, type or flag and for a language that is no
    BCP 47 tag.
    """
    _known("document type", filters.types, TYPES)
    _known("flag", filters.flags, FLAGS)
    if filters.sources:
        for key in filters.sources:
            check_text(key, "source")
        cursor = await connection.execute("SELECT key FROM sources ORDER BY key")
        _known("source", filters.sources, [row[0] for row in await cursor.fetchall()])
    return await _check_languages(connection, filters.languages) if filters.languages else []


async def _check_languages(connection: AsyncConnection, wanted: Sequence[str]) -> list[str]:
    cursor = await connection.execute(
        "SELECT DISTINCT lower(replace(v.language, '_', '-')) FROM documents d"
        " JOIN document_versions v ON v.id = d.current_version WHERE v.language IS NOT NULL ORDER BY 1"
    )
    there = [row[0] for row in await cursor.fetchall()]
    warnings = []
    for language in wanted:
        tag = language.strip().lower().replace("_", "-")
        if not _TAG.fullmatch(tag):
            raise InvalidInputError(
                f"{language.strip()!r} is no language tag such as en or pt-BR; pages are in {_list(there)}"
            )
        if not any(f"{one}-".startswith(f"{tag}-") for one in there):
            warnings.append(f"no page says that it is in {language.strip()!r}; pages are in {_list(there)}")
    return warnings


def _known(what: str, wanted: Sequence[str] | None, there: Sequence[str]) -> None:
    unknown = sorted(set(wanted or ()) - set(there))
    if unknown:
        raise InvalidInputError(f"no such {what}: {', '.join(unknown)}; there are {_list(there, near=unknown[0])}")


def _list(names: Sequence[str], near: str = "") -> str:
    if len(names) <= _LISTED:
        return ", ".join(names) or "none"
    close = get_close_matches(near, names, _LISTED, 0.4) or names[:_LISTED]
    return f"{', '.join(close)} and {len(names) - len(close)} more"
