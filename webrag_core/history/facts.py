"""Which facts differ between two texts: numbers, versions, negation, deprecation. Pure; by words, English."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from typing import Literal

from webrag_core.indexing.markdown import plain_text

Fact = Literal["number", "version", "negation", "deprecation"]

_NUMBER = re.compile(r"(?<![\w.])v?\d+(?:[.,:/-]\d+)*(?:\.[xX*])?%?", re.ASCII)
_NUMBER_WORDS = (
    "zero one two three four five six seven eight nine ten eleven twelve twenty thirty forty fifty sixty hundred"
    " thousand million billion once twice half double triple"
)
_VERSION = re.compile(
    r"(?:\b(?:versions?|releases?|since|python|api)\s+|\bv)\d+(?:\.\w+)*|\b\d+\.\d+(?:\.\w+)+\b|\b\d+\.\d+(?=\s+(?:or|and)"
    r" (?:later|newer|above|earlier|older))",
    re.IGNORECASE,
)
_NEGATIONS = (
    "not no never none nor neither without cannot nothing nobody nowhere unless except hardly unable impossible"
    " unsupported disallowed forbidden prohibited"
)
_DEPRECATIONS = (
    "deprecated deprecates deprecation obsolete removed discouraged superseded legacy unmaintained discontinued"
)
_WORDS = {
    "number": frozenset(_NUMBER_WORDS.split()),
    "negation": frozenset(_NEGATIONS.split()),
    "deprecation": frozenset(_DEPRECATIONS.split()),
}
_WORD = re.compile(r"[^\W\d_]+(?:['’]t\b)?")
_NO_LONGER = re.compile(r"\bno longer\b", re.IGNORECASE)


def facts_changed(before: str, after: str) -> list[Fact]:
    """Kinds of facts of which one text (Markdown) states others than the other, or states them more often; sorted."""
    old, new = _facts(before), _facts(after)
    return sorted(kind for kind in old if old[kind] != new[kind])


def numbers_differ(text: str, other: str) -> bool:
    """Whether each text (Markdown) states a number that the other does not: one that says more is no contradiction."""
    first, second = _facts(text)["number"], _facts(other)["number"]
    return bool(first.keys() - second.keys() and second.keys() - first.keys())


def deprecation_changed(before: str, after: str) -> bool:
    """Whether one text (Markdown) has other notes of deprecation than the other."""
    old, new = plain_text(before), plain_text(after)
    return _deprecations(old, _words(old)) != _deprecations(new, _words(new))


def _facts(markdown: str) -> dict[Fact, Counter[str]]:
    text = plain_text(markdown)
    versions = [match.group().lower() for match in _VERSION.finditer(text)]
    numbers = [match.group() for match in _NUMBER.finditer(_VERSION.sub(" ", text))]
    words = _words(text)
    return {
        "number": Counter(numbers) + Counter(word for word in words if word in _WORDS["number"]),
        "version": Counter(versions),
        "negation": Counter(word for word in words if word in _WORDS["negation"] or word == "n't"),
        "deprecation": _deprecations(text, words),
    }


def _deprecations(text: str, words: Sequence[str]) -> Counter[str]:
    notes = Counter(word for word in words if word in _WORDS["deprecation"])
    return notes + Counter("no longer" for _ in _NO_LONGER.finditer(text))


def _words(text: str) -> list[str]:
    return [_plain_word(match.group().lower()) for match in _WORD.finditer(text)]


def _plain_word(word: str) -> str:
    """ "isn't" counts as a negation, whatever is negated; "can't" and "cannot" say the same."""
    if word.endswith(("n't", "n’t")):
        return "cannot" if word.startswith("ca") else "not"
    return word
