"""Typing errors: which words may have been meant by a word that is written nowhere.

Damerau, A technique for computer detection and correction of spelling errors (1964): most of them are a letter too
many, a letter too few, another letter, or two neighbours in the wrong order.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from webrag_core.language.scripts import script_of_word

_LETTERS = {
    "Latin": "abcdefghijklmnopqrstuvwxyz",
    "Cyrillic": "".join(map(chr, range(0x430, 0x460))) + "ґў",
    "Greek": "".join(map(chr, range(0x3AC, 0x3CF))),
    "Armenian": "".join(map(chr, range(0x561, 0x588))),
    "Hebrew": "".join(map(chr, range(0x5D0, 0x5EB))),
    "Arabic": "".join(map(chr, (*range(0x621, 0x63B), *range(0x641, 0x64B)))),
    "Georgian": "".join(map(chr, range(0x10D0, 0x10F1))),
}
_ACCENTED = "àáâãäåæçèéêëìíîïñòóôõöøùúûüýßœăąćčďęěğıłńňőřśşșšťțůűźżž"
_LEAST = 5
"""Letters of a word from which on it may be a typing error of another one: shorter words are near to too many."""
_LEAST_OF_INITIAL = 7  # of a word whose first letter may be wrong
_SHORT = 5  # letters of words that are near to many
_LONG = 9  # letters from which on two errors are looked for
_LEAST_OF_NAME = 5
_LEAST_OF_CHANGED_NAME = 8  # of a name that lacks or has a letter: many short names differ by one
_PLAIN = re.compile(r"[^\W\d_]+")


def may_be_mistyped(word: str) -> bool:
    """Whether `word` may be a mistyped one: letters alone, of a script whose letters are few, small but for the first.
    Codes, identifiers and abbreviations are what they are."""
    letters = _PLAIN.fullmatch(word) is not None and script_of_word(word) in _LETTERS
    return letters and len(word) >= _LEAST and word[1:] == word[1:].lower()


def most_errors(word: str, *, is_name: bool) -> int:
    """How many errors are looked for in `word`: a long word may have two, a name one."""
    return 2 if len(word) >= _LONG and not is_name else 1


def one_error_away(word: str, *, accents: bool = False) -> Iterator[str]:
    """The strings in small letters of which `word` is a typing error: they differ by a letter, or in the order of two
    neighbours. Some come twice. With `accents` Latin letters may have those."""
    lower = word.lower()
    script = script_of_word(lower)
    letters = _LETTERS.get(script, "") + (_ACCENTED if accents and script == "Latin" else "")
    for at in range(len(lower) + 1):
        before, after = lower[:at], lower[at:]
        if after:
            yield before + after[1:]
            yield from (before + letter + after[1:] for letter in letters if letter != after[0])
        if len(after) > 1 and after[0] != after[1]:
            yield before + after[1] + after[0] + after[2:]
        yield from (before + letter + after for letter in letters)


def errors_between(word: str, other: str, most: int, *, begins: bool = False) -> int:
    """The number of errors that make `word` of `other`, or with `begins` of a beginning of `other`, in any case of
    letters; `most` + 1 for more than `most`. Each letter takes part in one error at most (optimal string alignment)."""
    first, second = word.lower(), other.lower()
    if len(first) - len(second) > most or (len(second) - len(first) > most and not begins):
        return most + 1
    if len(set(first).difference(second)) > most:  # each of these letters is an error
        return most + 1
    before: list[int] = []
    row = list(range(len(second) + 1))
    for at, letter in enumerate(first, start=1):
        older, before, row = before, row, [at]
        for place, expected in enumerate(second, start=1):
            cost = min(before[place] + 1, row[-1] + 1, before[place - 1] + (letter != expected))
            if at > 1 and place > 1 and letter == second[place - 2] and first[at - 2] == expected:
                cost = min(cost, older[place - 2] + 1)
            row.append(cost)
        if min(row) > most:
            return most + 1
    return min(min(row) if begins else row[-1], most + 1)


def is_likely(word: str, other: str) -> bool:
    """Whether a word that is an error or two away may be a mistyped `other`. First letters are seldom wrong, and short
    words differ by them; at the end of a word another letter makes another form of it, or another word."""
    first, second = word.lower(), other.lower()
    if first[0] != second[0]:
        return first[:2] == second[1::-1] or min(len(first), len(second)) >= _LEAST_OF_INITIAL
    if len(first) <= _SHORT:  # a letter that is doubled, missing or in the wrong place; redis is no error of reds
        is_moved = len(first) == len(second) and sorted(first) == sorted(second)
        return is_moved or len(first) < len(second) or _is_doubled(first, second)
    return len(first) != len(second) or first[:-1] != second[:-1]


def _is_doubled(longer: str, shorter: str) -> bool:
    """Whether the letter that `longer` has more than `shorter` stands there twice."""
    at = next((place for place, letter in enumerate(longer) if shorter[place : place + 1] != letter), 0)
    return at > 0 and longer[at] == longer[at - 1]


def is_likely_in_a_name(name: str, other: str) -> bool:
    """Whether a name that is written nowhere may be a mistyped `other`. Names are often as near to each other as errors
    are: Brand and Brandt, Hansen and Hanson. So only two neighbours in the wrong order count, and in a longer name a
    letter within it that is missing or doubled."""
    first, second = name.lower(), other.lower()
    if len(first) < _LEAST_OF_NAME or first[0] != second[0] or first[-1] != second[-1]:
        return False
    if len(first) == len(second):
        return sorted(first) == sorted(second)
    longer, shorter = (first, second) if len(first) > len(second) else (second, first)
    is_missing = len(second) > len(first)
    return len(second) >= _LEAST_OF_CHANGED_NAME and (is_missing or _is_doubled(longer, shorter))
