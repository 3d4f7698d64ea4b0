"""Validate filter values; error messages list the valid ones."""

from __future__ import annotations

import re
from collections.abc import Sequence
from difflib import get_close_matches
from typing import get_args

from psycopg import AsyncConnection

from webrag_core.errors import InvalidInputError
from webrag_core.retrieval.request import DocumentType, ScopeFilter, check_text

TYPES: tuple[DocumentType, ...] = get_args(DocumentType)
FLAGS = ("admonition", "code", "definition_list", "image", "math", "steps", "table")
"""Flags that the parser gives chunks for content other than plain text."""

# pages by language, and by the declared one where the text shows another
_LANGUAGES = """
SELECT k.language, nullif(k.declared, ''), sum(z.documents) FROM source_sizes z JOIN page_kinds k ON k.id = z.kind
WHERE k.language <> '' AND (%(sources)s::text[] IS NULL OR z.source_id = ANY(ARRAY(
    SELECT s.id FROM sources s WHERE s.key = ANY(%(sources)s)))) GROUP BY 1, 2 HAVING sum(z.documents) > 0 ORDER BY 1, 2
"""

_TAG = re.compile(r"[A-Za-z]{2,3}(?:[-_][A-Za-z0-9]{1,8})*")
_LISTED = 12


def document_types(names: Sequence[str] | None) -> list[DocumentType] | None:
    """Document types by name; None for None. Raises InvalidInputError, listing the types, for an unknown name."""
    _check_known("document type", names, TYPES)
    return None if names is None else [kind for kind in TYPES if kind in names]


async def check_filters(connection: AsyncConnection, filters: ScopeFilter) -> list[str]:
    """A warning for each language that no page is in, and for pages that declare another one than their text is in.

    Raises InvalidInputError, listing the valid values, for an unknown source, type or flag and for a language that is
    not a BCP 47 tag.
    """
    _check_known("document type", filters.types, TYPES)
    _check_known("flag", filters.flags, FLAGS)
    if filters.sources:
        for key in filters.sources:
            check_text(key, "source")
        cursor = await connection.execute("SELECT key FROM sources ORDER BY key")
        _check_known("source", filters.sources, [row[0] for row in await cursor.fetchall()])
    return await _check_languages(connection, filters.languages, filters.sources) if filters.languages else []


async def _check_languages(
    connection: AsyncConnection, languages: Sequence[str], sources: Sequence[str] | None
) -> list[str]:
    parameters = {"sources": None if sources is None else list(sources)}
    cursor = await connection.execute(_LANGUAGES, parameters, prepare=False)
    pages: dict[tuple[str, str | None], int] = {(row[0], row[1]): int(row[2]) for row in await cursor.fetchall()}
    known = sorted({language for language, _ in pages})
    warnings = []
    for language in languages:
        tag = language.strip().lower().replace("_", "-")
        if not _TAG.fullmatch(tag):
            raise InvalidInputError(
                f"{language.strip()!r} is not a language tag such as en or pt-BR; pages are in {_list(known)}"
            )
        if not any(_is(name, tag) for name in known):
            warnings.append(f"no page is in {language.strip()!r}; pages are in {_list(known)}")
        other = [(text, declared, count) for (text, declared), count in pages.items() if declared is not None]
        left_out = sum(count for text, declared, count in other if _is(declared, tag) and not _is(text, tag))
        if left_out:
            warnings.append(
                f"pages that declare {language.strip()!r} but are in another language, left out: {left_out}"
            )
        number = sum(count for text, declared, count in other if _is(text, tag))
        if number:
            warnings.append(f"pages in {language.strip()!r} that declare another language, searched: {number}")
    return warnings


def _is(language: str, tag: str) -> bool:
    """Whether a language is the one of the tag, or a variety of it."""
    return f"{language}-".startswith(f"{tag}-")


def _check_known(kind: str, names: Sequence[str] | None, known: Sequence[str]) -> None:
    unknown = sorted(set(names or ()) - set(known))
    if unknown:
        raise InvalidInputError(f"no such {kind}: {', '.join(unknown)}; there are {_list(known, near=unknown[0])}")


def _list(names: Sequence[str], near: str = "") -> str:
    if len(names) <= _LISTED:
        return ", ".join(names) or "none"
    close = get_close_matches(near, names, _LISTED, 0.4) or names[:_LISTED]
    return f"{', '.join(close)} and {len(names) - len(close)} more"
