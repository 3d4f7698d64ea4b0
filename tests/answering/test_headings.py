"""The headings that a sentence stands under, in passages that hold several sections."""

from __future__ import annotations

import asyncio

from tests.local_site import SITE, LocalSite, page
from webrag_core.answering.manager import Manager, Question
from webrag_core.answering.models import Answer
from webrag_core.config import Settings
from webrag_core.indexing.pipeline import Corpus

BODY = (
    "<h1>Settings file</h1><h2>On a Mac</h2><p>The settings file of Easel on a Mac is called easel.cfg.</p>"
    "<h2>On Windows</h2><p>On Windows the settings file of Easel is called easel.ini.</p>"
    "<h1>Options</h1><h2>Video</h2><p>The window of Easel is at least 640 pixels wide.</p>"
)


def test_a_section_behind_another_stands_not_under_that(settings: Settings) -> None:
    site = LocalSite({"/": page("Easel", BODY)})

    async def work() -> list[Answer]:
        async with Corpus.open(settings, site) as corpus:
            await corpus.add(SITE)
            questions = ("How wide is the window of Easel at least?", "settings file of Easel on Windows")
            return [await Manager(corpus).answer(Question(question)) for question in questions]

    window, file = asyncio.run(work())
    assert window.citations[0].heading == "Options > Video"
    assert file.citations[0].heading == "Settings file > On Windows"
