"""States of stored citations: whether their pages still contain the quoted text. The stored version always does."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from psycopg import AsyncConnection

State = Literal["valid", "moved", "changed", "gone", "broken"]


@dataclass(frozen=True, slots=True)
class CitationState:
    """One citation. `valid`: the current page has the quote at the same place; `moved`: it has it at `now_url`, from
    code point `now_start`; `changed`: it no longer has it; `gone`: the page no longer exists; `broken`: the stored
    version does not match the quote's hash, a violated invariant."""

    answer_id: int
    number: int
    url: str
    state: State
    now_url: str | None
    now_start: int | None
    quote: str


_STATES = """
SELECT c.answer_id, c.number, d.canonical_url,
       encode(sha256(convert_to(q.quote, 'UTF8')), 'hex') = c.quote_sha256,
       n.canonical_url, v.id = n.version_id OR q.quote = substring(n.markdown FROM c.char_start + 1 FOR q.length),
       strpos(n.markdown, q.quote), c.char_start, left(q.quote, 200)
FROM citations c
JOIN document_versions v ON v.id = c.version_id
JOIN documents d ON d.id = v.document_id
CROSS JOIN LATERAL (SELECT c.char_end - c.char_start AS length,
                    substring(v.markdown FROM c.char_start + 1 FOR c.char_end - c.char_start) AS quote) q
LEFT JOIN LATERAL (
    SELECT o.canonical_url, w.id AS version_id, w.markdown FROM documents o
    JOIN document_versions w ON w.id = o.current_version
    WHERE o.id = coalesce((SELECT a.document_id FROM url_aliases a WHERE a.url = d.canonical_url), d.id)
) n ON true
WHERE d.id = ANY(%s) ORDER BY c.answer_id DESC, c.number
"""


async def citation_states(connection: AsyncConnection, documents: Sequence[int]) -> list[CitationState]:
    """Return the state of every citation of these documents, those of the newest answers first."""
    cursor = await connection.execute(_STATES.encode(), (list(documents),))
    states = []
    for answer, number, url, intact, now_url, same_place, position, start, quote in await cursor.fetchall():
        state, now_start = _state(intact, url, now_url, same_place, position)
        states.append(
            CitationState(
                answer_id=answer,
                number=number,
                url=url,
                state=state,
                now_url=now_url if state in ("valid", "moved") else None,
                now_start=start if same_place and state in ("valid", "moved") else now_start,
                quote=quote,
            )
        )
    return states


def _state(
    intact: bool, url: str, now_url: str | None, same_place: bool | None, position: int | None
) -> tuple[State, int | None]:
    if not intact:
        return "broken", None
    if now_url is None or position is None:
        return "gone", None
    if same_place:
        return ("valid" if now_url == url else "moved"), None
    return ("moved", position - 1) if position else ("changed", None)
