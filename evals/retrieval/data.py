"""Questions with exact evidence spans over a closed set of documents, and an acquirer that serves those documents."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Self
from urllib.parse import quote

from pydantic import BaseModel, Field, model_validator

from evals.jsonl import load_jsonl
from webrag_core.acquisition.acquirer import AcquiredPage
from webrag_core.acquisition.sitemaps.models import SiteMap
from webrag_core.errors import FetchError, InvalidInputError, Reason

HERE = Path(__file__).parents[1] / "golden" / "retrieval"
DEFAULT_QUESTIONS = HERE / "questions.jsonl.gz"
DEFAULT_DOCUMENTS = HERE / "documents.jsonl.xz"

_SITE = "https://retrieval.example/"
_FETCHED = datetime(2025, 1, 1, tzinfo=UTC)


class EvidenceSpan(BaseModel):
    """[start, end) in code points of the document's text."""

    document: str
    start: int = Field(ge=0)
    end: int

    @model_validator(mode="after")
    def _holds_something(self) -> Self:
        if self.end <= self.start:
            raise ValueError("an evidence span is empty")
        return self


class BenchDocument(BaseModel):
    """One document; `text` is plain text or Markdown."""

    id: str = Field(min_length=1)
    title: str | None = None
    text: str

    @property
    def url(self) -> str:
        """The address under which it is indexed."""
        return _SITE + quote(self.id, safe="")


class RetrievalQuestion(BaseModel):
    """One question with everything that answers it. `set` names the collection it comes from."""

    id: str
    set: str
    question: str = Field(min_length=1)
    evidence: list[EvidenceSpan] = Field(min_length=1)


def load_documents(path: Path) -> list[BenchDocument]:
    """Documents of a JSONL file, gzipped or not. Raises InvalidInputError naming the first bad line."""
    return load_jsonl(path, BenchDocument.model_validate, "a document", lambda document: document.id)


def load_questions(path: Path, documents: Sequence[BenchDocument]) -> list[RetrievalQuestion]:
    """Questions of a JSONL file, gzipped or not.

    Raises InvalidInputError naming the first bad line, or a span outside `documents`.
    """
    questions = load_jsonl(path, RetrievalQuestion.model_validate, "a question", lambda question: question.id)
    lengths = {document.id: len(document.text) for document in documents}
    for question in questions:
        for span in question.evidence:
            if span.end > lengths.get(span.document, 0):
                raise InvalidInputError(f"{path}: the evidence of {question.id} lies outside {span.document}")
    return questions


class DocumentAcquirer:
    """Serves the documents as Markdown from memory, behind the same protocol as the web."""

    name = "bench"
    frozen = True
    metered = False

    def __init__(self, documents: Sequence[BenchDocument]) -> None:
        self._texts = {document.url: document.text for document in documents}

    async def fetch(self, url: str, *, etag: str | None = None, last_modified: str | None = None) -> AcquiredPage:
        """The document's text; FetchError (not found) for any other URL."""
        if url not in self._texts:
            raise FetchError(Reason.NOT_FOUND, f"{url} is none of the documents", status=404)
        body = self._texts[url].encode()
        return AcquiredPage(
            url=url,
            final_url=url,
            status=200,
            headers={"content-type": "text/markdown; charset=utf-8"},
            body=body,
            fetched_at=_FETCHED,
            bytes_raw=len(body),
        )

    async def site_map(
        self, url: str, *, html: str | None = None, absent: Collection[str] = (), brief: bool = False
    ) -> SiteMap:
        """It has none."""
        return SiteMap()

    async def aclose(self) -> None:
        """Nothing to release."""
