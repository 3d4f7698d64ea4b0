"""Reflection: what the sentences leave open, where they disagree, when and for what they hold, and why they are as sure
as they are. Facts alone, found by code; it sees exactly the evidence that was used."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence
from itertools import combinations
from urllib.parse import urlsplit

from webrag_core.answering.compose.select import Choice
from webrag_core.answering.models import AnswerSentence, Coherence, Disagreement, Missing, SentenceCitation, Why
from webrag_core.answering.verdicts import absent_note
from webrag_core.answering.wanted.fact import Fact
from webrag_core.answering.wanted.thing import Thing
from webrag_core.answering.wanted.versions import version_of, versions_in
from webrag_core.corpus.version_paths import versioned_paths
from webrag_core.history.facts import facts_changed, numbers_differ
from webrag_core.indexing.terms import terms
from webrag_core.judging.verdict import Verdict
from webrag_core.routing.question import Form, Question
from webrag_core.routing.results import TaskReport

# "without" negates a circumstance, and a quoted "no sound" is a name: neither negates what is said
_WITHOUT = re.compile(r"\bwithout\b|[\"“`][^\"“”`\n]{0,40}\b(?:no|not|never)\b[^\"“”`\n]{0,40}[\"”`]", re.IGNORECASE)
_NUMBER = re.compile(r"\d+(?:\.\d+)*")
_WHOLE = re.compile(r"(?<![\w.])[vV]?(\d{1,4})(?!\w|\.\d)")
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
    for sentence, other in combinations(sentences, 2):
        first, second = set(terms(sentence.text)), set(terms(other.text))
        if not first or not second or "\n" in sentence.text + other.text:  # code differs without contradiction
            continue
        if len(first & second) / max(len(first), len(second)) >= _SAME_SUBJECT:
            texts = _WITHOUT.sub(" ", sentence.text), _WITHOUT.sub(" ", other.text)
            facts = [fact for fact in facts_changed(*texts) if fact != "number" or numbers_differ(*texts)]
            if facts:
                pairs.append(Disagreement(sentences=(sentence.ordinal, other.ordinal), about=", ".join(facts)))
    return pairs


def coherence_of(
    sentences: Sequence[AnswerSentence],
    differing: Sequence[Disagreement],
    contradictions: Sequence[str],
    verdict: Verdict | None,
) -> tuple[Coherence | None, str]:
    """Whether sentences, or passages that a judge has read (its `contradictions`), contradict each other, and which do.
    None where neither two sentences nor a judge's verdict could have shown it."""
    pairs = [f"sentences {item.sentences[0]} and {item.sentences[1]} differ: {item.about}" for item in differing]
    if pairs or contradictions:
        return "incoherent", "; ".join([*pairs, *contradictions])
    return (None, "") if len(sentences) < 2 and verdict is None else ("coherent", "")


def applicability(question: Question, citations: Sequence[SentenceCitation], things: Sequence[Thing]) -> list[str]:
    """For what the quotes hold, where that is not what the question names: the date that was given with it, the version
    of their pages, the sites; and the version, number or code that no passage speaks of."""
    other = [absent_note(thing) for thing in things if len(thing.absent) > len(thing.absent_names)]
    if not citations:
        return other
    notes = []
    if question.at is not None:
        held = "the texts that hold" if question.time == "valid" else "the pages as they were seen"
        notes.append(f"this is from {held} at the date that was given, {question.at}")
    if question.is_dated:
        notes.append("only pages that state a date within the limits that were given were searched")
    versions = _versions_of(citations)
    if versions and not _names_one(question.text, versions):
        named = ", ".join(dict.fromkeys(item.text for item in versions_in(question.text)))
        label = f"version{'s' if len(versions) > 1 else ''} {', '.join(versions)}"
        notes.append(f"the addresses of the pages name {label}, and the question names {named or 'none'}")
    sites = {_site(citation.url) for citation in citations}
    given = dict.fromkeys(map(_site, question.urls))
    unquoted = [site for site in given if site not in sites]
    if sites & given.keys() and unquoted:
        notes.append(f"nothing is quoted from {', '.join(unquoted)}, which was given too")
    return [*dict.fromkeys(other), *notes]


def _versions_of(citations: Sequence[SentenceCitation]) -> list[str]:
    """Numbers of versions that stand in the addresses of quotes, distinct; none where some address names none."""
    labels = [
        [path.label for path in versioned_paths(citation.url) if path.label[-1:].isdigit()] for citation in citations
    ]
    return list(dict.fromkeys(label for row in labels for label in row)) if all(labels) else []


def _names_one(question: str, labels: Sequence[str]) -> bool:
    """Whether a question names a version that some label is, or is of: 3 and 3.12 for `v3.12`."""
    numbers = [match.group() for match in map(_NUMBER.search, labels) if match is not None]
    firsts = {number.partition(".")[0] for number in numbers}
    if firsts.intersection(_WHOLE.findall(question)):
        return True
    return any(item.holds(version_of(number)) for item in versions_in(question) for number in numbers)


def _site(url: str) -> str:
    return (urlsplit(url).hostname or url).removeprefix("www.")


def lacking(form: Form, things: Sequence[Thing], facts: Sequence[Fact], choices: Sequence[Choice]) -> list[str]:
    """What lowers the confidence in what is said or shown: a name that no passage speaks of, a kind of value or code
    that no sentence has, steps that none describes."""
    notes = [absent_note(thing) for thing in things if thing.absent_names]
    for part, fact in enumerate(facts):
        units = [choice.saying.unit for choice in choices if choice.part == part]
        if units and not any(fact.is_in(unit) for unit in units):
            kind = "the kind of value that is asked for" if fact.values else "the code that is asked for"
            notes.append(f"no sentence has {kind}")
    if form == "steps" and choices and not any(choice.saying.unit.says_how for choice in choices):
        notes.append("the question asks how to do something, and no sentence is a step or code")
    return list(dict.fromkeys(notes))


def uncertainty(
    reasons: Iterable[str], lacks: Iterable[str], missing: Sequence[Missing], tasks: Sequence[TaskReport]
) -> list[str]:
    """The `reasons` for the confidence, what the evidence lacks, the parts without a sentence, and the lost tasks."""
    open_parts = [part.as_note for part in missing]
    return list(dict.fromkeys(filter(None, [*reasons, *lacks, *open_parts, *(task.loss for task in tasks)])))
