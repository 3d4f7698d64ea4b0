"""Answers that `webrag eval answers` recorded, judged again by keys that were changed since."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from pathlib import Path

from pydantic import BaseModel, Field

from evals.answers.answer_suite import AskedKey, judged
from evals.answers.given_answer import GivenAnswer
from evals.answers.suite_list import KeySet
from evals.jsonl import load_jsonl
from webrag_core.errors import InvalidInputError

logger = logging.getLogger(__name__)


class RecordedAnswer(BaseModel, frozen=True):
    """What a line holds beside the key and the verdict of its day."""

    suite: str
    id: str
    question: str = Field(alias="q")
    answer: GivenAnswer | None
    seconds: float
    error: str | None = None


def judge_again(path: Path, chosen: Sequence[KeySet]) -> list[AskedKey]:
    """The recorded answers to questions that the suites still ask in the same words, by the keys of today.

    Questions without a recorded answer are logged by their number. Raises InvalidInputError for a file that holds
    something else, or no answer to any question of the suites.
    """
    recorded = load_jsonl(
        path, RecordedAnswer.model_validate, "a recorded answer", lambda item: f"{item.suite}/{item.id}/{item.question}"
    )
    answers = {(record.suite, record.question): record for record in recorded}
    keys = [(suite.name, key) for suite in chosen for key in suite.keys]
    results = [(suite, key, answers[suite, key.question]) for suite, key in keys if (suite, key.question) in answers]
    if not results:
        raise InvalidInputError(f"{path} has no answer to a question of {', '.join(suite.name for suite in chosen)}")
    if len(results) < len(keys):
        logger.warning("%d of the questions are left out: %s has no answer to them", len(keys) - len(results), path)
    return [judged(suite, key, finding.answer, finding.seconds, finding.error) for suite, key, finding in results]
