"""Quotes of stored answers that a change of the watched text touches, and the answers that rest on them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from psycopg import AsyncConnection

from webrag_core.corpus.version_texts import version_texts
from webrag_core.history.citations import CitationState, citation_states
from webrag_core.history.page_text import letters_of
from webrag_core.origin import ANSWER
from webrag_core.store.database import Database
from webrag_core.text_work import beside_loop
from webrag_core.watches.models import QuoteChange, RestingAnswer

LOST = ("changed", "gone", "broken")
"""States of quotes that no longer stand."""


async def quotes_of_pages(
    database: Database, documents: Sequence[int], text: str, *, standing: bool
) -> tuple[list[QuoteChange], list[RestingAnswer]]:
    """The quotes of these pages that stand in `text`, a text of theirs, and no longer on the pages (with `standing`:
    that stand there), with the answers that rest on them: passages that an answer only lists below what it says do not
    count. Runs that gathered evidence for another answer are left out."""
    states = await citation_states(database, documents=documents)
    letters = await beside_loop(letters_of, text)
    touched = [
        state
        for state in states
        if (state.state not in LOST) is standing and touches(state) and letters_of(state.quote) in letters
    ]
    async with database.connection() as connection:
        resting = await _resting(connection, [touch.answer_id for touch in touched])
        shown = [touch for touch in touched if resting.get(touch.answer_id, _NOTHING).has(touch.number)]
        quotes = await side_by_side(connection, shown)
    answers = [
        RestingAnswer(answer_id=number, question=resting[number].question)
        for number in dict.fromkeys(item.answer_id for item in shown)
    ]
    return quotes, answers


async def side_by_side(connection: AsyncConnection, states: Sequence[CitationState]) -> list[QuoteChange]:
    """Quotes with what stands in their place now."""
    places = [(state.now_url, state.now_version) for state in states if state.now_start is not None]
    cursor = await connection.execute(
        "SELECT d.canonical_url, v.number, v.id FROM unnest(%s::text[], %s::integer[]) AS p (url, number)"
        " JOIN documents d ON d.canonical_url = p.url"
        " JOIN document_versions v ON v.document_id = d.id AND v.number = p.number",
        ([url for url, _ in places], [number for _, number in places]),
    )
    ids = {(str(url), int(number)): int(version) for url, number, version in await cursor.fetchall()}
    texts = await version_texts(connection, ids.values())
    changes = []
    for state in states:
        text = texts.get(ids.get((state.now_url or "", state.now_version or 0), 0))
        now = None if text is None or state.now_start is None else text[state.now_start : state.now_end]
        changes.append(
            QuoteChange(
                answer_id=state.answer_id,
                number=state.number,
                url=state.url,
                state=state.state,
                before=state.quote,
                after=now,
            )
        )
    return changes


def touches(state: CitationState) -> bool:
    """Whether the page is what changed: not the way in which it is read."""
    return state.cause != "extractor"


@dataclass(frozen=True, slots=True)
class _Basis:
    """A question, and the numbers of the quotes that its answer rests on; None: all."""

    question: str = ""
    numbers: frozenset[int] | None = frozenset()

    def has(self, number: int) -> bool:
        return self.numbers is None or number in self.numbers


_NOTHING = _Basis()


async def _resting(connection: AsyncConnection, answers: Sequence[int]) -> dict[int, _Basis]:
    """What answers rest on, by their numbers. An answer in prose rests on the quotes of its sentences, on what it
    lists as its answer, and on the passage that it shows as the likely answer; one of evidence on all of it."""
    cursor = await connection.execute(
        "SELECT r.id, r.query, CASE WHEN r.kind = 'prose' THEN array("
        " SELECT s.number FROM sentence_citations s WHERE s.answer_id = r.id"
        " UNION SELECT (l ->> 'citation')::int FROM jsonb_array_elements(r.prose -> 'listed') l"
        " UNION SELECT (h ->> 'citation')::int FROM jsonb_array_elements(r.prose -> 'highlights') h"
        "  WHERE (h ->> 'likely')::boolean) END"
        " FROM answer_runs r WHERE r.id = ANY(%s) AND r.origin IS DISTINCT FROM %s",
        (list(set(answers)), ANSWER),
    )
    return {
        int(number): _Basis(str(question), None if numbers is None else frozenset(numbers))
        for number, question, numbers in await cursor.fetchall()
    }
