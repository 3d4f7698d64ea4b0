"""Sentences that say what a term is: "X is a …", "… is known as X", "X means …". Rules for English, French, German."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from webrag_core.answering.units import Unit
from webrag_core.late_pattern import late_pattern

_MOST_WORDS = 4  # of a term
_MAX_READ = 200
_ARTICLES = r"(?:(?:an?|the|une?|les?|la|des|ein|eine|einen|der|die|das)\s+|l['’]\s?|d['’]\s?)"
_QUESTION = late_pattern(
    rf"(?:(?:what|who)(?:['’]s|\s+(?:is|are|was|were))\s+(?:meant\s+by\s+)?|what\s+do(?:es)?\s+(?=.*\s(?:means?|stands?\s+for)\W*$)"
    rf"|define\s+|(?:the\s+)?(?:meaning|definition)\s+of\s+|what\s+is\s+the\s+(?:meaning|definition)\s+of\s+"
    rf"|qu['’]est[- ]ce\s+qu(?:e\s+|['’]\s?)|c['’]est\s+quoi\s+|was\s+(?:ist|sind|bedeutet|heißt)\s+)"
    rf"{_ARTICLES}?(?P<term>[^\s?.,;:]+(?:\s+[^\s?.,;:]+){{0,{_MOST_WORDS - 1}}}?)(?:\s+(?:means?|stands?\s+for))?\W*$"
    rf"|(?P<words>[^\s?.,;:]+(?:\s+[^\s?.,;:]+){{0,{_MOST_WORDS - 1}}})\s+(?:meaning|definition)\W*$",
    re.IGNORECASE,
)
_NO_PART = late_pattern(  # of a term: it belongs to something, or stands for it
    r"(?<![\w-])(?:of|for|in|on|at|to|from|by|with|about|between|than|pour|dans|sur|à|von|für|auf|bei|mit|aus|zwischen"
    r"|it|this|that|they|there|he|she|here)(?![\w-])",
    re.IGNORECASE,
)
_IS = r"(?:is|are|was|were|est|sont|ist|sind)"
_NO_DEFINITION = (  # "a separate topic", "an important subject": what is said about the term, not what it is
    r"(?!(?:\w+\s+){0,2}(?:topics?|subjects?|issues?|chapters?|sections?|examples?|concerns?|questions?|problems?"
    r"|thema|sujet|exemple|beispiel)\b)"
)
_CALLED = r"(?:known\s+as|called|termed|referred\s+to\s+as|appelée?s?|nommée?s?|genannt|bezeichnet\s+als)"
_MEANS = r"(?:means?|denotes?|refers?\s+to|stands?\s+for|describes?|désigne|signifie|bedeutet|bezeichnet)"

_LETTERS = re.compile(r"[A-Za-z]{2,8}")
_NAME_WORD = late_pattern(
    r"(?<!\w)(?!(?:of|and|the|for|in|on|to|a|et|de|des|du|la|le|les|und|für|der|die|das)\b)[^\W\d_]+", re.IGNORECASE
)


def term_of(question: str) -> str:
    """The term whose meaning `question` asks for, of at most four words; "" where it asks for something else."""
    match = _QUESTION.match(question.strip()[:_MAX_READ])
    if match is None:
        return ""
    term = (match["term"] or match["words"]).strip("'\"“”‘’«»`*")
    return "" if _NO_PART.search(term) else term


def defining(units: Sequence[Unit], term: str) -> NDArray[np.bool_]:
    """Which units say what `term` is, shape (units,): by their words, or as the beginning of the term's description."""
    says = np.zeros(len(units), dtype=np.bool_)
    for index, unit in enumerate(units) if term else ():
        if "definition_list" in unit.flags and unit.kind != "term" and unit.heading_path:
            begins = index == 0 or units[index - 1].kind == "term" or not units[index - 1].stands_with(unit)
            says[index] = begins and _named(term).fullmatch(unit.heading_path[-1]) is not None
        else:
            says[index] = says_what(unit.text, term)
    return says


def says_what(text: str, term: str) -> bool:
    """Whether a sentence says what `term` is, or spells it out: "Automated Teller Machine (ATM)"."""
    return _pattern(term).search(text) is not None or (
        _LETTERS.fullmatch(term) is not None and _spells(text, term.upper())
    )


def _spells(text: str, letters: str) -> bool:
    """Whether the words beside letters in brackets, or those in brackets behind them, begin with these letters."""
    for match in re.finditer(rf"([^()]{{3,120}})\({letters}\)|(?<!\w){letters}\s?\(([^()]{{3,120}})\)", text):
        initials = "".join(word[0] for word in _NAME_WORD.findall(match[1] or match[2])).casefold()
        if initials.endswith(letters.casefold()) if match[1] else initials == letters.casefold():
            return True
    return False


@lru_cache(maxsize=64)  # asked for each unit of the evidence
def _pattern(term: str) -> re.Pattern[str]:
    name = rf"{_ARTICLES}?[\"“'‘«]?{_spelled(term)}[\"”'’»]?"
    begins = r"(?:^|[,;:–—(]\s*|\b(?:that|where|dass|que|où)\s+)"
    aside = r"(?:\s*\([^()]{1,40}\))?,?\s+"
    kind = rf"(?:{_ARTICLES}|(?:any|one\s+of|when|where|how|what|[a-z]+\s+(?:that|which|who))\s){_NO_DEFINITION}"
    says = rf"{begins}{name}{aside}(?:{_IS}\s+[\"“„«]?(?:{kind}|(?:\w+ly\s+)?(?:defined\s+as|equal\s+to)\s)|{_MEANS}\b)"
    return re.compile(rf"{says}|\b{_CALLED}\s+{name}(?![\w-])", re.IGNORECASE)


@lru_cache(maxsize=64)
def _named(term: str) -> re.Pattern[str]:
    return re.compile(rf"{_ARTICLES}?[\"“'‘«`]?{_spelled(term)}[\"”'’»`]?(?:\s*\([^()]*\))?\W*", re.IGNORECASE)


def _spelled(term: str) -> str:
    """A pattern for the words of a term, in the singular or the plural."""
    words = [re.escape(word) for word in term.split()]
    words[-1] = re.sub(r"(?:es|s)$", "", words[-1]) if len(words[-1]) > 4 else words[-1]
    return r"[\s-]+".join(words) + r"(?:e?s|n|en)?"
