"""The walk of a stored answer: what it keeps of its pages, and which links led to them."""

from __future__ import annotations

from psycopg import AsyncConnection

from webrag_core.answering.models import Answer
from webrag_core.corpus.forgotten_words import REMOVED
from webrag_core.orchestration.walk import Walk, make_walk

# rounds keep some of the links that were ranked: those of one answer are a few hundred
_ORIGINS = """
SELECT DISTINCT ON (c ->> 'url') c ->> 'url', c ->> 'from_url'
FROM answer_rounds r CROSS JOIN jsonb_array_elements(r.candidates) c
WHERE r.answer_id = ANY(%s) AND c ->> 'url' = ANY(%s) ORDER BY c ->> 'url', r.answer_id, r.round
"""
_PAGES = """
SELECT p.url, v.title, coalesce(d.status = 'failed' AND d.current_version IS NULL, true)
FROM unnest(%s::text[]) p (url) LEFT JOIN url_aliases a USING (url)
LEFT JOIN documents d ON d.id = coalesce(a.document_id, (SELECT o.id FROM documents o WHERE o.canonical_url = p.url))
LEFT JOIN document_versions v ON v.id = d.current_version
"""


async def load_walk(connection: AsyncConnection, answer: Answer) -> Walk:
    """The walk of a finished answer, without pages that were removed since. Which links led to its pages is known as
    long as its rounds are kept; that a page has no text is as it is today."""
    rounds: dict[str, int] = {}
    for step in answer.walk:
        for url in step.pages:
            if not url.startswith(REMOVED):
                rounds.setdefault(url, step.round)
    quotes: dict[str, list[int]] = {}
    for citation in answer.citations:
        quotes.setdefault(citation.url, []).append(citation.number)
    urls = [*rounds, *quotes, *answer.look_next]
    cursor = await connection.execute(_ORIGINS, (answer.evidence_ids, urls))
    origins = {str(url): str(origin) for url, origin in await cursor.fetchall()}
    cursor = await connection.execute(_PAGES, (list(dict.fromkeys(urls)),))
    pages = await cursor.fetchall()
    return make_walk(
        answer.question,
        rounds=rounds,
        failed=[str(url) for url, _, lost in pages if lost and url in rounds],
        origins=origins,
        titles={str(url): title for url, title, _ in pages},
        quotes=quotes,
        look_next=answer.look_next,
    )
