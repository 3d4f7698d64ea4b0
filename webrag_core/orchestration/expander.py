"""Expansion by breadth: which links the run could follow, and fetching the best of them."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Literal

from webrag_core.acquisition.traps import count_patterns, find_trap, url_pattern
from webrag_core.acquisition.urls import page_key, source_key
from webrag_core.config import LinkScorer
from webrag_core.corpus.documents import StoredLink, load_links
from webrag_core.errors import FetchError
from webrag_core.indexing.pipeline import AddedDocument, Corpus
from webrag_core.orchestration.link_ranking import words_and_meaning
from webrag_core.orchestration.link_scoring import LinkCandidate, derive_parent_urls, seed_weights
from webrag_core.orchestration.models import QueryAnalysis, RunDocument, ScoredCandidate


@dataclass(slots=True)
class Walk:
    """Where a run has been: documents with their link depth, every page tried, links already read."""

    seeds: tuple[str, ...]
    depths: dict[int, int] = field(default_factory=dict)
    urls: dict[int, str] = field(default_factory=dict)
    visited: set[str] = field(default_factory=set)
    patterns: Counter[str] = field(default_factory=Counter)  # of what was asked for and what it turned out to be
    documents: list[RunDocument] = field(default_factory=list)
    links: dict[int, list[StoredLink]] = field(default_factory=dict)

    def add(self, asked: str, added: AddedDocument, *, round_number: int, depth: int) -> bool:
        """Take a page into the run. False when it was there already under another URL: a page was asked for all the
        same, and counts."""
        self.visited |= {page_key(asked), page_key(added.url)}
        self.patterns.update({pattern for pattern in map(url_pattern, (asked, added.url)) if pattern is not None})
        new = added.document_id not in self.depths
        if new:
            self.depths[added.document_id] = depth
            self.urls[added.document_id] = added.url
        outcome: Literal["fetched", "reused"] = "reused" if added.outcome == "reused" else "fetched"
        self.documents.append(
            RunDocument(
                url=added.url if new else asked,
                document_id=added.document_id,
                round=round_number,
                link_depth=depth,
                outcome=outcome if new else "duplicate",
                reason=None if new else f"the same page as {self.urls[added.document_id]}",
            )
        )
        return new

    def fail(self, url: str, error: FetchError, *, round_number: int, depth: int) -> None:
        """A page that cannot be had is not tried again in this run."""
        self.visited.add(page_key(url))
        self.patterns.update(count_patterns([url]))
        self.documents.append(
            RunDocument(
                url=url,
                document_id=None,
                round=round_number,
                link_depth=depth,
                outcome="failed",
                reason=error.reason.value,
            )
        )

    @property
    def sites(self) -> set[str]:
        """Source keys that expansion may stay on: those of the given URLs and of where they redirect to."""
        return {source_key(url) for url in self.entries}

    @property
    def entries(self) -> list[str]:
        """The given URLs and the pages they turned out to be, each once."""
        seeds = (self.urls[document_id] for document_id, depth in self.depths.items() if depth == 0)
        return list(dict.fromkeys([*self.seeds, *seeds]))


async def frontier(corpus: Corpus, walk: Walk) -> list[LinkCandidate]:
    """Every unvisited same-site page that the run's documents link to, plus the folders above the seeds; no traps."""
    unread = [document_id for document_id in walk.depths if document_id not in walk.links]
    if unread:
        async with corpus.database.connection() as connection:
            for document_id in unread:
                walk.links[document_id] = []
            for link in await load_links(connection, unread):
                walk.links[link.document_id].append(link)
    return _candidates(walk)


def _candidates(walk: Walk) -> list[LinkCandidate]:
    grouped: dict[str, list[StoredLink]] = {}
    sites = walk.sites
    followed: dict[str, str | None] = {}  # target -> its page, None where it is not to be followed
    for document_id in sorted(walk.links, key=lambda known: (walk.depths[known], walk.urls[known])):
        for link in walk.links[document_id]:
            target = link.target_url
            if target not in followed:
                read = _target(target)
                followed[target] = read.page if read.source in sites and read.page not in walk.visited else None
            page = followed[target]
            if page is not None:
                grouped.setdefault(page, []).append(link)
    found = [_candidate(links[0].target_url, links, walk) for links in grouped.values()]
    known = walk.visited.union(grouped)
    for entry in walk.entries:
        for url in derive_parent_urls(entry):
            if page_key(url) not in known:
                known.add(page_key(url))
                found.append(LinkCandidate(url=url, from_url=entry, link_depth=1))
    return [candidate for candidate in found if not _is_trap(candidate.url, walk.patterns)]


@dataclass(frozen=True, slots=True)
class _Target:
    """What the spelling of a canonical URL says."""

    source: str
    page: str
    pattern: str | None
    is_trap: bool


@lru_cache(maxsize=50_000)  # pages of a site link to the same pages, in every round and every run
def _target(url: str) -> _Target:
    return _Target(source_key(url), page_key(url), url_pattern(url), find_trap(url, {}) is not None)


def _is_trap(url: str, taken: Mapping[str, int]) -> bool:
    """As `find_trap` says, which is asked again only where pages of the same pattern were taken."""
    read = _target(url)
    return find_trap(url, taken) is not None if read.pattern in taken else read.is_trap


def _candidate(url: str, links: Sequence[StoredLink], walk: Walk) -> LinkCandidate:
    content = [link for link in links if not link.in_navigation] or list(links)
    first = content[0]
    return LinkCandidate(
        url=url,
        from_url=first.from_url,
        anchor_texts=tuple(dict.fromkeys(link.anchor_text for link in content if link.anchor_text)),
        context=first.context,
        heading_path=tuple(first.heading_path),
        title=first.title,
        description=first.description,
        link_depth=1 + min(walk.depths[link.document_id] for link in links),
        in_degree=len({link.document_id for link in links}),
        in_navigation=all(link.in_navigation for link in links),
    )


def score_frontier(
    candidates: Sequence[LinkCandidate], query: str, analysis: QueryAnalysis, scorer: LinkScorer
) -> list[ScoredCandidate]:
    """All candidates scored, best first; cutting comes afterwards."""
    if scorer == "seed-weights":
        return seed_weights(candidates, query, analysis)
    return words_and_meaning(candidates, query)


@dataclass(frozen=True, slots=True)
class ExpansionOutcome:
    """What one breadth expansion did."""

    expanded: list[str]
    failed: dict[str, str]
    timed_out: bool
    warnings: list[str] = field(default_factory=list)


async def expand(
    corpus: Corpus,
    walk: Walk,
    chosen: Sequence[ScoredCandidate],
    *,
    round_number: int,
    run_id: str,
    seconds: float,
) -> ExpansionOutcome:
    """Fetch and index the chosen candidates concurrently. A page that fails costs only itself.

    After `seconds` what is still under way is cancelled; whatever is stored by then stays and is whole.
    """
    tasks = {candidate.url: asyncio.create_task(corpus.add(candidate.url, run_id=run_id)) for candidate in chosen}
    try:
        await asyncio.wait(tasks.values(), timeout=max(0.0, seconds))
    finally:
        for task in tasks.values():
            task.cancel()
        await asyncio.gather(*tasks.values(), return_exceptions=True)
    expanded: list[str] = []
    failed: dict[str, str] = {}
    timed_out = False
    warnings: list[str] = []
    for candidate in chosen:  # in the order of their scores, so that two runs take them in alike
        task = tasks[candidate.url]
        if task.cancelled():
            timed_out = True
            continue
        error = task.exception()
        if isinstance(error, FetchError):
            walk.fail(candidate.url, error, round_number=round_number, depth=candidate.link_depth)
            failed[candidate.url] = error.reason.value
        elif error is not None:
            raise error
        else:
            warnings.extend(task.result().warnings)
            if walk.add(candidate.url, task.result(), round_number=round_number, depth=candidate.link_depth):
                expanded.append(task.result().url)
    return ExpansionOutcome(expanded, failed, timed_out, warnings)
