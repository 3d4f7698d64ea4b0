"""The oracle: the least pages that following links must fetch to have a gold page for every need, in walking order.

The pages are those of a cheapest tree of links from the seed (Dreyfus and Wagner), so nothing that knows the site's
links and the gold pages can do with fewer.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from heapq import heapify, heappop, heappush
from itertools import count

from evals.walks.goldens import GoldenQuery

Links = Mapping[str, Collection[str]]
"""Page -> the pages it links to. Every page is a key."""

_Branch = tuple[int, str] | tuple[int, int] | None
"""How a tree for some needs goes on from its root: (needs, next page), (needs, other needs) at the same page, or not
at all."""


def best_pages(links: Links, seed: str, needs: Sequence[Collection[str]]) -> list[str] | None:
    """The seed, then every further page after one that links to it. None when some need is out of reach.

    `needs` hold alternative pages each. Without needs it is the seed alone. Equal trees are chosen between by page
    name, so the answer is always the same.
    """
    sources: dict[str, list[str]] = {}
    for page in sorted(links):
        for target in links[page]:
            sources.setdefault(target, []).append(page)
    costs: dict[int, dict[str, int]] = {}
    branches: dict[int, dict[str, _Branch]] = {}
    for wanted in range(1, 1 << len(needs)):
        costs[wanted], branches[wanted] = {}, {}
        if wanted & (wanted - 1) == 0:
            for page in sorted(needs[wanted.bit_length() - 1]):
                if page in links:
                    costs[wanted][page], branches[wanted][page] = 0, None
        part = (wanted - 1) & wanted
        while part:
            other = wanted ^ part
            for page in sorted(costs[part].keys() & costs[other].keys()):
                both = costs[part][page] + costs[other][page]
                if both < costs[wanted].get(page, both + 1):
                    costs[wanted][page], branches[wanted][page] = both, (other, part)
            part = (part - 1) & wanted
        _extend(wanted, costs[wanted], branches[wanted], sources)
    everything = (1 << len(needs)) - 1
    if everything and seed not in costs[everything]:
        return None
    return list(dict.fromkeys([seed, *_walk(branches, everything, seed)] if everything else [seed]))


def links_within(links: Links, pages: Sequence[str]) -> dict[str, list[str]]:
    """The links between `pages` (the seed first). What none of them links to, because it was found in another way,
    hangs on the seed."""
    inside = set(pages)
    found = {page: [target for target in sorted(links.get(page, ())) if target in inside] for page in pages}
    linked = {target for targets in found.values() for target in targets}
    found[pages[0]] += [page for page in pages[1:] if page not in linked]
    return found


def oracle_scores(goldens: Sequence[GoldenQuery]) -> dict[str, dict[str, float]]:
    """What the oracle scores on each item, in the metrics of `scoring`."""
    scores = {}
    for golden in goldens:
        score: dict[str, float] = {"pages": golden.oracle_pages, "false_claim": 0.0, "utility": 1.0, "net": 1.0}
        if golden.kind != "unanswerable":
            within = {f"s@{most}": float(golden.oracle_pages <= most) for most in (5, 10, 30)}
            score |= {"success": 1.0, "quotes": 1.0, "stop_exact": 1.0, **within}
        scores[golden.id] = score
    return scores


def _extend(
    wanted: int, costs: dict[str, int], branches: dict[str, _Branch], sources: Mapping[str, Sequence[str]]
) -> None:
    """Add the trees that reach these over further links."""
    turn = count()
    heap = [(cost, next(turn), page) for page, cost in sorted(costs.items())]
    heapify(heap)
    while heap:
        cost, _, page = heappop(heap)
        if cost > costs[page]:
            continue
        for source in sources.get(page, ()):
            if cost + 1 < costs.get(source, cost + 2):
                costs[source], branches[source] = cost + 1, (wanted, page)
                heappush(heap, (cost + 1, next(turn), source))


def _walk(branches: Mapping[int, Mapping[str, _Branch]], wanted: int, page: str) -> list[str]:
    """The pages of a tree below its root, each after the one that links to it."""
    branch = branches[wanted][page]
    if branch is None:
        return []
    left, right = branch
    if isinstance(right, str):
        return [right, *_walk(branches, left, right)]
    return [*_walk(branches, left, page), *_walk(branches, right, page)]
