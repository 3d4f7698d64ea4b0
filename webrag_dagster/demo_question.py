"""The demo question, and the two answers to it by the core alone. Imports no Dagster."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from webrag_core.answering.models import Answer
    from webrag_core.orchestration.models import OrchestrationResult

DEMO_URL = "https://docs.python.org/3.11/library/numeric.html"
DEMO_QUERY = "How do I compute the greatest common divisor of several integers?"


def answer_demo(site: Path) -> tuple[OrchestrationResult, Answer]:
    """The evidence and the answer in prose, from the frozen `site`. Raises WebragError."""
    return asyncio.run(_answers(site))


async def _answers(site: Path) -> tuple[OrchestrationResult, Answer]:
    from webrag_core.application.operations import Ask, GatherEvidence
    from webrag_core.application.services import Services
    from webrag_core.cli.progress import show_progress
    from webrag_core.config import load_settings
    from webrag_core.indexing.pipeline import Corpus

    # `run`: the walk is worth seeing the second time, too
    evidence = GatherEvidence.of(urls=(DEMO_URL,), query=DEMO_QUERY, scope="run")
    async with Corpus.open(load_settings(webrag_warc=site)) as corpus:
        services = Services.over(corpus)
        with show_progress() as show:
            result = await evidence.run(services, show)
            return result, await Ask.of(question=DEMO_QUERY, urls=(DEMO_URL,)).run(services, show)
