"""Notes on the time that a question means, where the answer is from today's texts."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import UTC, datetime

from webrag_core.answering.compose.forms import is_about_changes
from webrag_core.answering.models import AnswerSentence
from webrag_core.routing.question import Question

_YEAR = re.compile(r"(?<![\w.,/-])(?:199\d|20\d\d)(?![\w/-]|[.,]\d)")


def time_notes(question: Question, sentences: Sequence[AnswerSentence]) -> list[str]:
    """A past year that the question names and no sentence does. None for what was asked as of a date."""
    if question.at is not None:
        return []
    named = {year for sentence in sentences for year in _YEAR.findall(sentence.text)}
    years = [year for year in _YEAR.findall(question.text) if int(year) < datetime.now(UTC).year and year not in named]
    if years and sentences:
        year = years[0]
        return [f"the question names {year}, and this is from today's texts: --at {year} asks those of then"]
    return []


def change_notes(question: Question, *, compared: bool) -> list[str]:
    """Of a question about changes, where those of the pages themselves are listed, unless they were `compared`. None
    for what was asked as of a date."""
    if question.at is not None or compared or not is_about_changes(question.text):
        return []
    return ["how the stored pages themselves changed: webrag history URL --changes"]
