"""What a watch is about. Light: files of sources are read with it."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, Self

from webrag_core.acquisition.urls import canonicalise
from webrag_core.errors import InvalidInputError

Kind = Literal["page", "section", "question"]
Pace = Literal["at_once", "daily"]
"""A message as soon as something changed, or at most one in 24 hours with all that changed since the last."""


@dataclass(frozen=True, slots=True)
class Subject:
    """A page at the canonical `url`, a section of it, or a question to the stored pages (of `sources`, if any)."""

    url: str | None = None
    heading: tuple[str, ...] = ()
    question: str | None = None
    sources: tuple[str, ...] = ()
    pace: Pace = "at_once"

    @property
    def digest(self) -> bytes:
        """SHA-256 of what is watched, whatever its pace."""
        watched = [self.url, self.heading, self.question, self.sources]
        return hashlib.sha256(json.dumps(watched).encode()).digest()

    @classmethod
    def of(
        cls,
        *,
        page: str | None = None,
        section: Sequence[str] = (),
        question: str | None = None,
        sources: Sequence[str] = (),
        pace: Pace = "at_once",
    ) -> Self:
        """What is meant. Raises InvalidInputError, FetchError(INVALID_URL)."""
        if (page is None) is (question is None):
            raise InvalidInputError("watch a page or a question: exactly one of them")
        if section and page is None:
            raise InvalidInputError("a section needs its page")
        if sources and question is None:
            raise InvalidInputError("sources need a question")
        if not all(heading.strip() for heading in section):
            raise InvalidInputError("a heading is blank")
        if question is not None and not question.strip():
            raise InvalidInputError("the question is blank")
        return cls(
            None if page is None else canonicalise(page),
            tuple(" ".join(heading.split()) for heading in section),
            None if question is None else question.strip(),
            tuple(sorted(sources)),
            pace,
        )

    @property
    def kind(self) -> Kind:
        """Of the watch."""
        return "question" if self.question is not None else "section" if self.heading else "page"
