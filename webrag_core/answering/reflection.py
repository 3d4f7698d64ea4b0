"""Reflection: what the sentences leave open, and where they disagree. It sees exactly the evidence that was used."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from itertools import combinations

from webrag_core.answering.models import AnswerSentence, Disagreement, Missing, Why
from webrag_core.history.facts import facts_changed
from webrag_core.indexing.terms import terms

_WITHOUT = re.compile(r"\bwithout\b", re.IGNORECASE)  # negates a circumstance, not what is said
_SAME_SUBJECT = 0.6  # share of the content terms of the longer sentence that the other has too


def missing_parts(
    parts: Sequence[str],
    sentences: Sequence[AnswerSentence],
    looked_at: int,
    *,
    below_floor: bool,
    unanswered: Collection[int] = (),
) -> list[Missing]:
    """The parts of the question without a sentence, and those that who chose the sentences calls `unanswered` (index).
    `below_floor`: none is said, because none is sure enough."""
    covered = {sentence.part for sentence in sentences}.difference(unanswered)
    why: Why = "below_floor" if below_floor and looked_at else "not_found"
    return [
        Missing(part=number, text=part, why=why, looked_at=looked_at)
        for number, part in enumerate(parts)
        if number not in covered
    ]


def disagreements(sentences: Sequence[AnswerSentence]) -> list[Disagreement]:
    """Pairs of sentences that speak of the same and differ in a number, a version or a negation."""
    pairs = []
    for one, other in combinations(sentences, 2):
        first, second = set(terms(one.text)), set(terms(other.text))
        if not first or not second or "\n" in one.text + other.text:  # code differs without contradiction
            continue
        if len(first & second) / max(len(first), len(second)) >= _SAME_SUBJECT:
            facts = facts_changed(_WITHOUT.sub(" ", one.text), _WITHOUT.sub(" ", other.text))
            if facts:
                pairs.append(Disagreement(sentences=(one.ordinal, other.ordinal), about=", ".join(facts)))
    return pairs
