"""A look at a watched question: it is put to the stored pages again, and the answers are compared.

What is compared is what the pages prove: sentences and listed passages, whether the question is answered, and whether
the quotes still stand. A choice of other sentences from text that did not change is no news, nor are scores: they may
differ from run to run.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Literal

from psycopg import AsyncConnection

from webrag_core.answering.manager import Manager
from webrag_core.answering.models import Answer, SentenceCitation
from webrag_core.answering.stored import load_answer
from webrag_core.corpus.forget import discard_answers
from webrag_core.errors import InvalidInputError
from webrag_core.history.citations import citation_states
from webrag_core.history.page_text import letters_of
from webrag_core.origin import asked_by
from webrag_core.routing.question import Question
from webrag_core.store.database import Database
from webrag_core.watches.differences import same_words
from webrag_core.watches.models import GivenAnswer, News, RestingAnswer
from webrag_core.watches.quotes import LOST, side_by_side, touches
from webrag_core.watches.store import Due
from webrag_core.watches.texts import Look

ORIGIN = "watch"
"""Who asks."""
_ANSWERED = ("high", "medium", "low")  # bands: a status is another one once its page is forgotten
_INCOMPLETE = "tasks of the new answer failed, so it is not compared"


@dataclass(frozen=True, slots=True)
class NotCompared:
    """The question could not be answered as before, for this reason: it is put again later."""

    reason: str


@dataclass(frozen=True, slots=True)
class _Statement:
    """What an answer says by one sentence, listed passage or likely passage, and the quotes that prove it."""

    text: str
    quotes: tuple[SentenceCitation, ...]


async def look_at_question(database: Database, manager: Manager, due: Due) -> Look | NotCompared:
    """Put the question again and compare. Only an answer that is compared with later ones stays stored.

    Raises what `Manager.answer` raises.
    """
    watch = due.watch
    assert watch.question is not None
    with asked_by(ORIGIN):
        new = await manager.answer(Question(watch.question, sources=tuple(watch.sources)))
    assert new.answer_id is not None
    old = await _answer(database, due.compared.answer_id)
    if old is not None and new.outcome != "complete" and old.outcome == "complete":
        await _discard(database, new)
        return NotCompared(_INCOMPLETE)
    compared = replace(due.compared, pages=due.pages_now)
    if old is None or old.answer_id is None:
        return Look(replace(compared, answer_id=new.answer_id))
    wanted = {quote.number for statement in _statements(old) for quote in statement.quotes}
    states = await citation_states(database, answers=[old.answer_id])
    lost = [state for state in states if state.number in wanted and state.state in LOST and touches(state)]
    async with database.connection() as connection:
        differs = await _differs(connection, old, new, {item.number for item in lost})
        quotes = await side_by_side(connection, lost)
    if not differs and not lost:
        await _discard(database, new)
        return Look(compared)
    event: Literal["answer", "quotes"] = "answer" if differs else "quotes"
    news = News(
        watch=watch,
        event=event,
        quotes=quotes,
        answers=[RestingAnswer(answer_id=old.answer_id, question=old.question)],
        before=_given(old),
        after=_given(new),
    )
    return Look(replace(compared, answer_id=new.answer_id), news)


async def discard(database: Database, look: Look, due: Due) -> None:
    """Remove the answer of a look that counts for nothing, as another one was faster or it was only a trial."""
    number = look.compared.answer_id
    if number is not None and number != due.compared.answer_id:
        answer = await _answer(database, number)
        if answer is not None:
            await _discard(database, answer)


def without_number(news: News) -> News:
    """The news of a look whose answer is not kept: nobody could find it by its number."""
    after = None if news.after is None else news.after.model_copy(update={"answer_id": None})
    return news.model_copy(update={"after": after})


async def _differs(connection: AsyncConnection, old: Answer, new: Answer, lost: set[int]) -> bool:
    """Whether the pages make the answer another one: it is answered or not, or a statement went with its text, or one
    came with a new text."""
    if (old.band in _ANSWERED or bool(old.listed)) is not (new.band in _ANSWERED or bool(new.listed)):
        return True
    before, after = list(_statements(old)), list(_statements(new))
    if any(quote.number in lost for statement in _without(before, after) for quote in statement.quotes):
        return True
    since = await _answered_at(connection, old)
    quotes = [quote for statement in _without(after, before) for quote in statement.quotes]
    return any([await _is_new(connection, quote, since) for quote in quotes])


def _without(statements: Sequence[_Statement], others: Sequence[_Statement]) -> list[_Statement]:
    """The statements that none of the others makes."""
    return [
        statement for statement in statements if not any(same_words(statement.text, other.text) for other in others)
    ]


async def _is_new(connection: AsyncConnection, quote: SentenceCitation, since: datetime) -> bool:
    """Whether the page did not say at `since` what is quoted."""
    cursor = await connection.execute(
        "SELECT v.markdown FROM document_versions v JOIN documents d ON d.id = v.document_id"
        " WHERE d.canonical_url = %s AND v.markdown IS NOT NULL AND EXISTS (SELECT FROM version_periods p"
        "  WHERE p.version_id = v.id AND p.seen_from <= %s AND coalesce(p.seen_until, 'infinity') > %s)",
        (quote.url, since, since),
    )
    letters = letters_of(quote.quote)
    return not any([letters in letters_of(str(row[0])) for row in await cursor.fetchall()])


async def _answered_at(connection: AsyncConnection, answer: Answer) -> datetime:
    cursor = await connection.execute("SELECT started_at FROM answer_runs WHERE id = %s", (answer.answer_id,))
    row = await cursor.fetchone()
    assert row is not None
    started_at = row[0]
    assert isinstance(started_at, datetime)
    return started_at


def _statements(answer: Answer) -> Iterator[_Statement]:
    for sentence in answer.sentences:
        yield _Statement(sentence.text, tuple(map(answer.citation, sentence.citations)))
    for row in answer.listed:
        quote = answer.citation(row.citation)
        yield _Statement(f"{row.group} {row.label} {quote.quote}", (quote,))
    for shown in answer.likely:
        yield _Statement(shown.text, (answer.citation(shown.citation),))


def _given(answer: Answer) -> GivenAnswer:
    assert answer.answer_id is not None
    sentences = [sentence.text for sentence in answer.sentences] or [
        statement.text for statement in _statements(answer)
    ]
    return GivenAnswer(answer_id=answer.answer_id, status=answer.status, sentences=sentences)


async def _answer(database: Database, answer_id: int | None) -> Answer | None:
    if answer_id is None:
        return None
    async with database.connection() as connection:
        try:
            return await load_answer(connection, answer_id)
        except InvalidInputError:  # removed on request: the new answer takes its place
            return None


async def _discard(database: Database, answer: Answer) -> None:
    numbers = [*answer.evidence_ids, *([] if answer.answer_id is None else [answer.answer_id])]
    async with database.transaction() as connection:
        await discard_answers(connection, numbers)
