"""What of the gold a text holds: the label of the fits, and the figures of answers."""

from __future__ import annotations

from difflib import SequenceMatcher

from evals.walks.goldens import GoldenQuery
from evals.walks.scoring import page_of, squash

HIT = 0.5
"""Share of a gold quote that a sentence must hold to count as it: a quote may be longer than a sentence."""
_SHORTEST = 8  # letters of a text that can be part of a quote
_LEAST_SHARED = 20  # letters in a row


def gold_shares(golden: GoldenQuery, url: str, text: str) -> dict[int, float]:
    """For each need whose gold page is `url`: the largest share, in (0, 1], of one of its quotes that stands in `text`
    in one piece. Letters and digits count alone."""
    letters = squash(text)
    shares: dict[int, float] = {}
    if len(letters) < _SHORTEST:
        return shares
    for need, (pages, quotes) in enumerate(zip(golden.gold_pages, golden.gold_quotes, strict=True)):
        if page_of(url) in {page_of(page) for page in pages}:
            share = max((_share(squash(quote), letters) for quote in quotes), default=0.0)
            if share > 0:
                shares[need] = share
    return shares


def _share(quote: str, letters: str) -> float:
    if quote in letters:
        return 1.0
    if letters in quote:
        return len(letters) / len(quote)
    shared = SequenceMatcher(None, quote, letters, autojunk=False).find_longest_match().size
    return shared / len(quote) if shared >= max(_LEAST_SHARED, HIT * len(quote)) else 0.0
