"""Results of the retrieval layer."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import datetime
from typing import Literal

from pydantic import BaseModel, ConfigDict

from webrag_core.corpus.quotes import Quote
from webrag_core.retrieval.request import Pattern

Capability = Literal["dense"]
"""A part of retrieval missing from a degraded result."""
RELEVANCE_FLOOR = 0.05
"""Relevance in [0, 1] from which an answer cites a quote. The best quote is cited in any case."""


class Contract(BaseModel):
    """Base model: unknown fields are an error."""

    # an import does not pay for the schemas of a hundred models, most of which it has no use for
    model_config = ConfigDict(extra="forbid", defer_build=True)


class MatchSpan(Contract):
    """A child chunk that matches the query: [start, end) of the version's Markdown, its headings, and its score as a
    share of the parent's best child, in (0, 1]."""

    start: int
    end: int
    heading_path: list[str]
    share: float = 1.0


class AlsoOn(Contract):
    """Another page that says the same as a passage: [char_start, char_end) of a version of it. `is_equal` = in the very
    words."""

    document_id: int
    version_id: int
    source_url: str
    title: str | None
    char_start: int
    char_end: int
    is_equal: bool


class RetrievedChunk(Contract):
    """A parent chunk chosen for the context, with the child spans that match best.

    `text` is the exact slice [char_start, char_end) (Unicode code points, half-open) of the document version's
    Markdown. `match_start`, `match_end` and `match_heading_path` describe the best matching child in the same
    coordinates, `further_matches` those that score nearly as well, best first.

    Scores, all in [0, 1] but the cosine: `raw_similarity` is the best child's cosine, `lexical_score` the share of the
    attainable BM25 score, `raw_score` what the retrieval pattern makes of both (see `retrieval.patterns`), `score` the
    raw score times the link depth's weight, by which the result is ranked. `relevance` is the calibrated probability of
    relevance, None for patterns without a calibration. Where window vectors change the order, both stay with the places
    (see `retrieval.windows`). Neighbours, which are not scored, have 0. `dated` is the date
    that the page states: its last modification, else its publication, `language` that of its text (BCP 47, lower case),
    None where none is clear. `also_on` are the pages that say the same and are no results of their own.
    """

    chunk_id: int
    document_id: int
    version_id: int
    version_sha256: str
    source_url: str
    title: str | None
    text: str
    heading_path: list[str]
    chunk_index: int
    char_start: int
    char_end: int
    match_start: int
    match_end: int
    match_heading_path: list[str]
    further_matches: list[MatchSpan] = []
    token_count: int
    score: float
    raw_score: float = 0.0
    relevance: float | None = 0.0
    raw_similarity: float
    lexical_score: float
    depth: int
    flags: list[str]
    fetched_at: datetime
    dated: datetime | None = None
    language: str | None = None
    also_on: list[AlsoOn] = []

    @property
    def section_heading(self) -> str | None:
        """The heading path of the best matching child as one line, or None above the first heading."""
        return " > ".join(self.match_heading_path) or None

    @property
    def match_text(self) -> str:
        """The text of the best matching child."""
        return self.text[self.match_start - self.char_start : self.match_end - self.char_start]

    @property
    def matches(self) -> list[MatchSpan]:
        """All matching children, best first."""
        best = MatchSpan(start=self.match_start, end=self.match_end, heading_path=self.match_heading_path)
        return [best, *self.further_matches]


class RankedChunk(Contract):
    """A retrieved parent chunk with its reranked score in [0, 1]."""

    chunk: RetrievedChunk
    reranked_score: float
    confidence: float | None = None
    is_locality_expanded: bool = False
    source_sub_query: str | None = None


class CorpusStats(Contract):
    """Size of the scope, and the URLs with a result."""

    total_documents: int
    total_parent_chunks: int
    total_tokens: int
    documents_matched: list[str]


class TimingInfo(Contract):
    """Wall milliseconds of one retrieval."""

    embed_ms: float
    search_ms: float
    total_ms: float


class Spelling(Contract):
    """A word of the query that is written nowhere in the scope, and the word of the scope that was searched for in its
    place."""

    typed: str
    taken: str


def respelled(text: str, spellings: Sequence[Spelling]) -> str:
    """`text` with the words that were searched for in place of the typed ones."""
    for spelling in spellings:
        text = re.sub(
            rf"(?<!\w){re.escape(spelling.typed)}(?!\w)", spelling.taken, text
        )  # letters alone: no references
    return text


def spelling_note(text: str, spellings: Sequence[Spelling]) -> str:
    """What to say of the words of `text` that were searched for in other letters; "" without any."""
    if not spellings:
        return ""
    typed = ", ".join(f'"{spelling.typed}"' for spelling in spellings)
    return f'showing results for "{respelled(text, spellings)}": no page that was searched has {typed}'


class RetrievalResult(Contract):
    """Ranked parents for one query, best first (in full context `search` puts them into `merging.reading_order`).

    `term_idf` is the weight of each query term within the scope; a term that occurs nowhere has the highest.
    `model_id` names the embedding model of query and chunks, `weights` the release that scored them (None: the weights
    that ship), `candidates` counts the parents considered. `spellings` are the words that were searched for in other
    letters. `degraded` lists the missing parts of retrieval; `warnings` explains them to the user.
    """

    mode: Literal["full_context", "chunk"]
    pattern: Pattern = Pattern.RERANKED
    model_id: int
    weights: str | None = None
    candidates: int
    chunks: list[RetrievedChunk]
    term_idf: dict[str, float]
    corpus_stats: CorpusStats
    timing: TimingInfo
    spellings: list[Spelling] = []
    degraded: list[Capability] = []
    warnings: list[str] = []


class CitationSpan(Contract):
    """A verbatim quote proved against a stored page version.

    `verbatim_text` equals `markdown[char_start:char_end]` of the version; `quote_sha256` is the sha256 of its UTF-8
    bytes, `version_sha256` that of the whole version. `relevance`, in [0, 1], is the final score of chunk `chunk_id`
    times the share of this quote in it: a calibrated probability with the local reranker, a provider's score with one.
    `page` is that of the file where the quote begins, None for what has no pages; `also_on` are the other pages that
    say what its chunk says.
    """

    number: int
    chunk_id: int
    verbatim_text: str
    source_url: str
    title: str | None
    section_heading: str | None
    document_id: int
    version_id: int
    version_sha256: str
    char_start: int
    char_end: int
    quote_sha256: str
    relevance: float
    page: int | None = None
    also_on: list[AlsoOn] = []

    def as_quote(self) -> Quote:
        """What is quoted, without what is known of it."""
        return Quote(self.version_id, self.char_start, self.char_end, self.quote_sha256)

    def part(self, start: int, end: int) -> Quote:
        """Characters [start, end) of its words, as a quote. Raises IntegrityError when it has no such part."""
        first, last = self.char_start + start, self.char_start + end
        return Quote.of(self.verbatim_text, self.version_id, first, last, offset=self.char_start)
