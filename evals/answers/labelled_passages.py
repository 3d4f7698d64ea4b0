"""People's questions with passages that were labelled by reading: does the passage state the answer?

Not part of this repository. A file, JSON lines, gzipped, has a line for each pair: `site`, `url`, `head` (headings),
`q`, `qi` (number of the question), `rank`, `raw` (score of the search), `w` (the passage), `y` (2 states the answer, 1
states a part of it, 0 does not).
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import groupby
from pathlib import Path
from typing import Any

from webrag_core.answering.gathering import Gathered
from webrag_core.orchestration.query_analyzer import analyze_query
from webrag_core.retrieval.calibration import relevance
from webrag_core.retrieval.models import RankedChunk, RetrievedChunk

STATES = 2
"""Label of a passage that states the answer."""


@dataclass(frozen=True, slots=True)
class LabelledQuestion:
    """A question of a site, its passages as evidence, and the label of each by its chunk."""

    site: str
    question: str
    gathered: Gathered
    labels: dict[int, int]


def load_labelled(path: Path) -> Iterator[LabelledQuestion]:
    """Read a file of labelled pairs, question by question."""
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        rows = map(json.loads, lines)
        for (site, _), pairs in groupby(rows, key=lambda row: (row["site"], row["qi"])):
            yield _question(site, list(pairs))


def _question(site: str, pairs: list[dict[str, Any]]) -> LabelledQuestion:
    question = pairs[0]["q"]
    relevances = relevance([pair["raw"] for pair in pairs])
    ranked = [
        RankedChunk(chunk=_chunk(number, pair, pairs, probability), reranked_score=probability)
        for number, (pair, probability) in enumerate(zip(pairs, relevances, strict=True), start=1)
    ]
    analysis = analyze_query(question)
    gathered = Gathered(
        ranked=ranked, parts=analysis.sub_queries[1:], complete=max(relevances), kind=analysis.query_type
    )
    return LabelledQuestion(site, question, gathered, {number: pair["y"] for number, pair in enumerate(pairs, start=1)})


def _chunk(number: int, pair: dict[str, Any], pairs: list[dict[str, Any]], probability: float) -> RetrievedChunk:
    text, headings = pair["w"], pair["head"]
    pages = list(dict.fromkeys(other["url"] for other in pairs))
    return RetrievedChunk(
        chunk_id=number,
        document_id=pages.index(pair["url"]) + 1,
        version_id=number,
        version_sha256="",
        source_url=pair["url"],
        title=headings[0] if headings else None,
        text=text,
        heading_path=headings,
        chunk_index=0,
        char_start=0,
        char_end=len(text),
        match_start=0,
        match_end=len(text),
        match_heading_path=headings,
        token_count=len(text.split()),
        score=pair["raw"],
        raw_score=pair["raw"],
        relevance=probability,
        raw_similarity=0.0,
        lexical_score=0.0,
        depth=0,
        flags=[],
        fetched_at=datetime.now(UTC),
        language="en",
    )
