"""Tokenise text into search terms for lexical search, link scoring and query analysis.

Queries and pages must be tokenised alike. Change
`TERMS_VERSION` with every change of the output: stored postings hold these terms.
"""

from __future__ import annotations

import re
import threading
from itertools import chain

import snowballstemmer

TERMS_VERSION = 1
"""Version of the mapping text -> terms. Postings of another version must be rebuilt."""

STOP_WORDS = frozenset(
    re.findall(
        r"\w+",
        """
    a about above after again against all also am an and any are aren as at be because been before being below
    between both but by can cannot could couldn d did didn do does doesn doing don down during each either
    else ever few for from further had hadn has hasn have haven having he her here hers herself him himself
    his how i if in into is isn it its itself just let ll m may me might more most must mustn my myself
    neither no nor not of off on once only or other ought our ours ourselves out over own please re s same
    shall shan she should shouldn so some such t than that the their theirs them themselves then there these
    they this those through to too under until up upon us ve very was wasn we were weren what when where
    whether which while who whom whose why will with within without won would wouldn you your yours yourself
    yourselves
        """,
    )
)
"""English function words, lower case, with what an apostrophe leaves behind ("don't" -> don, t)."""

# C++, C# and F# would lose what distinguishes them; then words, joined when a dot or :: stands between two of
# them (asyncio.to_thread, std::move, node.js, 3.11). The underscore is a word character of `\w`.
WORD = re.compile(r"[cCfF](?:\+\+|\#)(?!\w)|\w+(?:(?:\.|::)\w+)*")

_JOINTS = re.compile(r"\.|::")
_CAMEL = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|[0-9]+")
# kana and Han, written without spaces
_UNSPACED = re.compile("([\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff]+)")
_MAX_TERM = 64  # longer runs are data (hashes, base64), not words
_CACHE_SIZE = 200_000


def _pairs(run: str) -> list[str]:
    return [run[i : i + 2] for i in range(len(run) - 1)] or [run]


def _humps(word: str) -> list[str]:
    """TaskGroup -> Task, Group. Only ASCII: elsewhere capitals hardly ever join words."""
    return _CAMEL.findall(word) if word.isascii() and not word.islower() else [word]


class _TermCache(dict[str, tuple[str, ...]]):
    """Cache of raw word -> terms: each distinct word is split and stemmed once."""

    def __init__(self) -> None:
        super().__init__()
        self._stemmer = snowballstemmer.stemmer("english")
        self._lock = threading.Lock()  # the stemmer is stateful

    def __missing__(self, word: str) -> tuple[str, ...]:
        with self._lock:
            if len(self) >= _CACHE_SIZE:
                self.clear()
            split = tuple(self._split(word))
            self[word] = split
        return split

    def _split(self, word: str) -> list[str]:
        runs = _UNSPACED.split(word)
        if len(runs) > 1:
            spaced = chain.from_iterable(self._split(run.strip(".:")) for run in runs[::2])
            return [*spaced, *chain.from_iterable(map(_pairs, runs[1::2]))]
        pieces = _JOINTS.split(word)
        if len(pieces) == 1:
            return self._split_name(word)
        whole = [word.lower()] if len(word) <= _MAX_TERM else []
        parts = chain.from_iterable(self._split_name(piece, part=True) for piece in pieces)
        return list(dict.fromkeys([*whole, *parts]))

    def _split_name(self, name: str, part: bool = False) -> list[str]:
        """Return terms of a word without dots. As `part` of a longer name a number is dropped (3.11 is not 3)."""
        core = name.strip("_")
        if not 0 < len(core) <= _MAX_TERM or (part and core.isdigit()):
            return []
        snake = [piece for piece in core.split("_") if piece]
        camel = [piece for word in snake for piece in _humps(word)]
        out = [self._simple(core)] if len(snake) == 1 else [core.lower()]
        if len(snake) > 1:
            out += [self._simple(piece) for piece in snake if not piece.isdigit()]
        if len(camel) > len(snake):
            # pieces of one or two letters (PyPI, OAuth) are no words of their own
            out += [self._simple(piece) for piece in camel if len(piece) > 2 and not piece.isdigit()]
        return list(dict.fromkeys(filter(None, out)))

    def _simple(self, word: str) -> str:
        lower = word.lower()
        if lower in STOP_WORDS:
            return ""
        return str(self._stemmer.stemWord(lower)) if lower.isalpha() else lower


_CACHE = _TermCache()


def terms(text: str) -> list[str]:
    """Return lower-cased, stemmed content terms of `text`, in order, with duplicates.

    A code identifier yields itself and its parts: `asyncio.to_thread` -> asyncio.to_thread, asyncio,
    to_thread, thread; `TaskGroup` -> taskgroup, task, group. Stop words are dropped.
    Text without spaces between words (Chinese, Japanese) yields character bigrams. Stems:
    Snowball English (Porter 2).

    Pure and thread-safe. Empty list for text without content words.
    """
    return list(chain.from_iterable(map(_CACHE.__getitem__, WORD.findall(text))))
