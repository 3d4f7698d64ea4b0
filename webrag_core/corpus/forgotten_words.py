"""Rows that stay when a page is forgotten lose what they say of it: words of answers, addresses, names.

`tables` says which function cleans which table. All are called inside the transaction that removes the page.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence

from psycopg import AsyncConnection, sql

GONE = "about a page that was removed on request"
REMOVED = "removed:"
"""Before the digest that stands in answers for the address of a forgotten page."""
_REST_OF_ADDRESS = r"""(#[^"\s\\,()]*)?(?![\w/&=%~+;@!$*-]|[?.,:)(']\w)"""
"""After an address: its fragment, and nothing that would make it another page's."""
_OTHER_WARNINGS = (
    "(SELECT coalesce(jsonb_agg(w ORDER BY n), '[]') FROM jsonb_array_elements({column}) WITH ORDINALITY x (w, n)"
    " WHERE w ->> 'about' IS DISTINCT FROM %(url)s"
    " AND strpos(coalesce(w ->> 'text', w #>> '{{}}'), %(url)s) = 0)"
)
"""The warnings of a column (`Caution.stored`) that are not about `url`. Texts are searched for it, too: an old warning
is a text alone, and any may quote an address that it is not about."""
# a name is all of it, its first words or its last ones; looked up, as a page can have a thousand names
_NAMES_ONE = sql.SQL(
    "EXISTS (SELECT FROM string_to_array({text}, ' ') w, generate_subscripts(w, 1) i"
    " WHERE array_to_string(w[i:], ' ') = ANY(%(names)s) OR array_to_string(w[:i], ' ') = ANY(%(names)s))"
)


async def drop_quotes(connection: AsyncConnection, document_id: int) -> None:
    """Remove what answers in prose say of the quotes of a document beside their sentences: labels, which may be cells
    of its tables, and facts in which its sentences differ from others. They say which quotes and sentences they lose.
    Call while the quotes are there."""
    await connection.execute(
        "WITH lost AS (SELECT c.answer_id, array_agg(c.number) AS numbers FROM citations c"
        "  JOIN document_versions v ON v.id = c.version_id WHERE v.document_id = %(document)s GROUP BY 1),"
        " spoken AS (SELECT l.answer_id, l.numbers, array(SELECT DISTINCT n.ordinal FROM sentence_citations n"
        "   WHERE n.answer_id = l.answer_id AND n.number = ANY(l.numbers) ORDER BY 1) AS sentences FROM lost l)"
        " UPDATE answer_runs a SET prose = a.prose || jsonb_build_object("
        "   'forgotten_sentences', coalesce(a.prose -> 'forgotten_sentences', '[]') || to_jsonb(s.sentences),"
        "   'forgotten_citations', coalesce(a.prose -> 'forgotten_citations', '[]') || to_jsonb(s.numbers))"
        "  || jsonb_build_object('listed', (SELECT coalesce(jsonb_agg(e ORDER BY n), '[]')"
        "   FROM jsonb_array_elements(coalesce(a.prose -> 'listed', '[]')) WITH ORDINALITY x (e, n)"
        "   WHERE (e ->> 'citation')::integer <> ALL(s.numbers)))"
        "  || jsonb_build_object('highlights', (SELECT coalesce(jsonb_agg(e ORDER BY n), '[]')"
        "   FROM jsonb_array_elements(coalesce(a.prose -> 'highlights', '[]')) WITH ORDINALITY x (e, n)"
        "   WHERE (e ->> 'citation')::integer <> ALL(s.numbers)))"
        "  || jsonb_build_object('disagreements', (SELECT coalesce(jsonb_agg(e ORDER BY n), '[]')"
        "   FROM jsonb_array_elements(coalesce(a.prose -> 'disagreements', '[]')) WITH ORDINALITY x (e, n)"
        "   WHERE NOT EXISTS (SELECT FROM jsonb_array_elements_text(e -> 'sentences') o"
        "    WHERE o::integer = ANY(s.sentences))))"
        " FROM spoken s WHERE a.id = s.answer_id AND a.prose IS NOT NULL",
        {"document": document_id},
    )


async def drop_passages(connection: AsyncConnection, document_id: int) -> int:
    """Remove a document's passages and findings from the recorded tasks of answers. Returns the tasks."""
    cursor = await connection.execute(
        "WITH versions AS (SELECT id FROM document_versions WHERE document_id = %(document)s)"
        " UPDATE route_tasks t SET output = jsonb_set(jsonb_set(t.output,"
        " '{evidence}', (SELECT coalesce(jsonb_agg(e ORDER BY n), '[]')"
        "  FROM jsonb_array_elements(t.output -> 'evidence')"
        "  WITH ORDINALITY x (e, n) WHERE (e -> 'chunk' ->> 'document_id')::integer <> %(document)s)),"
        " '{findings}', (SELECT coalesce(jsonb_agg(f ORDER BY n), '[]')"
        "  FROM jsonb_array_elements(t.output -> 'findings')"
        "  WITH ORDINALITY x (f, n) WHERE (f ->> 'version_id')::integer NOT IN (SELECT id FROM versions)))"
        " WHERE EXISTS (SELECT FROM jsonb_array_elements(t.output -> 'evidence') e"
        "  WHERE (e -> 'chunk' ->> 'document_id')::integer = %(document)s)"
        " OR EXISTS (SELECT FROM jsonb_array_elements(t.output -> 'findings') f"
        "  WHERE (f ->> 'version_id')::integer IN (SELECT id FROM versions))",
        {"document": document_id},
    )
    return cursor.rowcount


async def drop_names(connection: AsyncConnection, names: Sequence[str]) -> None:
    """Take titles of a page, and names of things that no other page speaks of, out of what stored answers say of the
    passages of other pages."""
    if not names:
        return
    for table, column, field, condition in (
        ("answer_runs", "prose", "listed", sql.SQL("t.prose IS NOT NULL")),
        ("route_tasks", "output", "findings", sql.SQL("t.agent = 'graph'")),
    ):
        statement = sql.SQL(
            "UPDATE {table} t SET {column} = jsonb_set(t.{column}, ARRAY[{field}], (SELECT jsonb_agg("
            "  e || CASE WHEN {group_is_named} THEN jsonb_build_object('group', %(gone)s::text) ELSE '{{}}' END"
            "  || CASE WHEN {label_is_named} THEN jsonb_build_object('label', %(gone)s::text) ELSE '{{}}' END"
            "  ORDER BY n) FROM jsonb_array_elements(t.{column} -> {field}) WITH ORDINALITY x (e, n)))"
            " WHERE {condition} AND EXISTS (SELECT FROM jsonb_array_elements(t.{column} -> {field}) e"
            "  WHERE {group_is_named} OR {label_is_named})"
        ).format(
            table=sql.Identifier(table),
            column=sql.Identifier(column),
            field=sql.Literal(field),
            group_is_named=_NAMES_ONE.format(text=sql.SQL("(e ->> 'group')")),
            label_is_named=_NAMES_ONE.format(text=sql.SQL("(e ->> 'label')")),
            condition=condition,
        )
        await connection.execute(statement, {"names": list(names), "gone": GONE})


async def redact_rounds(connection: AsyncConnection, urls: Sequence[str]) -> int:
    """Remove candidates and passages with these URLs from the rounds of answers. Returns the rounds."""
    cursor = await connection.execute(
        "UPDATE answer_rounds SET"
        " chunks = (SELECT coalesce(jsonb_agg(c ORDER BY n), '[]') FROM jsonb_array_elements(chunks)"
        "  WITH ORDINALITY e (c, n) WHERE NOT c ->> 'url' = ANY(%(urls)s)),"
        " candidates = (SELECT coalesce(jsonb_agg(c ORDER BY n), '[]') FROM jsonb_array_elements(candidates)"
        "  WITH ORDINALITY e (c, n) WHERE NOT c ->> 'url' = ANY(%(urls)s) AND NOT c ->> 'from_url' = ANY(%(urls)s))"
        " WHERE EXISTS (SELECT FROM jsonb_array_elements(chunks || candidates) c"
        "  WHERE c ->> 'url' = ANY(%(urls)s) OR c ->> 'from_url' = ANY(%(urls)s))",
        {"urls": list(urls)},
    )
    return cursor.rowcount


async def redact_runs(connection: AsyncConnection, url: str) -> None:
    """Remove a URL from stored answers, also where it stands in a question or a message."""
    await connection.execute(
        "UPDATE answer_runs SET query = regexp_replace(query, %(address)s, %(digest)s, 'g'),"
        " seed_url = regexp_replace(seed_url, %(address)s, %(digest)s, 'g'),"
        " reason = regexp_replace(reason, %(address)s, %(digest)s, 'g'),"
        " options = regexp_replace(options::text, %(address)s, %(digest)s, 'g')::jsonb,"
        " prose = regexp_replace(prose::text, %(address)s, %(digest)s, 'g')::jsonb,"
        " plan = regexp_replace(plan::text, %(address)s, %(digest)s, 'g')::jsonb,"
        " warnings = regexp_replace(warnings::text, %(address)s, %(digest)s, 'g')::jsonb"
        " WHERE strpos(concat(query, ' ', seed_url, ' ', reason, ' ', options, ' ', prose, ' ', plan, ' ', warnings),"
        "  %(url)s) > 0",
        _address(url),
    )


async def redact_tasks(connection: AsyncConnection, url: str) -> None:
    """Remove a URL from recorded tasks: as an address, and with every message that names it."""
    others = _OTHER_WARNINGS.format(column="output -> 'warnings'")
    await connection.execute(
        "UPDATE route_tasks SET params = regexp_replace(params::text, %(address)s, %(digest)s, 'g')::jsonb,"  # noqa: S608
        " error = CASE WHEN strpos(error::text, %(url)s) > 0"
        "  THEN jsonb_set(error, '{message}', to_jsonb(%(gone)s::text)) ELSE error END,"
        " output = regexp_replace(jsonb_set(jsonb_set(output,"
        "  '{note}', CASE WHEN strpos(output ->> 'note', %(url)s) > 0 THEN '\"\"' ELSE output -> 'note' END),"
        f"  '{{warnings}}', {others})::text, %(address)s, %(digest)s, 'g')::jsonb"
        " WHERE strpos(params::text || output::text || coalesce(error::text, ''), %(url)s) > 0",
        {**_address(url), "gone": GONE},
    )


async def redact_feedback(connection: AsyncConnection, url: str) -> None:
    """Remove a URL from what people said."""
    await connection.execute(
        "UPDATE feedback SET text = replace(text, %(url)s, %(digest)s) WHERE strpos(text, %(url)s) > 0", _address(url)
    )


async def redact_watches(connection: AsyncConnection, url: str) -> None:
    """Remove a URL from the questions that are watched."""
    await connection.execute(
        "UPDATE watches SET question = regexp_replace(question, %(address)s, %(digest)s, 'g')"
        " WHERE strpos(question, %(url)s) > 0",
        _address(url),
    )


async def redact_warnings(connection: AsyncConnection, url: str) -> None:
    """Remove the warnings of refreshes that name a URL."""
    await connection.execute(
        f"UPDATE refresh_runs SET warnings = {_OTHER_WARNINGS.format(column='warnings')}"  # noqa: S608
        " WHERE strpos(warnings::text, %(url)s) > 0",
        {"url": url},
    )


def _address(url: str) -> dict[str, str]:
    """Parameters: the URL, a regular expression of it as PostgreSQL has them, and what stands in its place."""
    digest = REMOVED + hashlib.sha256(url.encode()).hexdigest()
    return {"url": url, "address": re.escape(url) + _REST_OF_ADDRESS, "digest": digest}
