"""What a list says of an answer: its verdict, and whether its quotes still stand."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from webrag_core.answering.models import Band
from webrag_core.history.answers import StoredAnswer
from webrag_core.history.citations import citation_states
from webrag_core.orchestration.models import COMPLETE_AT
from webrag_core.store.database import Database

Look = Literal["standing", "doubtful", "refused"]
"""Green, for what is answered and whose quotes all stand; amber, for what is likely, in part, or quotes a page that has
changed since; neither, for no answer."""
_WORDS: Mapping[str, str] = {
    "high": "answered",
    "medium": "answered",
    "low": "answered in part",
    "likely": "likely",
}


@dataclass(slots=True)
class ListedAnswer:
    """An answer in a list. `quotes` counts its quotes by what became of them."""

    answer: StoredAnswer
    band: Band | None = None
    quotes: Counter[str] = field(default_factory=Counter)

    @property
    def verdict(self) -> str:
        """The verdict in a word or two."""
        answer = self.answer
        if answer.state != "done":
            return answer.state
        if answer.status == "forgotten" or (self.band in _WORDS and not self.quotes.total()):
            return "forgotten"
        if answer.kind == "evidence":
            return "evidence" if self._is_complete else "no sure evidence"
        return _WORDS.get(self.band or "", "no answer")

    @property
    def has_sentences(self) -> bool:
        """Whether its quotes prove something: those of a refused answer are of passages that answer nothing."""
        return self.answer.kind == "evidence" or self.band in ("high", "medium", "low")

    @property
    def look(self) -> Look:
        """How it looks."""
        if self.answer.state != "done" or self.verdict in ("no answer", "no sure evidence", "forgotten"):
            return "refused"
        is_sure = self.band in ("high", "medium") or (self.answer.kind == "evidence" and self._is_complete)
        return "standing" if is_sure and not self.lost else "doubtful"

    @property
    def lost(self) -> int:
        """How many of its quotes do not stand where they stood."""
        return self.quotes.total() - self.quotes["valid"]

    @property
    def _is_complete(self) -> bool:
        return (self.answer.probability or 0.0) >= COMPLETE_AT


async def listed_answers(database: Database, answers: Sequence[StoredAnswer]) -> dict[int, ListedAnswer]:
    """What a list says of these answers, by number."""
    listed = {answer.answer_id: ListedAnswer(answer) for answer in answers}
    for quote in await citation_states(database, answers=list(listed)):
        listed[quote.answer_id].quotes[quote.state] += 1
    async with database.connection() as connection:
        cursor = await connection.execute(
            "SELECT id, prose ->> 'band' FROM answer_runs WHERE id = ANY(%s) AND prose IS NOT NULL", (list(listed),)
        )
        for number, band in await cursor.fetchall():
            listed[int(number)].band = band
    return listed
