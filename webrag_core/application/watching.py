"""Watches: what somebody wants to be told of. Added, listed, removed, and looked at."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from pydantic import Field

from webrag_core.answering import guard
from webrag_core.answering.stored import load_answer
from webrag_core.application.inputs import Name, Number, Operation, Url
from webrag_core.application.reading import Limit, Offset, Reading
from webrag_core.corpus.documents import find_document
from webrag_core.errors import InvalidInputError
from webrag_core.orchestration.request import check_question
from webrag_core.retrieval.models import Contract
from webrag_core.routing.question import MAX_QUESTION
from webrag_core.store.database import Database
from webrag_core.watches.models import Watch
from webrag_core.watches.rounds import WatchRound, make_round
from webrag_core.watches.sections import section_names, section_of
from webrag_core.watches.store import Compared, add_watch, count_watches, list_watches, remove_watch
from webrag_core.watches.subjects import Pace, Subject

if TYPE_CHECKING:
    from webrag_core.application.services import Services

_DEEPEST, _NAMED = 10, 5

Heading = Annotated[
    tuple[Name, ...], Field(max_length=_DEEPEST, description="Headings, outermost first; the last names the section")
]
PaceField = Annotated[
    Pace, Field(description="at_once, or daily: at most one message in 24 hours, with all news since the last")
]


class WatchList(Contract):
    """Watches by number; `total` counts all of them."""

    watches: list[Watch]
    total: int


class AddWatch(Operation):
    """Watch a `page`, a `section` of it, a `question` to the stored pages (of `sources`), or the question of the stored
    `answer`. What is stored now, or that answer, is what later ones are compared with."""

    page: Url | None = None
    section: Heading = ()
    question: Annotated[str | None, Field(json_schema_extra={"maxLength": MAX_QUESTION})] = None
    sources: Annotated[tuple[Name, ...], Field(max_length=1_000, description="Only these stored sources, by key")] = ()
    answer: Annotated[Number | None, Field(description="Number of a stored answer in prose")] = None
    pace: PaceField = "at_once"

    def check(self) -> None:
        """Raise InvalidInputError, GuardrailsViolationError, FetchError(INVALID_URL)."""
        if self.answer is None:
            self._named()
        elif self.page is not None or self.question is not None or self.section or self.sources:
            raise InvalidInputError("an answer has a question of its own: name no page, section, source or question")
        if self.question is not None:
            guard.check_input(self.question)
            check_question(self.question)

    def _named(self) -> Subject:
        return Subject.of(
            page=self.page, section=self.section, question=self.question, sources=self.sources, pace=self.pace
        )

    async def run(self, services: Services) -> Watch:
        """Add it. Raises as `add`."""
        return await self.add(services.corpus.database)

    async def add(self, database: Database) -> Watch:
        """Add it; the same watch twice is one. Raises InvalidInputError also for an answer that is not stored or is no
        prose, and for a section that the stored page does not have."""
        self.check()
        subject, compared = await self._subject(database)
        async with database.connection() as connection:
            return await add_watch(connection, subject, compared)

    async def _subject(self, database: Database) -> tuple[Subject, Compared]:
        if self.answer is None:
            subject = self._named()
            return subject, Compared() if subject.url is None else await self._text_now(database, subject.url)
        async with database.connection() as connection:
            answer = await load_answer(connection, self.answer)
            cursor = await connection.execute("SELECT options FROM answer_runs WHERE id = %s", (self.answer,))
            options = (await cursor.fetchone() or ({},))[0]
        if options.get("urls") or options.get("at"):
            raise InvalidInputError(
                f"answer {self.answer} is of pages that were read for it, or of the past: watch its question instead"
            )
        sources = tuple(map(str, options.get("sources", ())))
        compared = Compared(answer_id=self.answer)
        return Subject.of(question=answer.question, sources=sources, pace=self.pace), compared

    async def _text_now(self, database: Database, url: str) -> Compared:
        async with database.connection() as connection:
            document = await find_document(connection, url)
            cursor = await connection.execute(
                "SELECT v.id, v.markdown FROM documents d JOIN document_versions v ON v.id = d.current_version"
                " WHERE d.id = %s",
                (None if document is None else document.id,),
            )
            row = await cursor.fetchone()
        if row is None:
            return Compared()
        text = str(row[1] or "")
        if self.section and section_of(text, self.section) is None:
            names = section_names(text)
            more = ", …" if len(names) > _NAMED else ""
            raise InvalidInputError(
                f"{url} has no section {' > '.join(self.section)!r}; it has {', '.join(names[:_NAMED]) or 'none'}{more}"
            )
        return Compared(version_id=int(row[0]), seen_version=int(row[0]))


class ListWatches(Reading):
    """Which of the watches, by number."""

    limit: Limit = 50
    offset: Offset = 0

    async def read(self, database: Database) -> WatchList:
        """List them."""
        async with database.connection() as connection:
            watches = await list_watches(connection, limit=self.limit, offset=self.offset)
            return WatchList(watches=watches, total=await count_watches(connection))


class RemoveWatch(Operation):
    """One watch, by its number."""

    number: Number

    async def run(self, services: Services) -> Watch:
        """Remove it. Raises as `remove`."""
        return await self.remove(services.corpus.database)

    async def remove(self, database: Database) -> Watch:
        """Remove it. Raises NotStoredError, InvalidInputError for one that a file declares."""
        async with database.connection() as connection:
            return await remove_watch(connection, self.number)


class CheckWatches(Operation):
    """Look at the watches that are due, of `only` or all, and send what is new."""

    only: tuple[Number, ...] | None = None
    dry_run: Annotated[bool, Field(description="Return the news; send nothing, and tell of it again later")] = False

    async def run(self, services: Services) -> WatchRound:
        """Look. Questions are put to the stored pages again, which may ask models."""
        return await make_round(
            services.corpus.database, services.manager, services.settings, only=self.only, dry_run=self.dry_run
        )
