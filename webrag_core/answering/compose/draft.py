"""The first step of an answer without a chat model: units of the evidence, scored for each part of the question."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import zip_longest

import numpy as np
from numpy.typing import NDArray

from webrag_core.answering.compose.features import features_about
from webrag_core.answering.compose.reranked import SentenceReranker
from webrag_core.answering.compose.sentence_scores import Query, UnitScores, fitted_scores, score_units
from webrag_core.answering.compose.windows import window_readings
from webrag_core.answering.units import Unit, units_of
from webrag_core.answering.wanted.attributes import below_both_names
from webrag_core.answering.wanted.counted import counting
from webrag_core.answering.wanted.definitions import defining
from webrag_core.answering.wanted.fact import Fact, fact_of
from webrag_core.answering.wanted.sections import Section, listed_for
from webrag_core.answering.wanted.thing import Thing, thing_of
from webrag_core.retrieval.models import RankedChunk
from webrag_core.retrieval.reader import Reader
from webrag_core.text_work import beside_loop

LIKELY, SURE = 1, 2
"""How surely a unit is what the question means: it names a kind of the thing, or the thing itself."""
_SHORT = 5  # words
_AHEAD = 1.0  # of the score: how far the best definition of a term stands before all else
_NEAR = 2  # units before and after that with the fact, among which the thing may be named
Safe = Callable[[list[Unit], str], tuple[list[Unit], Mapping[str, int]]]
"""(units, question) -> the units that may become sentences, and the number of the others by cause."""


@dataclass(frozen=True, slots=True)
class Draft:
    """The units of the evidence, and their scores for each part of the question (the question itself without parts).
    `withheld` = the number of units that must not become sentences, by cause. `things` and `facts` say, per part, which
    units are about what it names, and what it asks for; `meant`, which say what the term is that it asks for,
    or are the steps of the thing, or what it needs."""

    parts: tuple[str, ...]
    units: list[Unit]
    scores: list[UnitScores]
    warnings: list[str]
    withheld: Mapping[str, int]
    things: list[Thing]
    facts: list[Fact]
    meant: list[NDArray[np.int8]]

    @property
    def section_said(self) -> Section | None:
        """What a question of one part asks the lists of, where the evidence has any that may answer."""
        section = self.facts[0].section if len(self.facts) == 1 else None
        return section if section is not None and ((self.meant[0] > 0) & self.scores[0].allowed).any() else None

    @property
    def best_of_all(self) -> list[int]:
        """Indexes of the units, the best of each part in turn."""
        turns = zip_longest(*(score.order for score in self.scores))
        return list(dict.fromkeys(index for turn in turns for index in turn if index is not None))


async def draft_of(
    question: str,
    parts: Sequence[str],
    ranked: Sequence[RankedChunk],
    reader: Reader | None,
    *,
    reranker: SentenceReranker | None = None,
    safe: Safe = lambda units, question: (units, {}),
) -> Draft:
    """Cut the evidence into units and score them; a `reranker` orders them."""
    pool, withheld = await beside_loop(lambda: safe(units_of(ranked), question))
    whole = thing_of(question, pool)
    # things of one kind that are compared are sides of one question: their parts would lack what is compared
    aspects = (question,) if whole.sides else tuple(parts) or (question,)
    units = merged(pool, [(whole if part == question else thing_of(part, pool)).allowed for part in aspects])
    things = [thing_of(part, units) for part in aspects]
    whole = things[0] if len(aspects) == 1 else thing_of(question, units)
    of_question = features_about(question, units, whole)
    scores, facts, meant = [], [], []
    for part, thing in zip(aspects, things, strict=True):
        queries = [Query(question, whole, of_question)]
        if part != question:
            queries.append(Query(part, thing, features_about(part, units, thing)))
        relevance = None
        if reranker is not None:
            relevance = await reranker.relevance(part, units, fitted_scores(queries[-1].features))
        facts.append(fact_of(part))
        holds = np.fromiter((facts[-1].is_in(unit) for unit in units), dtype=np.bool_)
        holds &= counting(units, part)
        sure = defining(units, facts[-1].term) | listed_for(units, facts[-1].section) | below_both_names(units, part)
        kinds = sure if sure.any() else listed_for(units, facts[-1].section, of_a_kind=True)
        meant.append(np.where(sure, SURE, np.where(kinds, LIKELY, 0)).astype(np.int8))
        window = await window_readings([query.text for query in queries], units, reader)
        both = holds & (meant[-1] > 0)
        first = both if both.any() else holds
        scored = await score_units(queries, units, reader, window, relevance, first)
        scored = meant_first(meant[-1], scored)
        scores.append(of_those_with(holds, scored, units) if facts[-1].values else scored)
    warnings = []
    if reader is not None and reader.failure is not None:
        warnings.append(f"composed without the reading model: {reader.failure}")
    if reranker is not None and reranker.failure is not None:
        warnings.append(f"sentences ordered without the reranker: {reranker.failure}")
    return Draft(aspects, units, scores, warnings, withheld, things, facts, meant)


def merged(units: Sequence[Unit], allowed: Sequence[Sequence[bool]]) -> list[Unit]:
    """Units of equal words once, the best of those that may answer some part, with the number of pages that say so.
    Short ones are equal under one heading alone."""
    first: dict[tuple[str, ...], int] = {}
    pages: dict[int, set[int]] = {}
    usable = [any(row[index] for row in allowed) for index in range(len(units))]
    for index in sorted(range(len(units)), key=lambda index: not usable[index]):
        unit = units[index]
        words = unit.text.casefold().split()
        key = tuple(words)
        if unit.is_listed or unit.kind == "code":  # a step stays in each procedure
            key = (*words, "|", str(unit.chunk.version_id), *unit.heading_path, "|", unit.lead)
        elif len(words) < _SHORT:
            key = (*words, "|", *unit.heading_path[-1:])
        kept = first.setdefault(key, index)
        pages.setdefault(kept, set()).add(unit.chunk.document_id)
        pages[kept] |= {other.document_id for other in unit.chunk.also_on if other.is_equal}
    return [replace(units[index], places=len(pages[index])) for index in sorted(pages)]


def meant_first(meant: NDArray[np.int8], scores: UnitScores) -> UnitScores:
    """Scores in which the best of the units that are `meant` comes before all others. Only units that the reader
    read count, where it read any."""
    has_reading = ~np.isnan(scores.reading)
    able = scores.allowed & (meant > 0) & (has_reading if has_reading.any() else True)
    if not able.any():
        return scores
    ahead = scores.total[scores.allowed].max() + _AHEAD - scores.total[able].max()
    return replace(scores, total=np.where(able, scores.total + max(0.0, ahead), scores.total))


def of_those_with(holds: NDArray[np.bool_], scores: UnitScores, units: Sequence[Unit]) -> UnitScores:
    """Scores in which only units that hold the fact (`holds`) are allowed, where any does. One that belongs to a better
    unit, which may name the thing, is worth as much."""
    allowed = scores.allowed & holds
    if holds.all() or not allowed.any():
        return scores
    fitted, reading, total = scores.fitted.copy(), scores.reading.copy(), scores.total.copy()
    for index in map(int, np.flatnonzero(allowed)):
        for near in range(max(0, index - _NEAR), min(len(units), index + _NEAR + 1)):
            beside = scores.allowed[near] and not holds[near] and _belong_together(units[near], units[index])
            if beside and scores.total[near] > total[index]:
                for values, source in ((fitted, scores.fitted), (reading, scores.reading), (total, scores.total)):
                    values[index] = source[near]
    return replace(scores, fitted=fitted, reading=reading, total=total, allowed=allowed)


def _belong_together(unit: Unit, other: Unit) -> bool:
    """Whether two units stand in one paragraph, or in the description of one term."""
    if not unit.stands_with(other):
        return False
    if "definition_list" in unit.flags:
        return True
    first, second = sorted((unit, other), key=lambda each: each.start)
    return "\n" not in first.slice((first.end, second.start))
