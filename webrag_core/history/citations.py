"""The life of stored citations: whether what was quoted still stands, where, and what became of it.

Each citation is compared once with each new version of its page (table `citation_checks`). The version that was quoted
is kept, so the quote itself can always be proved.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from psycopg import AsyncConnection
from psycopg.rows import class_row
from pydantic import BaseModel

from webrag_core.corpus.quotes import Quote
from webrag_core.corpus.version_texts import version_texts
from webrag_core.foreign_values import LARGEST_NUMBER
from webrag_core.history.anchoring import How, Place, State, find_quote
from webrag_core.history.facts import Fact
from webrag_core.history.models import Cause
from webrag_core.history.page_text import PageText, letters_of
from webrag_core.indexing.lexical import FREQUENCIES
from webrag_core.indexing.markdown import plain_text
from webrag_core.indexing.terms import terms
from webrag_core.retrieval.bm25 import search_parents
from webrag_core.retrieval.scope import Scope
from webrag_core.store.database import Database

_RARE_TERMS = 10  # of a quote, by which other pages are searched
_PAGES = 5  # that are then read
_LEAST_WORDS = 5  # of a quote that is looked for on other pages: shorter ones stand on many
_TEXTS = 50  # that stay prepared
_LETTERS = 500  # texts whose letters stay in memory
_BATCH = 200  # quotes in memory, and checks of one transaction
_LOADED = 4_000_000  # characters of texts in memory for their quotes
_NO_PLACE = Place("changed", "lost", 0.0, standing=0)
_GONE = Place("gone", "lost", 0.0, standing=0)


class CitationState(BaseModel):
    """One citation and what became of it.

    `valid`: the page has the quote in the same section; `moved`: it stands elsewhere on the page, on another page
    (`how` = page), or with other markup; `changed`: only similar text is left (`reworded`, `kept` = share of its words)
    or none (`lost`); `gone`: the page no longer exists; `broken`: the stored version does not match the quote's hash, a
    violated invariant. Of its `sentences`, `standing` are unchanged. `now_*` say where it stands (for `reworded`, where
    the similar text does). `cause` says who changed the page: for `extractor` the page is the same, and was read by
    another version of the extractor.
    """

    answer_id: int
    number: int
    url: str
    quote: str
    state: State
    how: How = "same"
    kept: float = 1.0
    sentences: int = 1
    standing: int = 1
    facts_changed: list[Fact] = []
    context_changed: bool = False
    ambiguous: bool = False
    cause: Cause = "page"
    cited_version: int
    current_version: int | None
    now_url: str | None
    now_version: int | None = None
    now_start: int | None
    now_end: int | None


@dataclass(frozen=True, slots=True)
class _Row:
    """A citation with what its page is now, and the check against that, if there is one."""

    answer_id: int
    number: int
    document_id: int
    source_id: int
    url: str
    version_id: int
    version: int
    language: str | None
    char_start: int
    char_end: int
    characters: int
    """Of the text that was quoted."""
    quote_sha256: str
    current_document: int | None
    current_id: int | None
    current_version: int | None
    cause: Cause
    state: State | None
    how: How | None
    kept: float | None
    sentences: int | None
    standing: int | None
    facts_changed: list[Fact] | None
    context_changed: bool | None
    ambiguous: bool | None
    checked_cause: Cause | None
    now_url: str | None
    now_version: int | None
    now_start: int | None
    now_end: int | None
    quote: str = ""
    """Its text, which is cut out of that of the version (`_with_quotes`)."""

    @property
    def unchanged(self) -> bool:
        """Whether the page still has the very version that was quoted."""
        return self.current_id == self.version_id

    @property
    def cited(self) -> Quote:
        """What was quoted."""
        return Quote(self.version_id, self.char_start, self.char_end, self.quote_sha256)

    @property
    def intact(self) -> bool:
        return self.cited.reads(self.quote)

    @property
    def needs_check(self) -> bool:
        """Whether its page changed, and nobody has looked what became of it."""
        return self.state is None and not self.unchanged and self.intact


# A document whose URL became another's alias is compared with that one. A check that found the quote on another page
# counts while that page has the version in which it was found.
_CITATIONS = """
SELECT c.answer_id, c.number, d.id AS document_id, d.source_id, d.canonical_url AS url, v.id AS version_id,
       language_of(v.language, v.detected_language) AS language,
       v.number AS version, c.char_start, c.char_end,
       coalesce(v.characters, 0) AS characters, c.quote_sha256,
       n.document_id AS current_document, n.id AS current_id, n.number AS current_version,
       coalesce((SELECT CASE WHEN bool_and(w.cause = 'extractor') THEN 'extractor'
           WHEN bool_or(w.cause = 'page') THEN 'page' ELSE 'unsure' END
        FROM document_versions w WHERE w.document_id = n.document_id AND w.document_id = d.id
        AND w.fetched_at > v.fetched_at AND w.fetched_at <= n.fetched_at), 'page') AS cause,
       k.state, k.how, k.kept, k.sentences, k.standing, k.facts_changed, k.context_changed, k.ambiguous,
       k.cause AS checked_cause,
       o.canonical_url AS now_url, nv.number AS now_version, k.now_start, k.now_end
FROM citations c
JOIN document_versions v ON v.id = c.version_id
JOIN documents d ON d.id = v.document_id
LEFT JOIN LATERAL (
    SELECT t.id AS document_id, w.id, w.number, w.fetched_at FROM documents t
    JOIN document_versions w ON w.id = t.current_version
    WHERE t.id = coalesce((SELECT a.document_id FROM url_aliases a WHERE a.url = d.canonical_url), d.id)
) n ON true
LEFT JOIN citation_checks k ON k.answer_id = c.answer_id AND k.number = c.number
    AND k.against_version = coalesce(n.id, 0)
    AND (k.now_version IS NULL OR EXISTS (SELECT FROM documents e WHERE e.current_version = k.now_version))
LEFT JOIN document_versions nv ON nv.id = k.now_version
LEFT JOIN documents o ON o.id = nv.document_id
WHERE (%(documents)s::integer[] IS NULL OR d.id = ANY(%(documents)s::integer[]))
AND (%(answers)s::bigint[] IS NULL OR c.answer_id = ANY(%(answers)s::bigint[]))
"""
# a part of them, from a place on
_LISTED = f"""{_CITATIONS}
AND c.answer_id <= %(answer)s AND (c.answer_id < %(answer)s OR c.number > %(number)s)
ORDER BY c.answer_id DESC, c.number LIMIT %(limit)s
"""
# those of one text after each other: it is then prepared once
_UNCHECKED = f"""{_CITATIONS}
AND k.state IS NULL AND n.id IS DISTINCT FROM c.version_id
AND (c.version_id, c.answer_id, c.number) > (%(version)s, %(answer)s, %(number)s)
ORDER BY c.version_id, c.answer_id, c.number LIMIT %(limit)s
"""


async def citation_states(
    database: Database, *, documents: Sequence[int] | None = None, answers: Sequence[int] | None = None
) -> list[CitationState]:
    """States of the citations of these documents or answers (None = all), those of the newest answers first.

    Citations whose pages changed since they were last checked are checked, and the result is stored.
    """
    return [state async for state in each_citation_state(database, documents=documents, answers=answers)]


async def each_citation_state(
    database: Database, *, documents: Sequence[int] | None = None, answers: Sequence[int] | None = None
) -> AsyncIterator[CitationState]:
    """As `citation_states`, one after the other: of all quotes only a part is in memory. No connection is held while
    the caller is at work."""
    scope: dict[str, object] = {
        "documents": None if documents is None else list(documents),
        "answers": None if answers is None else list(answers),
    }
    texts = _Texts()
    if answers is None:
        await _check_all(database, texts, scope)
    place = {"answer": LARGEST_NUMBER, "number": 0}
    while True:
        rows = await _load(database, _LISTED, {**scope, **place})
        last = rows[-1] if len(rows) == _BATCH else None
        unchecked = [row for row in rows if row.needs_check]
        if unchecked:
            await _check(database, texts, sorted(unchecked, key=lambda row: (row.version_id, row.current_id or 0)))
            rows = await _load(database, _LISTED, {**scope, **place})
        for row in rows:
            if last is None or (-row.answer_id, row.number) <= (-last.answer_id, last.number):
                yield _state(row)
        if last is None:
            return
        place = {"answer": last.answer_id, "number": last.number}


async def _check_all(database: Database, texts: _Texts, scope: Mapping[str, object]) -> None:
    """Check what needs it."""
    place = {"version": 0, "answer": 0, "number": 0}
    while True:
        rows = await _load(database, _UNCHECKED, {**scope, **place})
        if rows:
            await _check(database, texts, [row for row in rows if row.needs_check])
            place = {"version": rows[-1].version_id, "answer": rows[-1].answer_id, "number": rows[-1].number}
        if len(rows) < _BATCH:
            return


async def _load(database: Database, statement: str, values: Mapping[str, object]) -> list[_Row]:
    async with database.connection() as connection, connection.cursor(row_factory=class_row(_Row)) as cursor:
        await cursor.execute(statement.encode(), {**values, "limit": _BATCH}, prepare=False)
        return await _with_quotes(connection, await cursor.fetchall())


async def _with_quotes(connection: AsyncConnection, rows: Sequence[_Row]) -> list[_Row]:
    """The rows with their quotes. Each text is unpacked once, however many quotes it has: the database would do it anew
    for each."""
    sizes = {row.version_id: row.characters for row in rows}
    quotes: dict[tuple[int, int, int], str] = {}
    for versions in _loads(sizes):
        texts = await version_texts(connection, versions)
        for row in rows:
            if (text := texts.get(row.version_id)) is not None:
                quotes[row.version_id, row.char_start, row.char_end] = text[row.char_start : row.char_end]
    return [replace(row, quote=quotes.get((row.version_id, row.char_start, row.char_end), "")) for row in rows]


def _loads(sizes: Mapping[int, int]) -> Iterator[list[int]]:
    """Versions whose texts are in memory together."""
    versions: list[int] = []
    held = 0
    for version, size in sizes.items():
        if versions and held + size > _LOADED:
            yield versions
            versions, held = [], 0
        versions.append(version)
        held += size
    if versions:
        yield versions


def _state(row: _Row) -> CitationState:
    known = CitationState(
        answer_id=row.answer_id,
        number=row.number,
        url=row.url,
        quote=row.quote,
        state="valid",
        cited_version=row.version,
        current_version=row.current_version,
        now_url=row.url,
        now_version=row.version,
        now_start=row.char_start,
        now_end=row.char_end,
    )
    nowhere = {"now_url": None, "now_version": None, "now_start": None, "now_end": None}
    if not row.intact:
        return known.model_copy(update={"state": "broken", "kept": 0.0, **nowhere})
    if row.unchanged:
        return known
    if row.state is None:  # its answer or page was removed meanwhile
        return known.model_copy(update={"state": "gone", "how": "lost", "kept": 0.0, **nowhere})
    return known.model_copy(
        update={
            "state": row.state,
            "how": row.how,
            "kept": row.kept,
            "sentences": row.sentences,
            "standing": row.standing,
            "facts_changed": row.facts_changed,
            "context_changed": row.context_changed,
            "ambiguous": row.ambiguous,
            "cause": row.checked_cause,
            "now_url": row.now_url,
            "now_version": row.now_version,
            "now_start": row.now_start,
            "now_end": row.now_end,
        }
    )


async def _check(database: Database, texts: _Texts, rows: Sequence[_Row]) -> None:
    """Find where these quotes stand now and store it."""
    async with database.snapshot() as connection:
        pages = _Pages(connection, texts)
        places = [(row, *await _place(pages, row)) for row in rows]
    async with database.transaction() as connection, connection.cursor() as cursor:
        await cursor.executemany(
            "INSERT INTO citation_checks AS k (answer_id, number, against_version, state, how, kept, sentences,"
            " standing, facts_changed, context_changed, ambiguous, cause, now_version, now_start, now_end)"
            " SELECT %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s"
            " WHERE EXISTS (SELECT FROM citations c WHERE (c.answer_id, c.number) = (%s, %s))"
            " ON CONFLICT (answer_id, number, against_version) DO UPDATE SET state = EXCLUDED.state,"
            " how = EXCLUDED.how, kept = EXCLUDED.kept, sentences = EXCLUDED.sentences,"
            " standing = EXCLUDED.standing, facts_changed = EXCLUDED.facts_changed,"
            " context_changed = EXCLUDED.context_changed, ambiguous = EXCLUDED.ambiguous, cause = EXCLUDED.cause,"
            " now_version = EXCLUDED.now_version, now_start = EXCLUDED.now_start, now_end = EXCLUDED.now_end,"
            " checked_at = now()",
            [
                (
                    row.answer_id,
                    row.number,
                    row.current_id or 0,
                    place.state,
                    place.how,
                    place.kept,
                    place.sentences,
                    place.standing,
                    list(place.facts_changed),
                    place.context_changed,
                    place.ambiguous,
                    row.cause,
                    version,
                    place.start,
                    place.end,
                    row.answer_id,
                    row.number,
                )
                for row, place, version in places
            ],
        )


async def _place(pages: _Pages, row: _Row) -> tuple[Place, int | None]:
    """Where the quote stands now, and the id of the version it stands in."""
    old = await pages.text(row.version_id)
    place = _GONE
    if row.current_id is not None:
        new = await pages.text(row.current_id)
        here = await asyncio.to_thread(find_quote, old, row.char_start, row.char_end, new)
        place = here or _NO_PLACE
        if place.how != "lost":
            if place.state != "changed" and row.current_document != row.document_id:
                place = replace(place, state="moved", how="page")  # the page has another address, and the quote with it
            return place, row.current_id
    return await _on_another_page(pages, row, old) or (place, None)


async def _on_another_page(pages: _Pages, row: _Row, old: PageText) -> tuple[Place, int] | None:
    """The only page of the source, among those that share the quote's rarest words, that has all of its text."""
    words = terms(plain_text(row.quote), row.language)
    if len(words) < _LEAST_WORDS:
        return None
    connection, scope = pages.connection, Scope(None, {}, source_ids=(row.source_id,))
    hits = (await search_parents(connection, await _rarest(connection, words), scope, limit=4 * _PAGES)).hits
    cursor = await connection.execute(
        "SELECT d.current_version FROM unnest(%s::bigint[]) WITH ORDINALITY AS h (id, place)"
        " JOIN chunks c ON c.id = h.id JOIN documents d ON d.id = c.document_id"
        " WHERE d.current_version IS DISTINCT FROM %s GROUP BY d.id ORDER BY min(h.place) LIMIT %s",
        ([hit.parent_id for hit in hits], row.current_id, _PAGES),
    )
    places: list[tuple[Place, int]] = []
    wanted = letters_of(row.quote)
    for (version_id,) in await cursor.fetchall():
        if wanted not in await pages.letters(version_id):
            continue  # a page must be prepared only where the quote can stand
        new = await pages.text(version_id)
        place = await asyncio.to_thread(find_quote, old, row.char_start, row.char_end, new, similar=False)
        if place is not None:
            places.append((place, version_id))
    if len(places) != 1:
        return None  # of several nobody can tell which one it moved to
    place, version_id = places[0]
    return replace(place, state="moved", how="page", context_changed=True), version_id


async def _rarest(connection: AsyncConnection, words: Sequence[str]) -> list[str]:
    """The rarest terms of a quote, by the parents that hold them."""
    distinct = list(dict.fromkeys(words))
    if len(distinct) <= _RARE_TERMS:
        return distinct
    cursor = await connection.execute(
        "SELECT t.term, (SELECT count(*) FROM lexical_postings p WHERE p.terms && ARRAY(SELECT t.id * %(size)s + e"
        "  FROM generate_series(0, %(size)s - 1) e)) FROM lexical_terms t WHERE t.term = ANY(%(terms)s)",
        {"size": FREQUENCIES, "terms": distinct},
    )
    counts = {str(term): int(parents) for term, parents in await cursor.fetchall()}
    return sorted((term for term in distinct if counts.get(term)), key=lambda term: (counts[term], term))[:_RARE_TERMS]


class _Texts:
    """Texts of versions, which never change: the last ones stay, prepared for many quotes."""

    def __init__(self) -> None:
        self.pages: dict[int, PageText] = {}
        self.letters: dict[int, str] = {}


class _Pages:
    """What one snapshot of the corpus has."""

    def __init__(self, connection: AsyncConnection, texts: _Texts) -> None:
        self.connection = connection
        self._texts = texts

    async def text(self, version_id: int) -> PageText:
        """The text of a version."""
        texts = self._texts.pages
        page = texts.pop(version_id, None)
        if page is None:
            page = await asyncio.to_thread(PageText, await self._markdown(version_id))
        texts[version_id] = page  # the last one of all
        while len(texts) > _TEXTS:
            del texts[next(iter(texts))]
        return page

    async def letters(self, version_id: int) -> str:
        """Letters and digits of a version's text, without its markup."""
        texts = self._texts.letters
        if version_id not in texts:
            texts[version_id] = await asyncio.to_thread(letters_of, await self._markdown(version_id))
            while len(texts) > _LETTERS:
                del texts[next(iter(texts))]
        return texts[version_id]

    async def _markdown(self, version_id: int) -> str:
        cursor = await self.connection.execute("SELECT markdown FROM document_versions WHERE id = %s", (version_id,))
        return (await cursor.fetchone() or ("",))[0] or ""
