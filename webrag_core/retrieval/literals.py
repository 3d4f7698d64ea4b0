"""Passages that hold the symbols of a query as they are written (`language.symbols`).

The postings know words alone, so the texts are read: those of the passages that hold the words of a token, or of a
small scope; in a large one, of a token without words, only the passages that the rest of the query finds.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

import numpy as np
from psycopg import AsyncConnection

from webrag_core.indexing.markdown import faithful_text
from webrag_core.indexing.passages import Passage, term_codes
from webrag_core.indexing.terms import terms
from webrag_core.language.symbols import count_symbol, symbol_tokens
from webrag_core.retrieval.bm25 import K1, LexicalHit, LexicalResult, attainable_score, count_terms, search_parents
from webrag_core.retrieval.resident_index import Postings
from webrag_core.retrieval.scope import Scope, ScopeSize

_READ_WHOLE = 10_000  # parents of a scope that is read whole for a token without words: some ten microseconds each
_READ = 500  # parents that hold the words of a token, or of the query, the best first, that are read
_WEIGHT = 3  # of a token, times its idf: neither vectors nor the tokens of the static model know it
_KEPT = 200  # parents that hold a token

_HOLDERS = """
SELECT c.id, c.body FROM chunks c JOIN documents d ON d.id = c.document_id AND d.current_version = c.version_id
WHERE c.level = 'parent' AND {inside} AND strpos(replace(c.body, '\\', ''), %(token)s) > 0
  AND (%(flags)s::text[] = '{}' OR c.flags && %(flags)s::text[])
ORDER BY d.canonical_url, c.ordinal LIMIT %(kept)s
"""


async def find_literals(
    connection: AsyncConnection, query: str, scope: Scope, size: ScopeSize, postings: Postings | None = None
) -> dict[str, dict[int, int]]:
    """For each token of symbols in the query that passages of the scope hold: how often the parents hold it, by id, at
    most `_KEPT`. `postings` are those of the snapshot, where they are in memory. Call inside a transaction."""
    results = {}
    for token in symbol_tokens(query):
        words = terms(token)
        inside, values = scope.lookup("c.document_id"), scope.parameters
        if words or size.parents > _READ_WHOLE:
            words = words or terms(query)
            counted = await count_terms(connection, words, scope, size.indexes, postings)
            hits = (await search_parents(connection, words, scope, limit=_READ, counted=counted)).hits
            inside, values = "c.id = ANY(%(ids)s::bigint[])", {"ids": [hit.parent_id for hit in hits]}
        cursor = await connection.execute(
            _HOLDERS.replace("{inside}", inside).encode(),
            {**values, "token": token, "kept": _KEPT, "flags": list(scope.flags)},
            prepare=False,
        )
        rows = await cursor.fetchall()
        counts = {int(parent): count_symbol(faithful_text(body), token) for parent, body in rows}
        if held := {parent: count for parent, count in counts.items() if count}:
            results[token] = held
    return results


def with_literals(lexical: LexicalResult, literals: Mapping[str, Mapping[int, int]], size: ScopeSize) -> LexicalResult:
    """The result with the tokens as further words of the query. Their part of the score is that of a passage of the
    mean length."""
    if not literals:
        return lexical
    number = size.indexes.parents
    words = lexical.words or tuple((term,) for term in lexical.idf)
    idf = dict(lexical.idf)
    scores = {hit.parent_id: hit.score for hit in lexical.hits}
    for token, counts in literals.items():
        idf[token] = _WEIGHT * math.log(1 + (number - len(counts) + 0.5) / (len(counts) + 0.5))
        words = (*words, (token,))
        for parent, count in counts.items():
            scores[parent] = scores.get(parent, 0.0) + idf[token] * count * (K1 + 1) / (count + K1)
    attainable = attainable_score(words, idf)
    hits = [LexicalHit(parent, score, min(1.0, score / attainable)) for parent, score in scores.items()]
    return replace(
        lexical,
        hits=sorted(hits, key=lambda hit: -hit.score),
        idf=idf,
        words=words,
        literals=tuple(literals),
    )


def with_tokens(passages: Sequence[Passage], texts: Sequence[str], tokens: Collection[str]) -> list[Passage]:
    """The passages with those of the tokens among their terms that their `texts` (Markdown) hold, as those of
    `find_literals` do: no mark but a backslash stands within them."""
    marked = []
    for passage, markdown in zip(passages, texts, strict=True):
        written = markdown.replace("\\", "")
        text = faithful_text(markdown) if any(token in written for token in tokens) else ""
        held = [token for token in tokens if count_symbol(text, token)]
        marked.append(replace(passage, terms=np.concatenate([passage.terms, term_codes(held)])) if held else passage)
    return marked
