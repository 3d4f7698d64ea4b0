"""Link candidates and the baseline scorer `seed-weights` (specification 000, section 10)."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from urllib.parse import unquote, urlsplit

from webrag_core.indexing.terms import terms
from webrag_core.orchestration.models import QueryAnalysis, ScoredCandidate

URL_PATH, TITLE, DESCRIPTION, IN_DEGREE, DEPTH = "url_path", "title", "description", "in_degree", "depth"
WEIGHTS = {URL_PATH: 0.15, TITLE: 0.40, DESCRIPTION: 0.30, IN_DEGREE: 0.05, DEPTH: 0.10}
"""Weight of each signal; they add up to 1."""

_TEXT_WEIGHT = WEIGHTS[URL_PATH] + WEIGHTS[TITLE] + WEIGHTS[DESCRIPTION]
_FULL_IN_DEGREE = 5  # pages linking here from which on more do not count
_DEPTH_STEP = 0.2  # lost per link from the seed
FILE_ENDING = re.compile(r"\.[A-Za-z][A-Za-z0-9]{1,4}$")
_SAYS_NOTHING = frozenset(
    [
        "", "click here", "here", "learn more", "link", "more", "next", "previous", "read more", "see more",
        "this page",
    ]
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class LinkCandidate:
    """A URL that the run could fetch, with all that is known about it beforehand.

    `anchor_texts` are the texts of the links to it, best first; `context` is the sentence around the link and
    `heading_path` where it stands on `from_url`; `title` and `description` come from a site map when there is
    one. `link_depth` is the candidate's own distance from the seed (a link on the seed page: 1), `in_degree`
    the number of distinct pages of this run that link to it, `in_navigation` true if only menus and footers
    do.
    """

    url: str
    from_url: str
    link_depth: int
    anchor_texts: tuple[str, ...] = ()
    context: str = ""
    heading_path: tuple[str, ...] = ()
    title: str | None = None
    description: str | None = None
    in_degree: int = 0
    in_navigation: bool = False


def seed_weights(candidates: Iterable[LinkCandidate], query: str, analysis: QueryAnalysis) -> list[ScoredCandidate]:
    """Score all candidates with the specification's five weighted signals; best first, equal scores by URL.

    score = .15 url_path + .40 title + .30 description + .05 in_degree + .10 depth, every signal in [0, 1]:

    - `title`, `description`: share of the query's terms found there. Without a title the anchor texts stand
      in, without a description the sentence around the link.
    - `url_path`: share of the terms of the key concepts (of the query, if there are none) found in path and
      query string.
    - `in_degree`: min(1, in_degree / 5). `depth`: max(0, 1 - .2 link_depth).

    Shares of the query, not Jaccard: a long description must not count less for being long. Terms are stemmed
    and without stop words, so "task groups" meets `TaskGroup`. The weight of an absent text goes to the texts
    that are there (the URL path always is). in_degree and depth keep theirs: they know nothing of the query,
    and a bare URL must not pass the floor on them.

    `score_breakdown` holds the value of every signal; an absent text has no entry. Pure; raises nothing.
    """
    asked = frozenset(terms(query))
    concepts = frozenset(terms(" ".join(analysis.key_concepts))) or asked
    # Menus repeat the same few words on every page, so most texts come more than once.
    shares: dict[str, float | None] = {}

    def share(text: str) -> float | None:
        if text not in shares:
            found = terms(text)
            shares[text] = len(asked.intersection(found)) / len(asked) if found and asked else None
        return shares[text]

    scored = []
    for candidate in candidates:
        anchors = _telling(candidate.anchor_texts)
        title = share(_present(candidate.title) or " / ".join(anchors))
        description = share(_present(candidate.description) or candidate.context)
        path = concepts.intersection(_path_terms(candidate.url))
        signals = {URL_PATH: len(path) / len(concepts) if concepts else 0.0}
        if title is not None:
            signals[TITLE] = title
        if description is not None:
            signals[DESCRIPTION] = description
        relevance = sum(WEIGHTS[name] * value for name, value in signals.items())
        relevance *= _TEXT_WEIGHT / sum(WEIGHTS[name] for name in signals)
        signals[IN_DEGREE] = min(1.0, max(0, candidate.in_degree) / _FULL_IN_DEGREE)
        signals[DEPTH] = min(1.0, max(0.0, 1.0 - _DEPTH_STEP * candidate.link_depth))
        score = relevance + WEIGHTS[IN_DEGREE] * signals[IN_DEGREE] + WEIGHTS[DEPTH] * signals[DEPTH]
        scored.append(traced(candidate, score, signals))
    return sorted(scored, key=lambda candidate: (-candidate.score, candidate.url))


def traced(candidate: LinkCandidate, score: float, signals: dict[str, float]) -> ScoredCandidate:
    """A candidate with its score (cut to 1) and the parts of it, as the run's trace keeps them."""
    return ScoredCandidate(
        url=candidate.url,
        score=min(1.0, score),
        score_breakdown=signals,
        anchor_text=next(iter(_telling(candidate.anchor_texts) or candidate.anchor_texts), ""),
        from_url=candidate.from_url,
        link_depth=candidate.link_depth,
    )


def _present(text: str | None) -> str:
    return (text or "").strip()


def _telling(anchor_texts: tuple[str, ...]) -> list[str]:
    """The different anchor texts that say something about the target: not "here" or "Read more »"."""
    return [t for t in dict.fromkeys(anchor_texts) if t.strip(" \t\n.…»›>→").lower() not in _SAYS_NOTHING]


def _path_terms(url: str) -> list[str]:
    """Terms of a URL's path and query string, file ending removed. Empty for what is no URL."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return []
    return terms(unquote(f"{FILE_ENDING.sub('', parts.path)} {parts.query}"))


def derive_parent_urls(url: str) -> list[str]:
    """URLs of the folders above `url`, nearest first, without the root (too general) and without query or
    fragment.

    `https://h/stable/modules/x.html` -> `https://h/stable/modules/`, `https://h/stable/`. Empty for a page at
    the root and for anything but an http or https URL (specification 000, section 10).
    """
    try:
        parts = urlsplit(url)
    except ValueError:
        return []
    if parts.scheme not in ("http", "https") or not parts.netloc:
        return []
    folders = [segment for segment in parts.path.rstrip("/").split("/")[:-1] if segment]
    base = f"{parts.scheme}://{parts.netloc}/"
    return [base + "/".join(folders[:depth]) + "/" for depth in range(len(folders), 0, -1)]
