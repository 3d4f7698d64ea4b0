"""The frontier of a run: pages fetched so far, links that could be followed next, and fetching some of them."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from urllib.parse import urlsplit

from webrag_core.acquisition.traps import count_patterns, find_trap, url_pattern
from webrag_core.acquisition.urls import page_key, source_key
from webrag_core.acquisition.variants import is_download, is_other_language, is_print_view
from webrag_core.corpus.documents import StoredLink, load_links
from webrag_core.corpus.page_batches import gather_bounded
from webrag_core.errors import EmbeddingError, FetchError, Reason
from webrag_core.indexing.pipeline import AddedDocument, Corpus
from webrag_core.orchestration.link_scorers import LinkCandidate
from webrag_core.orchestration.memory import MappedPage
from webrag_core.orchestration.models import RunDocument, ScoredCandidate
from webrag_core.result_warnings import Caution
from webrag_core.retrieval.scope import Scope


@dataclass(frozen=True, slots=True)
class Preview:
    """A page that was fetched and indexed, and is no part of the evidence yet."""

    document_id: int
    url: str
    link_depth: int


@dataclass(slots=True)
class Frontier:
    """Documents of a run with their link depth, every page key visited, the links of the documents, and previews."""

    seeds: tuple[str, ...]
    depths: dict[int, int] = field(default_factory=dict)
    urls: dict[int, str] = field(default_factory=dict)
    visited: set[str] = field(default_factory=set)
    patterns: Counter[str] = field(default_factory=Counter)  # URL patterns of requested and of final URLs
    documents: list[RunDocument] = field(default_factory=list)
    links: dict[int, list[StoredLink]] = field(default_factory=dict)
    previews: dict[int, Preview] = field(default_factory=dict)  # not read, by document id
    stored: dict[int, str] = field(default_factory=dict)  # URLs of stored pages in scope that no passage came from yet
    mapped: list[MappedPage] = field(default_factory=list)  # pages that site maps name, best first

    def add(
        self, requested: str, added: AddedDocument, *, round_number: int, depth: int, preview: bool = False
    ) -> bool:
        """Add a fetched page, as a preview or as one to read. False for a document that the run already has under
        another URL; it counts as a request all the same."""
        self.visited |= {page_key(requested), page_key(added.url)}
        self.patterns.update({pattern for pattern in map(url_pattern, (requested, added.url)) if pattern is not None})
        new = added.document_id not in self.urls
        if new:
            self.urls[added.document_id] = added.url
            if preview:
                self.previews[added.document_id] = Preview(added.document_id, added.url, depth)
            else:
                self.depths[added.document_id] = depth
        document = run_document(requested, added, round_number=round_number, depth=depth, preview=preview)
        if not new:
            same = {"url": requested, "reason": f"the same page as {self.urls[added.document_id]}"}
            document = document.model_copy(update={**same, "outcome": "duplicate", "preview": False})
        self.documents.append(document)
        return new

    def read(self, document_id: int, *, round_number: int) -> RunDocument:
        """Take a previewed page into the evidence, and return it. It then stands last in `documents`, which lists pages
        in the order of reading."""
        chosen = self.previews.pop(document_id)
        self.depths[document_id] = chosen.link_depth
        place = next(
            i for i, document in enumerate(self.documents) if document.document_id == document_id and document.preview
        )
        self.documents.append(self.documents.pop(place).model_copy(update={"preview": False, "round": round_number}))
        return self.documents[-1]

    def remember(self, stored: Mapping[int, str]) -> None:
        """Add stored pages to the scope. They need no fetching, so links to them are no candidates."""
        new = {document_id: url for document_id, url in stored.items() if document_id not in self.urls}
        self.stored.update(new)
        self.urls.update(new)
        self.visited.update(map(page_key, new.values()))

    def use(self, document_ids: Iterable[int], *, round_number: int) -> list[RunDocument]:
        """Count stored pages as read: passages of them are evidence, and links on them are candidates from now on.
        Returns those that were not before."""
        known = len(self.documents)
        for document_id in document_ids:
            url = self.stored.pop(document_id, None)
            if url is not None:
                self.depths[document_id] = 1
                self.documents.append(
                    RunDocument(url=url, document_id=document_id, round=round_number, link_depth=1, outcome="stored")
                )
        return self.documents[known:]

    @property
    def scope(self) -> Scope:
        """What may be evidence: the pages read, and the stored ones."""
        return Scope.of({**dict.fromkeys(self.stored, 1), **self.depths})

    def fail(self, url: str, error: FetchError, *, round_number: int, depth: int, preview: bool = False) -> None:
        """Record a failed page. It is not tried again in this run."""
        self.visited.add(page_key(url))
        self.patterns.update(count_patterns([url]))
        self.documents.append(run_document(url, error, round_number=round_number, depth=depth, preview=preview))

    @property
    def tried(self) -> int:
        """Pages of the run that count towards its limit."""
        return pages_tried(self.documents)

    @property
    def sites(self) -> set[str]:
        """Source keys that links may lead to: those of the given URLs and of their redirect targets."""
        return {source_key(url) for url in self.entries}

    @property
    def entries(self) -> list[str]:
        """The given URLs and the final URLs of their pages, each once."""
        seeds = (self.urls[document_id] for document_id, depth in self.depths.items() if depth == 0)
        return list(dict.fromkeys([*self.seeds, *seeds]))

    async def load_candidates(self, corpus: Corpus) -> list[LinkCandidate]:
        """Every unvisited page of the same sites that the run's documents and previews link to, the folders above the
        seeds, and pages that site maps name. Crawler traps, downloads, print views and other languages are left out."""
        document_ids = [*self.depths, *self.previews]
        missing = [document_id for document_id in document_ids if document_id not in self.links]
        if missing:
            async with corpus.database.connection() as connection:
                for document_id in missing:
                    self.links[document_id] = []
                for link in await load_links(connection, missing):
                    self.links[link.document_id].append(link)
        return self.candidates()

    def candidates(self) -> list[LinkCandidate]:
        """As `load_candidates`, from the links loaded so far."""
        grouped: dict[str, list[StoredLink]] = {}
        sites, entries = self.sites, self.entries
        pages: dict[str, str | None] = {}
        for document_id in sorted(self.links, key=lambda known: (self._depth(known), self.urls[known])):
            for link in self.links[document_id]:
                target = link.target_url
                if target not in pages:
                    pages[target] = self._to_follow(target, sites)
                page = pages[target]
                if page is not None and not is_other_language(target, link.from_url):
                    grouped.setdefault(page, []).append(link)
        candidates = [self._candidate(links[0].target_url, links) for links in grouped.values()]
        seen = self.visited.union(grouped)
        for entry in entries:
            for url in parent_urls(entry):
                if page_key(url) not in seen:
                    seen.add(page_key(url))
                    candidates.append(LinkCandidate(url=url, from_url=entry, link_depth=1))
        for item in self.mapped:
            page = self._to_follow(item.url, sites)
            if page is not None and page not in seen and not is_other_language(item.url, entries[0]):
                seen.add(page)
                candidates.append(_mapped(item, entries[0]))
        return [candidate for candidate in candidates if not _is_trap(candidate.url, self.patterns)]

    def _to_follow(self, url: str, sites: Collection[str]) -> str | None:
        """Page key of `url`; None for a page that was visited or must not be followed."""
        parsed = _target(url)
        allowed = parsed.source in sites and parsed.page not in self.visited and not parsed.no_page
        return parsed.page if allowed else None

    def _depth(self, document_id: int) -> int:
        preview = self.previews.get(document_id)
        return self.depths[document_id] if preview is None else preview.link_depth

    def _candidate(self, url: str, links: Sequence[StoredLink]) -> LinkCandidate:
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
            link_depth=1 + min(self._depth(link.document_id) for link in links),
            in_degree=len({link.document_id for link in links}),
            in_navigation=all(link.in_navigation for link in links),
        )


def pages_tried(documents: Iterable[RunDocument]) -> int:
    """The pages of `documents` that count towards the limit of a run: those that were read or previewed, or those that
    failed if these are more. Dead links take no place from pages that are there. Stored pages are not asked for."""
    outcomes = Counter(document.outcome for document in documents)
    failed = outcomes["failed"]
    return max(failed, outcomes.total() - outcomes["stored"] - failed)


def run_document(
    requested: str, result: AddedDocument | FetchError, *, round_number: int, depth: int, preview: bool
) -> RunDocument:
    """The record of a page that was asked for by itself, whatever else the run has."""
    if isinstance(result, FetchError):
        return RunDocument(
            url=requested,
            document_id=None,
            round=round_number,
            link_depth=depth,
            outcome="failed",
            reason=result.reason.value,
            preview=preview,
        )
    return RunDocument(
        url=result.url,
        document_id=result.document_id,
        round=round_number,
        link_depth=depth,
        outcome="reused" if result.outcome == "reused" else "fetched",
        preview=preview,
    )


def _mapped(entry: MappedPage, from_url: str) -> LinkCandidate:
    return LinkCandidate(
        url=entry.url, from_url=from_url, link_depth=1, title=entry.title, description=entry.description
    )


@dataclass(frozen=True, slots=True)
class _Target:
    """Properties of a canonical URL that follow from its spelling."""

    source: str
    page: str
    pattern: str | None
    no_page: bool
    is_trap: bool


@lru_cache(maxsize=50_000)  # pages of a site link to the same pages, in every round and every run
def _target(url: str) -> _Target:
    no_page = is_download(url) or is_print_view(url)
    return _Target(source_key(url), page_key(url), url_pattern(url), no_page, find_trap(url, {}) is not None)


def _is_trap(url: str, patterns: Mapping[str, int]) -> bool:
    """Cached `find_trap`, computed again only after fetching pages of the same pattern."""
    parsed = _target(url)
    return find_trap(url, patterns) is not None if parsed.pattern in patterns else parsed.is_trap


def parent_urls(url: str) -> list[str]:
    """URLs of the folders above `url`, nearest first, without the root (too general), query and fragment.

    `https://h/stable/modules/x.html` -> `https://h/stable/modules/`, `https://h/stable/`. Empty for a page at the root
    and for anything but an http or https URL (specification 000, section 10).
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


@dataclass(frozen=True, slots=True)
class Expansion:
    """Result of following links: URLs of new pages, failed URLs with their errors, and warnings of the pages."""

    expanded: list[str] = field(default_factory=list)
    failed: dict[str, FetchError] = field(default_factory=dict)
    warnings: list[Caution] = field(default_factory=list)
    embedding_error: EmbeddingError | None = None


Arrived = Callable[[str, AddedDocument | FetchError], None]
"""Is called with the URL that was asked for, and what came of it."""


async def fetch_pages(
    corpus: Corpus,
    frontier: Frontier,
    pages: Mapping[str, int],
    *,
    round_number: int,
    run_id: str,
    seconds: Mapping[str, float],
    max_age: float | None = None,
    preview: bool = False,
    arrived: Arrived = lambda url, result: None,
) -> Expansion:
    """Fetch and index `pages` (URL -> link depth), a few at a time, and add them to the frontier in the given order, to
    be read or as previews.

    Each page has its own time limit in `seconds`, which counts from now; what is unfinished then is cancelled and
    fails with reason `timeout`. Stored data is always whole. Fetch and embedding failures cost only their page.
    `arrived` hears of each page at once.
    """
    begun = asyncio.get_running_loop().time()
    results: dict[str, AddedDocument | FetchError] = {}
    embedding_errors: dict[str, EmbeddingError] = {}

    async def add(url: str) -> AddedDocument:
        try:
            async with asyncio.timeout_at(begun + seconds[url]):
                return await corpus.add(url, run_id=run_id, max_age=max_age)
        except TimeoutError:
            raise FetchError(Reason.TIMEOUT, f"not fetched within {seconds[url]:.0f} s") from None
        except EmbeddingError as error:
            embedding_errors[url] = error
            raise FetchError(Reason.PROVIDER_FAILED, f"not indexed: {error.message}") from None

    def done(url: str, result: AddedDocument | FetchError) -> None:
        results[url] = result
        arrived(url, result)

    await gather_bounded(pages, add, done)
    for url, result in results.items():
        if isinstance(result, AddedDocument) and result.waiting:
            embedding_errors.setdefault(url, EmbeddingError("the embedding model gives no vectors"))
    expansion = Expansion(embedding_error=next(iter(embedding_errors.values()), None))
    for url, depth in pages.items():  # in the given order, so that two runs agree
        result = results[url]
        if isinstance(result, FetchError):
            frontier.fail(url, result, round_number=round_number, depth=depth, preview=preview)
            expansion.failed[url] = result
        else:
            expansion.warnings.extend(result.warnings)
            if frontier.add(url, result, round_number=round_number, depth=depth, preview=preview):
                expansion.expanded.append(result.url)
    return expansion


_INDEX_SHARE = 3


def previews_to_fetch(
    candidates: Sequence[ScoredCandidate], frontier: Frontier, *, limit: int, floor: float
) -> list[ScoredCandidate]:
    """As `chosen_candidates`, but every third place goes to what the site's own search index ranks first."""
    by_page = {_target(candidate.url).page: candidate for candidate in candidates}
    pages = (_target(item.url).page for item in frontier.mapped if item.indexed)
    indexed = [by_page[page] for page in pages if page in by_page][: limit // _INDEX_SHARE]
    others = [candidate for candidate in candidates if candidate not in indexed]
    return chosen_candidates([*indexed, *others], frontier, limit=limit, floor=floor)


def chosen_candidates(
    candidates: Sequence[ScoredCandidate], frontier: Frontier, *, limit: int, floor: float
) -> list[ScoredCandidate]:
    """The first candidates at or above `floor`, at most `limit`, and never so many of one URL pattern that the last of
    them would be a trap."""
    patterns = frontier.patterns.copy()
    chosen: list[ScoredCandidate] = []
    for candidate in candidates:
        if len(chosen) >= limit:
            break
        if candidate.score >= floor and find_trap(candidate.url, patterns) is None:
            patterns.update(count_patterns([candidate.url]))
            chosen.append(candidate)
    return chosen
