"""Tables of answers in prose: written in one transaction, read back as they were."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from psycopg import AsyncConnection
from psycopg.rows import class_row, dict_row
from psycopg.types.json import Jsonb

from webrag_core.answering.models import COMPUTED, Answer, AnswerSentence, SentenceCitation
from webrag_core.answering.surroundings import REACH, surroundings
from webrag_core.corpus.forgotten_words import REMOVED
from webrag_core.errors import InvalidInputError
from webrag_core.orchestration.answers import CitedQuote, end_abandoned, insert_citations
from webrag_core.origin import current_origin
from webrag_core.trace import current_trace_id

_NOT_IN_PROSE = {"answer_id", "sentences", "citations", "warnings", *COMPUTED}
_UNANSWERED = ("not_found", "insufficient")
_QUOTES = """
WITH c AS (
    SELECT number, version_id, char_start, char_end, quote_sha256, heading FROM citations WHERE answer_id = %(answer)s
    UNION ALL
    SELECT * FROM unnest(%(number)s::int[], %(version)s::int[], %(start)s::int[], %(end)s::int[], %(sha256)s::text[],
                         %(heading)s::text[])
)
SELECT c.number, d.canonical_url AS url, v.title, c.heading, v.number AS version, v.sha256 AS version_sha256,
       c.char_start, c.char_end, substring(v.markdown FROM c.char_start + 1 FOR c.char_end - c.char_start) AS quote,
       c.quote_sha256 AS sha256,
       substring(v.markdown FROM greatest(1, c.char_start + 1 - %(reach)s) FOR least(%(reach)s, c.char_start))
           AS before,
       substring(v.markdown FROM c.char_end + 1 FOR %(reach)s) AS after,
       coalesce((SELECT max(p.seen_last) FROM version_periods p WHERE p.version_id = v.id), v.fetched_at) AS seen_at,
       (SELECT min(p.seen_from) FROM version_periods p WHERE p.version_id = v.id) AS first_seen,
       v.archive_url, v.id IS NOT DISTINCT FROM d.current_version AS current, file_page.page
FROM c JOIN document_versions v ON v.id = c.version_id JOIN documents d ON d.id = v.document_id
LEFT JOIN LATERAL (
    SELECT max(substr(a ->> 0, 6)::int) AS page
    FROM version_markup m CROSS JOIN jsonb_array_elements(m.content -> 'anchors') AS a
    WHERE m.version_id = v.id AND a ->> 0 ~ '^page=[0-9]{1,5}$' AND (a ->> 1)::int <= c.char_start
) file_page ON true
ORDER BY c.number
"""


async def start_answer(
    connection: AsyncConnection,
    answer_id: int,
    *,
    question: str,
    seed_url: str | None,
    options: Mapping[str, object],
    follows: int | None = None,
) -> None:
    """Register an answer in prose whose claim is held (`orchestration.answers.claim_of`). One that `follows` another is
    of its conversation, which bears the number of the first; where that was removed meanwhile, it follows none."""
    await end_abandoned(connection)
    await connection.execute(
        "INSERT INTO answer_runs (id, kind, seed_url, query, options, trace_id, origin, follows, conversation)"
        " OVERRIDING SYSTEM VALUE"
        " SELECT %s, 'prose', %s, %s, %s, %s, %s, max(e.id), max(coalesce(e.conversation, e.id))"
        " FROM answer_runs e WHERE e.id = %s",
        (answer_id, seed_url, question, Jsonb(dict(options)), current_trace_id(), current_origin(), follows),
    )


async def store_citations(
    connection: AsyncConnection, answer_id: int, quotes: Mapping[int, CitedQuote]
) -> list[SentenceCitation]:
    """Store quotes by their numbers. Returns them as stored."""
    await insert_citations(connection, answer_id, quotes)
    return await load_citations(connection, answer_id)


async def finish_answer(connection: AsyncConnection, answer: Answer) -> None:
    """Store the sentences and the rest of an answer whose citations are stored. Call in the same transaction."""
    async with connection.cursor() as cursor:
        await cursor.executemany(
            "INSERT INTO answer_sentences (answer_id, ordinal, text, proof, part, support)"
            " VALUES (%s, %s, %s, %s, %s, %s)",
            [(answer.answer_id, s.ordinal, s.text, s.proof, s.part, s.support) for s in answer.sentences],
        )
        await cursor.executemany(
            "INSERT INTO sentence_citations (answer_id, ordinal, number) VALUES (%s, %s, %s)",
            [(answer.answer_id, s.ordinal, number) for s in answer.sentences for number in s.citations],
        )
    await connection.execute(
        "UPDATE answer_runs SET state = 'done', reason = NULL, probability = %s, warnings = %s, prose = %s,"
        " ended_at = now() WHERE id = %s",
        (
            answer.confidence,
            Jsonb([warning.stored for warning in answer.warnings]),
            Jsonb(answer.model_dump(mode="json", exclude=_NOT_IN_PROSE)),
            answer.answer_id,
        ),
    )


async def load_citations(connection: AsyncConnection, answer_id: int) -> list[SentenceCitation]:
    """The quotes of an answer, in their order."""
    return await _quotes(connection, answer_id, {})


async def describe_quotes(connection: AsyncConnection, quotes: Mapping[int, CitedQuote]) -> list[SentenceCitation]:
    """Quotes by number as they will be once they are stored."""
    return await _quotes(connection, None, quotes)


async def _quotes(
    connection: AsyncConnection, answer_id: int | None, quotes: Mapping[int, CitedQuote]
) -> list[SentenceCitation]:
    columns = {
        "number": list(quotes),
        "version": [citation.quote.version_id for citation in quotes.values()],
        "start": [citation.quote.start for citation in quotes.values()],
        "end": [citation.quote.end for citation in quotes.values()],
        "sha256": [citation.quote.sha256 for citation in quotes.values()],
        "heading": [citation.heading for citation in quotes.values()],
    }
    async with connection.cursor(row_factory=dict_row) as cursor:
        await cursor.execute(_QUOTES, {"answer": answer_id, "reach": REACH, **columns})
        rows = await cursor.fetchall()
    for row in rows:
        row["before"], row["after"] = surroundings(row["before"], row["quote"], row["after"])
    return [SentenceCitation.model_validate(row) for row in rows]


async def load_answer(connection: AsyncConnection, answer_id: int) -> Answer:
    """A finished answer in prose. Sentences and quotes of pages that were forgotten since are gone, and named by their
    numbers; the status is `forgotten` where nothing is left of what answered.

    Raises InvalidInputError when there is none of that number.
    """
    cursor = await connection.execute("SELECT prose, warnings, follows FROM answer_runs WHERE id = %s", (answer_id,))
    row = await cursor.fetchone()
    if row is None or row[0] is None:
        raise InvalidInputError(
            f"there is no answer in prose with the number {answer_id}; `webrag answers list` names those that there are"
        )
    prose, warnings, follows = row
    prose["follows"] = follows  # None once that answer was removed
    async with connection.cursor(row_factory=class_row(AnswerSentence)) as sentences:
        await sentences.execute(
            "SELECT s.ordinal, s.text, s.proof, s.part, s.support, v.citations FROM answer_sentences s"
            " JOIN contract.v_sentence v USING (answer_id, ordinal) WHERE s.answer_id = %s ORDER BY s.ordinal",
            (answer_id,),
        )
        rows = await sentences.fetchall()
    citations = await load_citations(connection, answer_id)
    numbers = {citation.number for citation in citations}
    # a page may be forgotten between the two queries: what lost a quote is not shown with the others
    kept = [row for row in rows if numbers.issuperset(row.citations)]
    ordinals = {row.ordinal for row in kept}
    for name in ("highlights", "listed"):
        prose[name] = [item for item in prose.get(name, []) if item["citation"] in numbers]
    answers = [*kept, *prose["listed"], *(item for item in prose["highlights"] if item.get("likely"))]
    if not answers and prose["status"] not in _UNANSWERED:
        prose["status"] = "forgotten"
    prose["disagreements"] = [
        disagreement for disagreement in prose["disagreements"] if ordinals.issuperset(disagreement["sentences"])
    ]
    prose["look_next"] = [url for url in prose["look_next"] if not url.startswith(REMOVED)]
    lost = [row.ordinal for row in rows if row.ordinal not in ordinals]
    prose["forgotten_sentences"] = _forgotten(ordinals, [*prose.get("forgotten_sentences", []), *lost])
    prose["forgotten_citations"] = _forgotten(numbers, prose.get("forgotten_citations", []))
    return Answer(**prose, answer_id=answer_id, sentences=kept, citations=citations, warnings=warnings)


def _forgotten(present: set[int], noted: Iterable[int]) -> list[int]:
    """The numbers that are gone: those that were noted, and the gaps that pages left before any were noted."""
    return sorted({*range(1, max(present, default=0)), *noted} - present)
