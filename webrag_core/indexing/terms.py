"""Tokenise text into search terms for lexical search, link scoring and query analysis.

Queries and pages must be tokenised alike: a page's terms are made by the rules of its language (`language.words`), and
a query's by those of every language that the corpus holds (`query_terms`). Change
`TERMS_VERSION` with every change of the output: stored postings hold these terms.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain
from typing import Literal

from webrag_core.language.scripts import FORMAT, HAN_AND_KANA, MARKS, SOUTH_EAST_ASIAN
from webrag_core.language.words import DEFAULT, Rules, normalised, rules, rules_of

TERMS_VERSION = 3
"""Version of the mapping text -> terms. Postings of another version must be rebuilt."""


# thousands that are written in groups: 1,000 or 1.000 or 1 000 or 1'000
_GROUPED = r"[1-9]\d{0,2}(?:(?:,\d{3}){1,4}(?!\w|,\d)|(?:\.\d{3}){1,4}(?!\w|\.\d)|(?:['’]\d{3}){1,4}(?!\w)"
_GROUPED += r"|(?:[ \u00a0\u2009\u202f]\d{3}){1,4}(?!\w|[ \u00a0\u2009\u202f]\d))"


def _words(name: str, numbers: str = "") -> re.Pattern[str]:
    # C++, C# and F# would lose what distinguishes them; then words, joined when a dot or :: stands between two of
    # them (asyncio.to_thread, std::move, node.js, 3.11). The underscore is a word character of `\w`.
    return re.compile(rf"{numbers}[cCfF](?:\+\+|\#)(?!\w)|{name}(?:(?:\.|::){name})*")


_MARKED = rf"\w+(?:[{MARKS}{FORMAT}]+\w*)*"
WORD = _words(r"\w+")
_MARKED_WORD = _words(_MARKED)  # twice as slow, so only where a mark is
_MARK = re.compile(f"[{MARKS}{FORMAT}]")
_NUMBERED_WORD = _words(r"\w+", f"{_GROUPED}|")  # slower by a third
_NUMBERED_MARKED_WORD = _words(_MARKED, f"{_GROUPED}|")
_NUMBERS = re.compile(_GROUPED)
_JOINTS = re.compile(r"\.|::")
_SEPARATED = re.compile(r"[,.'’ \u00a0\u2009\u202f]")
_MEASURE = re.compile(
    r"(?P<number>\d+(?:\.\d+)*)(?P<unit>[kmgtp]?i?(?:b|bit|bits|byte|bytes|bps)|[kmg]?hz|[mk]?(?:v|w|a|g|l|j|pa)|[mk]?wh|m?ah"
    r"|[kcdmnµμ]?m|[mnµμ]?s|min|h|hrs?|px|pt|r?em|dpi|ppi|bar|psi|db|dba|rpm|fps|ft|lbs?|oz|mph|kmh|eur|usd|gbp)",
    re.IGNORECASE,
)
_CAMEL = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|[0-9]+")
# scripts without spaces: pairs of Han and kana, triples of South-East Asian letters measured best (docs/benchmarks.md)
_UNSPACED = re.compile(f"([{HAN_AND_KANA}]+|[{SOUTH_EAST_ASIAN}]+)")
_PAIRED = re.compile(f"[{HAN_AND_KANA}]")
_MAX_TERM = 64  # longer runs are data (hashes, base64), not words
_CACHE_SIZE = 200_000
_MAX_CACHED = 64  # characters: longer words hardly come twice
_MAX_RULES = 6  # of one query


@dataclass(frozen=True, slots=True)
class _Piece:
    """A part of a word. A `word` is stemmed as its language is, a `code` piece (of an identifier) as English is, a
    `whole` (an identifier, characters of an unspaced script) stays as it is."""

    text: str
    kind: Literal["word", "code", "whole"]

    def term(self, word_rules: Rules) -> str:
        """Its term; "" for a stop word."""
        if self.kind == "whole":
            return self.text
        return (word_rules if self.kind == "word" else rules(DEFAULT)).term(self.text)


def _grams(run: str) -> list[str]:
    size = 2 if _PAIRED.match(run) else 3
    return [run[at : at + size] for at in range(len(run) - size + 1)] or [run]


def _humps(word: str) -> list[str]:
    """TaskGroup -> Task, Group. Only ASCII: elsewhere capitals hardly ever join words."""
    return _CAMEL.findall(word) if word.isascii() and not word.islower() else [word]


def _pieces(word: str) -> list[list[_Piece]]:
    """The parts of a word as it is written. Those of one list are one name: equal terms count once."""
    if not word.isascii():
        plain = normalised(word)
        if plain != word:
            return list(chain.from_iterable(map(_pieces, words_of(plain))))
    runs = _UNSPACED.split(word)
    if len(runs) == 1:
        return [_number(word) if word[:1].isdigit() else _dotted(word)]
    spaced = chain.from_iterable(_pieces(run.strip(".:")) for run in runs[::2] if run)
    return [*spaced, *([_Piece(gram.lower(), "whole")] for run in runs[1::2] for gram in _grams(run))]


def _number(word: str) -> list[_Piece]:
    """Pieces of what begins with a digit: a measure is found with a blank before its unit (8MiB, 8 MiB), a number in
    groups without them (1,000 and 1000)."""
    if (measure := _MEASURE.fullmatch(word)) is not None:
        return [_Piece(word.lower(), "whole"), *_dotted(measure["number"]), _Piece(measure["unit"], "word")]
    first, *groups = _SEPARATED.split(word)
    if (
        not groups
        or word[0] == "0"
        or len(first) > 3
        or any(len(group) != 3 or not group.isdigit() for group in groups)
    ):
        return _dotted(word)
    kept = [_Piece(word, "whole")] if "." in word else [_Piece(group, "whole") for group in (first, *groups)]
    return [_Piece("".join((first, *groups)), "whole"), *kept]


def _dotted(word: str) -> list[_Piece]:
    parts = _JOINTS.split(word)
    if len(parts) == 1:
        return _name(word)
    whole = [_Piece(word.lower(), "whole")] if len(word) <= _MAX_TERM else []
    return [*whole, *chain.from_iterable(_name(part, part=True) for part in parts)]


def _name(name: str, part: bool = False) -> list[_Piece]:
    """Pieces of a word without dots. As `part` of a longer name a number is dropped (3.11 is not 3)."""
    core = name.strip("_")
    if not 0 < len(core) <= _MAX_TERM or (part and core.isdigit()):
        return []
    snake = [piece for piece in core.split("_") if piece]
    camel = [piece for word in snake for piece in _humps(word)]
    simple = len(snake) == 1 and len(camel) == 1 and not part
    out = [_Piece(core, "word" if simple else "code")] if len(snake) == 1 else [_Piece(core.lower(), "whole")]
    if len(snake) > 1:
        out += [_Piece(piece, "code") for piece in snake if not piece.isdigit()]
    if len(camel) > len(snake):
        # pieces of one or two letters (PyPI, OAuth) are no words of their own
        out += [_Piece(piece, "code") for piece in camel if len(piece) > 2 and not piece.isdigit()]
    return out


class _TermCache(dict[str, tuple[str, ...]]):
    """Cache of raw word -> terms by one set of rules: each distinct word is split and stemmed once."""

    def __init__(self, name: str = DEFAULT) -> None:
        super().__init__()
        self._rules = rules(name)
        self._size = _CACHE_SIZE if name == DEFAULT else _CACHE_SIZE // 4
        self._lock = threading.Lock()

    def __missing__(self, word: str) -> tuple[str, ...]:
        terms = tuple(
            chain.from_iterable(
                dict.fromkeys(filter(None, (piece.term(self._rules) for piece in pieces))) for pieces in _pieces(word)
            )
        )
        if len(word) <= _MAX_CACHED:
            with self._lock:
                if len(self) >= self._size:
                    self.clear()
                self[word] = terms
        return terms


@lru_cache(maxsize=8)  # of the languages at hand: a full one takes some 10 MB
def _cache(name: str) -> _TermCache:
    return _TermCache(name)


def words_of(text: str) -> list[str]:
    """The words of `text` as they are written, identifiers whole, in order."""
    return _word_pattern(text).findall(text)


def term_spans(text: str, wanted: Collection[str], language: str | None = None) -> Iterator[tuple[int, int]]:
    """Yield [start, end) of the words of `text`, in order, that have one of these terms; within text without spaces
    between words, of the terms themselves. `language` as in `terms`."""
    of_word = _cache(rules_of(language))
    for match in _word_pattern(text).finditer(text):
        common = {term for term in of_word[match[0]] if term in wanted}
        if not common:
            continue
        if _UNSPACED.search(match[0]) is None:
            yield match.span()
            continue
        last = match.start()
        for start, end in sorted(span for term in common for span in _places(match[0].lower(), term)):
            if match.start() + end > last:
                yield max(last, match.start() + start), match.start() + end
                last = match.start() + end


def _places(word: str, term: str) -> Iterator[tuple[int, int]]:
    start = word.find(term)
    while start >= 0:
        yield start, start + len(term)
        start = word.find(term, start + 1)


def _word_pattern(text: str) -> re.Pattern[str]:
    marked = not text.isascii() and _MARK.search("".join(set(text))) is not None
    if _NUMBERS.search(text) is None:
        return _MARKED_WORD if marked else WORD
    return _NUMBERED_MARKED_WORD if marked else _NUMBERED_WORD


def terms(text: str, language: str | None = None) -> list[str]:
    """Return lower-cased, stemmed content terms of `text`, in order, with duplicates.

    `language` (ISO 639; None = not clear) names the stemmer and the stop words. A code identifier yields itself and its
    parts in any language: `asyncio.to_thread` -> asyncio.to_thread, asyncio, to_thread, thread; `TaskGroup` ->
    taskgroup, task, group. Text without spaces between words yields pairs (Chinese, Japanese) or triples of characters
    (Thai, Lao, Burmese, Khmer).

    Pure and thread-safe. Empty list for text without content words.
    """
    return list(chain.from_iterable(map(_cache(rules_of(language)).__getitem__, words_of(text))))


def beginnings(query: str, language: str | None = None) -> list[str]:
    """The terms of a query, distinct, as letters that a text may begin a word with: where a stem has lost an accent, as
    many letters of the word itself."""
    letters: dict[str, None] = {}
    for word in words_of(query):
        lower = normalised(word).lower()
        for term in terms(word, language):
            folded = not term.isascii() or not lower.isascii()
            letters[lower[: len(term)] if folded and len(term) <= len(lower) and term not in lower else term] = None
    return list(letters)


def query_terms(query: str, present: Sequence[str], language: str | None = None) -> list[tuple[str, ...]]:
    """The terms of a query over pages indexed by the rules `present`: for each word its term by each of them (alike
    ones once), in order, without duplicates.

    `language` is the query's, None = not clear: words that are stop words of it are left out. It comes first, then
    English, then the others in their order, six at most.
    """
    word_rules = rules_of(language)
    names = sorted(present or [word_rules], key=lambda name: (name != word_rules, name != DEFAULT))[:_MAX_RULES]
    words: dict[tuple[str, ...], None] = {}
    for word in words_of(query):
        for pieces in _pieces(word):
            for piece in pieces:
                if piece.kind == "word" and language is not None and rules(word_rules).is_stop_word(piece.text):
                    continue
                variants = tuple(dict.fromkeys(filter(None, (piece.term(rules(name)) for name in names))))
                if variants:
                    words[variants] = None
    return list(words)
