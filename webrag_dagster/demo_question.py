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
    from webrag_core.answering.manager import Manager, Question
    from webrag_core.cli.progress import show_progress
    from webrag_core.config import load_settings
    from webrag_core.indexing.pipeline import Corpus
    from webrag_core.orchestration.engine import AnswerRequest, OrchestratorEngine
    from webrag_core.orchestration.memory import run_scope

    # `run`: the walk is worth seeing the second time, too
    request = AnswerRequest((DEMO_URL,), DEMO_QUERY, scope=run_scope(["run"]))
    async with Corpus.open(load_settings(webrag_warc=site)) as corpus:
        with show_progress() as show:
            result = await OrchestratorEngine(corpus).run(request, show)
            return result, await Manager(corpus).answer(Question(DEMO_QUERY, (DEMO_URL,)), show)
