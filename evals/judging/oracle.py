"""The oracle: the minimum set of pages to fetch by links for a gold page per need, in crawl order.

The pages form a minimum Steiner tree of links from the seed (Dreyfus and Wagner).
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from heapq import heapify, heappop, heappush
from itertools import count

from evals.walks.goldens import GoldenQuery

Links = Mapping[str, Collection[str]]
"""Page -> the pages it links to. Every page is a key."""

_Branch = tuple[int, str] | tuple[int, int] | None
"""Next step of a tree from its root: (needs, next page), (needs, other needs) at the same page, or None at a leaf."""


def best_pages(links: Links, seed: str, needs: Sequence[Collection[str]]) -> list[str] | None:
    """Return the seed, then each page after a page that links to it. None when a need is out of reach.

    Each need lists alternative pages. Without needs, only the seed. Ties are broken by page name.
    """
    sources: dict[str, list[str]] = {}
    for page in sorted(links):
        for target in links[page]:
            sources.setdefault(target, []).append(page)
    costs: dict[int, dict[str, int]] = {}
    branches: dict[int, dict[str, _Branch]] = {}
    for subset in range(1, 1 << len(needs)):
        costs[subset], branches[subset] = {}, {}
        if subset & (subset - 1) == 0:
            for page in sorted(needs[subset.bit_length() - 1]):
                if page in links:
                    costs[subset][page], branches[subset][page] = 0, None
        part = (subset - 1) & subset
        while part:
            other = subset ^ part
            for page in sorted(costs[part].keys() & costs[other].keys()):
                both = costs[part][page] + costs[other][page]
                if both < costs[subset].get(page, both + 1):
                    costs[subset][page], branches[subset][page] = both, (other, part)
            part = (part - 1) & subset
        _extend(subset, costs[subset], branches[subset], sources)
    all_needs = (1 << len(needs)) - 1
    if all_needs and seed not in costs[all_needs]:
        return None
    return list(dict.fromkeys([seed, *_tree_pages(branches, all_needs, seed)] if all_needs else [seed]))


def links_within(links: Links, pages: Sequence[str]) -> dict[str, list[str]]:
    """Return the links between `pages` (the seed first). Pages without a link from them are linked from the seed."""
    inside = set(pages)
    targets_by_page = {page: [target for target in sorted(links.get(page, ())) if target in inside] for page in pages}
    linked = {target for targets in targets_by_page.values() for target in targets}
    targets_by_page[pages[0]] += [page for page in pages[1:] if page not in linked]
    return targets_by_page


def oracle_scores(goldens: Sequence[GoldenQuery]) -> dict[str, dict[str, float]]:
    """Scores of the oracle per item, in the metrics of `scoring`."""
    scores = {}
    for golden in goldens:
        score: dict[str, float] = {"pages": golden.oracle_pages, "false_claim": 0.0, "utility": 1.0, "net": 1.0}
        if golden.kind != "unanswerable":
            within = {f"s@{most}": float(golden.oracle_pages <= most) for most in (5, 10, 30)}
            score |= {"success": 1.0, "quotes": 1.0, "stop_exact": 1.0, **within}
        scores[golden.id] = score
    return scores


def _extend(
    subset: int, costs: dict[str, int], branches: dict[str, _Branch], sources: Mapping[str, Sequence[str]]
) -> None:
    """Extend the trees of a subset of needs over further links."""
    turn = count()
    heap = [(cost, next(turn), page) for page, cost in sorted(costs.items())]
    heapify(heap)
    while heap:
        cost, _, page = heappop(heap)
        if cost > costs[page]:
            continue
        for source in sources.get(page, ()):
            if cost + 1 < costs.get(source, cost + 2):
                costs[source], branches[source] = cost + 1, (subset, page)
                heappush(heap, (cost + 1, next(turn), source))


def _tree_pages(branches: Mapping[int, Mapping[str, _Branch]], subset: int, page: str) -> list[str]:
    """Return the pages of a tree below its root, each after a page that links to it."""
    branch = branches[subset][page]
    if branch is None:
        return []
    left, right = branch
    if isinstance(right, str):
        return [right, *_tree_pages(branches, left, right)]
    return [*_tree_pages(branches, left, page), *_tree_pages(branches, right, page)]
