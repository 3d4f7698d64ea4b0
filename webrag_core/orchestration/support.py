"""How well the best passage found so far supports an answer to the question: two numbers for the stop policies."""

from __future__ import annotations

import re
from dataclasses import dataclass

from webrag_core.indexing.markdown import plain_text
from webrag_core.indexing.terms import terms
from webrag_core.retrieval.models import RetrievalResult

_LINK = re.compile(r"\[(?:[^\[\]]|\[[^\[\]]*\])*\]\([^()\s]*(?:\([^()\s]*\)[^()\s]*)*\)")
_WORD = re.compile(r"[^\W\d_]{2,}")
_TELLING = 4  # words beside its links with which a line says something


@dataclass(frozen=True, slots=True)
class Support:
    """Of the passage that retrieval ranks first, each in [0, 1]; both 0 without a passage.

    `raw_score` is retrieval's own score, whatever reranker runs; `term_share` is the share of the query's terms that
    the passage holds with its title and headings. It is not weighted by rarity: in a small scope what is not there
    would weigh most. Lines that are nothing but links promise an answer and give none: terms that stand only there do
    not count, and the raw score shrinks in proportion.
    """

    raw_score: float = 0.0
    term_share: float = 0.0


def support(found: RetrievalResult) -> Support:
    """The support that `found`, the result for the user's own query, gives. Pure; raises nothing."""
    if not found.chunks:
        return Support()
    best, asked = found.chunks[0], frozenset(found.term_idf)
    head = f"{best.title or ''} {' '.join(best.match_heading_path)}"
    told = "\n".join(line for line in best.match_text.splitlines() if not _only_links(line))
    held = asked.intersection(terms(f"{head} {plain_text(best.match_text)}"))
    given = asked.intersection(terms(f"{head} {plain_text(told)}"))
    return Support(
        raw_score=best.raw_score * len(given) / len(held) if held else best.raw_score,
        term_share=len(given) / len(asked) if asked else 0.0,
    )


def _only_links(line: str) -> bool:
    rest, links = _LINK.subn("", line)
    return links > 0 and len(_WORD.findall(rest)) < _TELLING
