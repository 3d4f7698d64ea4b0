"""How likely a text is in each language: which letter follows which, and which Han, kana and Hangul are frequent.

The table comes from lists of word frequencies (`python -m evals.fitting.letter_pairs`). Costs are bits: the logarithm
of how seldom something is. Texts of the same bytes in different charsets are comparable by them.
"""

from __future__ import annotations

import json
import unicodedata
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path

ZERO, MOST = 35, 60
"""Code of the mark for 0 bits, and quarters of bits that the largest mark stands for."""

_TABLE = Path(__file__).with_name("letter_pairs.json")
_LATIN = "en"
_STRANGE_LETTER = 15.0  # a letter that the language lacks, and letters of two scripts in a word
_FOREIGN_WORD = 1.0
_FREQUENT, _FIRST_RANK_BITS = 400, 6.0
_STRANGE_CHARACTER = 18.0
_PUNCTUATION = frozenset("\xa0\xad«»„“”‚‘’‹›–—…·•©®™°§€№×、。，！？：；「」『』（）・ー　〜～《》【】％")
_IN_WORDS = frozenset("\xad’·")
_MARK_IN_WORD, _SYMBOL, _RARE_SYMBOL, _CONTROL, _DAMAGE = 3.0, 6.0, 12.0, 20.0, 25.0
_SYMBOL_IN_WORD, _CASE_BREAK = 8.0, 7.0
_THAI_MARKS = range(0x0E30, 0x0E4F)
_WIDE = range(0x2E80, 0xFFF0)


@dataclass(frozen=True, slots=True)
class Language:
    """What is frequent in a language: costs in bits of a letter behind a letter, or of a character alone."""

    letters: frozenset[str]
    pairs: Mapping[tuple[str, str], float] = field(repr=False)
    characters: Mapping[str, float] = field(repr=False)


@dataclass(frozen=True, slots=True)
class Spelling:
    """What stands in a text: pairs of letters (blank = none), characters of East Asia, and the cost of all the rest."""

    pairs: Mapping[tuple[str, str], int]
    characters: Mapping[str, int]
    rest: float


@lru_cache(maxsize=1)
def languages() -> dict[str, Language]:
    """Every language of the table, by its code in ISO 639-1; `zh-hant` is Chinese in traditional characters."""
    table = json.loads(_TABLE.read_text(encoding="utf-8"))
    return {code: _language(**entry) for code, entry in table.items()}


def _language(letters: str = " ", pairs: str = "", characters: str = "") -> Language:
    costs = [(ord(mark) - ZERO) / 4 for mark in pairs]
    in_order = ((first, second) for first in letters for second in letters) if pairs else ()
    by_pair = dict(zip(in_order, costs, strict=True))
    ranks = {character: _FIRST_RANK_BITS + rank / _FREQUENT for rank, character in enumerate(characters)}
    return Language(frozenset(letters), by_pair, ranks)


def spelling(text: str) -> Spelling:
    """Count what stands in a text."""
    pairs: Counter[tuple[str, str]] = Counter()
    characters: Counter[str] = Counter()
    rest = 0.0
    before, was_lower, in_word = " ", False, False
    for character in text:
        if character in _IN_WORDS:
            rest += _MARK_IN_WORD if before != " " else _RARE_SYMBOL
            continue
        code = ord(character)
        if character.isalpha() or code in _THAI_MARKS:
            if code in _WIDE:
                characters[character] += 1
                letter = " "
            else:
                letter = character.casefold()[0]  # as the lists of words are folded
            is_upper = character.isupper()
            if was_lower and is_upper:
                rest += _CASE_BREAK
            if in_word:
                rest += _SYMBOL_IN_WORD
            was_lower, in_word = not is_upper, False
        else:
            letter, was_lower, in_word = " ", False, False
            if code > 0x7F:
                rest += _symbol_cost(character, code)
                in_word = before != " " and character not in _PUNCTUATION
        if letter != " " or before != " ":
            pairs[before, letter] += 1
        before = letter
    if before != " ":
        pairs[before, " "] += 1
    return Spelling(pairs, characters, rest)


def _symbol_cost(character: str, code: int) -> float:
    if character in _PUNCTUATION:
        return _SYMBOL
    if code == 0xFFFD:
        return _DAMAGE
    return _CONTROL if unicodedata.category(character) in ("Cc", "Co", "Cn") else _RARE_SYMBOL


def cost(spelled: Spelling, language: Language, latin: Language) -> float:
    """Bits that a text costs in a language; words in plain Latin letters count as English, `latin`."""
    total = spelled.rest
    for pair, count in spelled.pairs.items():
        bits = language.pairs.get(pair)
        if bits is None:
            bits = latin.pairs.get(pair, _STRANGE_LETTER - _FOREIGN_WORD) + _FOREIGN_WORD
        total += bits * count
    for character, count in spelled.characters.items():
        total += language.characters.get(character, _STRANGE_CHARACTER) * count
    return total
