"""Questions that follow an answer: completed, asked where that was asked, stored and opened again as a conversation."""

from __future__ import annotations

import asyncio

import pytest

from tests.local_site import SITE, LocalSite, page
from webrag_core.answering.manager import Manager, Question
from webrag_core.answering.replay import recompose
from webrag_core.answering.stored import load_answer
from webrag_core.application.operations import Ask
from webrag_core.application.services import Services
from webrag_core.config import Settings
from webrag_core.corpus.forget import forget
from webrag_core.errors import NotStoredError
from webrag_core.history.conversations import list_conversations, open_conversation
from webrag_core.indexing.pipeline import Corpus
from webrag_core.showing.markdown import render_markdown

PERMIT = f"{SITE}/permit"
TEXT = """<h1>Harbour permit</h1>
<p>A harbour permit lets a boat stay in the harbour of Skarvik.</p>
<h2>Price</h2><p>A harbour permit costs 40 euros a year.</p>
<h2>Cancelling</h2><p>You cancel a harbour permit by letter to the harbour office.</p>
<h2>Mooring ring</h2><p>A mooring ring costs 7 euros a year.</p>"""


def test_a_conversation(settings: Settings) -> None:
    site = LocalSite({"/permit": page("Harbour permit", TEXT)})

    async def work() -> None:
        async with Corpus.open(settings, site) as corpus:
            manager = Manager(corpus)
            first = await manager.answer(Question("What is a harbour permit?", urls=(PERMIT,), expansion_budget=0))
            ask = Ask.of(question="how much does it cost?", follows=first.answer_id)
            second = await ask.run(Services.over(corpus))
            assert second.question == "how much does a harbour permit cost?"
            assert second.wording == "how much does it cost?"
            assert second.carried == ["harbour", "permit"]
            assert second.follows == first.answer_id
            assert any("40 euros" in sentence.text for sentence in second.sentences)
            assert "Read as: how much does a harbour permit cost?" in render_markdown(second)

            third = await manager.answer(Question("and how do I cancel it?", follows=second.answer_id))
            assert third.question == "how do I cancel a harbour permit?"
            typed = await manager.answer(Question("how much does it cost?", follows=first.answer_id, carry=False))
            assert (typed.question, typed.wording, typed.carried) == ("how much does it cost?", None, [])
            whole = await manager.answer(Question("What does a mooring ring cost?", follows=first.answer_id))
            assert (whole.wording, whole.carried) == (None, [])

            database = corpus.database
            for answer in (second, third):
                assert (await recompose(database, settings, answer.answer_id or 0)).same
            numbers = [a.answer_id for a in (first, second, third, typed, whole)]
            for number in numbers:
                conversation = await open_conversation(database, number or 0)
                assert [turn.answer_id for turn in conversation.turns] == numbers
            assert [turn.wording for turn in conversation.turns[1:3]] == [second.wording, third.wording]
            [listed] = await list_conversations(database)
            assert (listed.number, listed.turns, listed.question) == (first.answer_id, 5, first.question)

            await forget(database, str(first.answer_id), removed_by="tester")
            async with database.connection() as connection:
                kept = await load_answer(connection, second.answer_id or 0)
            assert (kept.follows, kept.wording) == (None, second.wording)
            conversation = await open_conversation(database, third.answer_id or 0)
            assert [turn.answer_id for turn in conversation.turns] == numbers[1:]
            with pytest.raises(NotStoredError, match="no answer"):
                await manager.answer(Question("and then?", follows=first.answer_id))

    asyncio.run(work())
