"""Common English words: those of the reading model's vocabulary, and what is regularly made of them."""

from __future__ import annotations

import re
from bisect import bisect_left
from functools import lru_cache

from webrag_core.language.words import DEFAULT, rules
from webrag_core.providers.reading_model import VOCABULARY

_LEAST = 3  # letters of a word, and of a part of a compound
_LEAST_BASE, _LEAST_AFTER_PREFIX = 4, 5  # letters of what has a suffix or a prefix
_LEAST_COMPOUND = 8
_FREQUENT = 10_000  # places of the vocabulary; of rarer words compounds are hardly made
_ENDS = ("r", "d", "rs", "ment", "ation", "ing")
_PREFIXES = tuple(
    re.findall(
        r"\w+",
        """
    anti auto co de dis down en fore in im inter macro micro mid mis multi non out over post pre re semi sub super
    trans un under up
        """,
    )
)
_SUFFIXES = tuple(
    re.findall(
        r"\w+",
        """
    able age al ant ary ation dom ed en er ers es est ful fully hood ible ic ical ification ify ing ingly ion ise ish
    ism ist ity ive ization ize ized izing less like ly ment ments ness or ous ry ship st th ward wards ways wise y
        """,
    )
)


@lru_cache(maxsize=4096)
def is_common_word(word: str) -> bool:
    """Whether an English word, in any form and case, is one of the some 20,000 common words, places and names of the
    vocabulary, is made of one by a prefix or a suffix, or of two of them."""
    lower = word.lower()
    return _is_known(lower) or _is_derived(lower) or _is_compound(lower)


def is_listed_word(word: str) -> bool:
    """Whether the vocabulary itself has a word, in any case."""
    return word.lower() in _words()


def _is_known(word: str) -> bool:
    if word in _words():
        return True
    term = rules(DEFAULT).term
    stem = term(word)
    # a stem is its words but for their last letters and its own: that of lying, dying and tying alone is another word
    first, words = stem[:-1], _words_in_order()
    alike = words[bisect_left(words, first) : bisect_left(words, f"{first}\uffff")]
    return bool(stem) and any(term(other) == stem for other in alike)


def _is_derived(word: str) -> bool:
    words = _words()
    if any(word + suffix in words for suffix in _ENDS):
        return True
    if any(word.startswith(prefix) and _is_frequent(word[len(prefix) :], _LEAST_AFTER_PREFIX) for prefix in _PREFIXES):
        return True
    return any(word.endswith(suffix) and _is_base(word.removesuffix(suffix)) for suffix in _SUFFIXES)


def _is_base(base: str) -> bool:
    """Whether letters are a word but for what a suffix changes: -e is lost, -y becomes -i."""
    words = _words()
    if base in words or (base.endswith("i") and f"{base[:-1]}y" in words):
        return len(base) >= _LEAST_BASE
    return f"{base}e" in words and len(base) >= _LEAST_BASE - 1


def _is_compound(word: str) -> bool:
    return len(word) >= _LEAST_COMPOUND and any(
        _is_frequent(word[:at], _LEAST) and _is_frequent(word[at:], _LEAST)
        for at in range(_LEAST, len(word) - _LEAST + 1)
    )


def _is_frequent(word: str, least: int) -> bool:
    """Whether a word of so many letters is among the more frequent ones of the vocabulary."""
    return len(word) >= least and _words().get(word, _FREQUENT) < _FREQUENT


@lru_cache(maxsize=1)
def _words() -> dict[str, int]:
    """The whole words of the vocabulary with their place in it, the more frequent first."""
    tokens = VOCABULARY.read_text(encoding="utf-8").split()
    return {token: place for place, token in enumerate(tokens) if token.isalpha() and len(token) >= _LEAST}


@lru_cache(maxsize=1)
def _words_in_order() -> list[str]:
    return sorted(_words())
