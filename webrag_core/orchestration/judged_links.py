"""Links in the order of a judge that saw their texts beside the evidence, before a page of them is paid for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from webrag_core.judging.verdict import Verdict
from webrag_core.orchestration.link_scorers import LinkCandidate, link_text
from webrag_core.orchestration.models import ScoredCandidate

JUDGE = "judge"
"""Name of the judge's part in the breakdown of a link's score: 1 for its first choice, less for each after it."""

_SHOWN = 20  # links, best first


def shown_links(candidates: Sequence[ScoredCandidate], links: Mapping[str, LinkCandidate]) -> dict[str, str]:
    """The texts of the best 20 candidates, by URL. `links` by URL. A single link is no choice: nothing is shown."""
    chosen = [candidate.url for candidate in candidates[:_SHOWN]]
    return {url: link_text(links[url]) for url in chosen} if len(chosen) > 1 else {}


def in_order_of(
    verdict: Verdict | None, shown: Sequence[str], candidates: Sequence[ScoredCandidate], *, floor: float
) -> list[ScoredCandidate]:
    """The candidates with those that the judge chose of `shown` (URLs) in front, which score `floor` at least: what a
    model reads in a name may share no word with the question. The others' scores stay."""
    chosen = [shown[place] for place in verdict.follow if place < len(shown)] if verdict is not None else []
    by_url = {candidate.url: candidate for candidate in candidates}
    first = [
        by_url[url].model_copy(
            update={
                "score": max(floor, by_url[url].score),
                "score_breakdown": {**by_url[url].score_breakdown, JUDGE: 1 - rank / len(chosen)},
            }
        )
        for rank, url in enumerate(chosen)
        if url in by_url
    ]
    taken = {item.url for item in first}
    return [*first, *(candidate for candidate in candidates if candidate.url not in taken)]
