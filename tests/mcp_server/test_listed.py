"""An answer whose passages answer by themselves: a model is told to give them, not that there is no answer."""

from __future__ import annotations

import asyncio

from tests.conftest import FROZEN_SITE
from tests.mcp_server.clients import called, connected, sections_of, text_of
from webrag_core.config import Settings

QUEUES = "https://docs.python.org/3.11/library/asyncio-queue.html"


def test_listed_passages_are_for_the_user(settings: Settings) -> None:
    async def work() -> str:
        async with connected(settings) as client:
            await called(client, "ingest", url=[QUEUES])
            return text_of(await called(client, "answer", url=QUEUES, query="Who uses asyncio.Queue?", style="prose"))

    assert settings.webrag_warc == FROZEN_SITE
    sections = sections_of(asyncio.run(work()))
    assert "Mentions asyncio.Queue" in sections["EVIDENCE"]
    if "ANSWER" not in sections:
        assert "give them to the user" in sections["PRESENTATION GUIDE"]
    assert "do not answer the question" not in sections["PRESENTATION GUIDE"]
