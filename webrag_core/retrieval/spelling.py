"""Words of a query that are written nowhere in the scope and are near to a word that is: typing errors, most likely.

The postings hold stems, so every string that the word may be a mistyped form of is stemmed and looked up; two errors
are looked for among the terms that begin alike. What is taken is a word as a page of the scope writes it.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Awaitable, Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import islice

from psycopg import AsyncConnection

from webrag_core.indexing.terms import query_terms, terms, words_of
from webrag_core.language.detection import detected
from webrag_core.language.typing_errors import (
    errors_between,
    is_likely,
    is_likely_in_a_name,
    may_be_mistyped,
    most_errors,
    one_error_away,
)
from webrag_core.language.words import DEFAULT, rules, rules_of
from webrag_core.providers.common_words import is_common_word, is_listed_word
from webrag_core.retrieval.bm25 import CountedTerms, count_terms, search_parents
from webrag_core.retrieval.chunk_store import ParentRow, load_parents
from webrag_core.retrieval.models import Spelling
from webrag_core.retrieval.resident_index import Postings
from webrag_core.retrieval.scope import Scope, ScopeSize

_MOST_WORDS = 4  # of a query
_TRIED = 6  # terms near to a word, the likeliest first
_READ = 8  # passages that hold a term, in which its word is looked for
_FEW = 2  # passages of a word that is no common one: a word that stands once may itself be an error
_MOST_TERMS = 5_000  # that share a piece with a long word
_ENDING = 5  # letters that a term may lack
_PIECE = 3  # letters of which a third stays as it is when there are two errors
_QUOTED = re.compile(r"`[^`]{0,300}`|\"[^\"]{0,300}\"|“[^”]{0,300}”|„[^“”]{0,300}[“”]|«[^»]{0,300}»")
_CODED = re.compile(r"[\d_/\\@.:#$]\w")
_SENTENCE_END = re.compile(r"[.!?:;\n][\s\"'“„«(¿¡-]*$")
_REACH = 16  # characters before a word that say whether it begins a sentence
_NOUNS_CAPITALISED = frozenset(("de", "lb"))

# a third of the first letters is as it is typed, where two of them are wrong
_ALIKE = """
SELECT term FROM lexical_terms
WHERE left(term, 1) = ANY(%(first)s::text[]) AND length(term) BETWEEN %(least)s AND %(most)s
  AND (strpos(term, %(piece_0)s) > 0 OR strpos(term, %(piece_1)s) > 0 OR strpos(term, %(piece_2)s) > 0)
LIMIT %(limit)s
"""

_Count = Callable[[Sequence[str]], Awaitable[CountedTerms]]


@dataclass(frozen=True, slots=True)
class _Suspect:
    """A word of a query that is written nowhere in the scope, and whether little is needed to take it for a mistyped
    one: it is no name, and of a language whose common words are known."""

    word: str
    is_free: bool
    most: int


async def find_spellings(
    connection: AsyncConnection,
    query: str,
    absent: Collection[str],
    scope: Scope,
    size: ScopeSize,
    postings: Postings | None = None,
) -> list[Spelling]:
    """What the words of `query` are taken for of which all terms are `absent` from the scope: the nearest words that
    its pages write, in the language of the query, the more frequent first. `postings` are those of the snapshot, where
    they are in memory. Call inside a transaction."""
    if not absent or not size.parents:
        return []
    language = detected(query)
    count = partial(count_terms, connection, scope=scope, sizes=size.indexes, postings=postings)
    results = []
    for suspect in islice(_suspects(query, absent, size.rules, language), _MOST_WORDS):
        near = await _terms_near(connection, suspect.word, language, size.rules)
        taken = await _word_taken(connection, suspect, 1, near, language, scope, count)
        if taken is None and suspect.most > 1:
            alike = await _terms_alike(connection, suspect.word)
            taken = await _word_taken(connection, suspect, 2, alike, language, scope, count)
        if taken is not None:
            results.append(Spelling(typed=suspect.word, taken=taken))
    return results


def _suspects(query: str, absent: Collection[str], present: Sequence[str], language: str | None) -> Iterator[_Suspect]:
    kept = [match.span() for match in _QUOTED.finditer(query)]
    kept += [match.span() for match in re.finditer(r"\S+", query) if _CODED.search(match[0])]
    words = words_of(query)
    in_titles = all(word[:1].isupper() for word in words)
    at = 0
    seen: set[str] = set()
    for word in words:
        at = query.index(word, at)
        start, at = at, at + len(word)
        if word in seen or not may_be_mistyped(word) or any(first <= start < last for first, last in kept):
            continue
        seen.add(word)
        result = query_terms(word, present, language)
        if not result or any(term not in absent for variants in result for term in variants) or is_common_word(word):
            continue
        capital = word[0].isupper() and language not in _NOUNS_CAPITALISED
        before = query[max(0, start - _REACH) : start]
        is_name = capital and not in_titles and bool(before.strip()) and not _SENTENCE_END.search(before)
        is_free = not is_name and language in (None, "en")
        yield _Suspect(word, is_free, most_errors(word, is_name=not is_free))


async def _terms_near(
    connection: AsyncConnection, word: str, language: str | None, present: Sequence[str]
) -> dict[str, list[str]]:
    """The terms of the strings that are an error away, as far as pages hold them, and those strings."""
    near: dict[str, list[str]] = {}
    names = [rules_of(language)] if language is not None else (present or [DEFAULT])
    for other in dict.fromkeys(one_error_away(word, accents=language not in (None, "en"))):
        for term in {rules(name).term(other) for name in names}:
            if term:
                near.setdefault(term, []).append(other)
    # to count hundreds of terms of which hardly any is there takes the server twenty times as long
    cursor = await connection.execute("SELECT term FROM lexical_terms WHERE term = ANY(%s)", (list(near),))
    return {term: near[term] for (term,) in await cursor.fetchall()}


async def _terms_alike(connection: AsyncConnection, word: str) -> dict[str, list[str]]:
    """The terms that two errors in the beginning of a long word make: a term is a word without its ending."""
    lower = word.lower()
    pieces = {f"piece_{number}": lower[number * _PIECE : (number + 1) * _PIECE] for number in range(3)}
    cursor = await connection.execute(
        _ALIKE,
        {
            **pieces,
            "first": list(lower[:2]),
            "least": len(lower) - _ENDING,
            "most": len(lower) + 2,
            "limit": _MOST_TERMS,
        },
    )
    return {term: [] for (term,) in await cursor.fetchall() if errors_between(term, lower, 2, begins=True) <= 2}


async def _word_taken(
    connection: AsyncConnection,
    suspect: _Suspect,
    most: int,
    near: dict[str, list[str]],
    language: str | None,
    scope: Scope,
    count: _Count,
) -> str | None:
    """The word of the scope that a suspect is taken for, of the terms that are `near`; None where there is none."""
    counted = await count(list(near))
    if counted.cursor is None:
        return None
    held = [term for term in await counted.terms() if term.parents]
    for term in sorted(held, key=lambda term: (-term.parents, term.term))[:_TRIED]:
        hits = await search_parents(connection, [term.term], scope, limit=_READ, counted=counted.only(term))
        rows = await load_parents(connection, [hit.parent_id for hit in hits.hits])
        word = _as_written(suspect, most, term.term, near[term.term], language, rows, term.parents)
        if word is not None:
            return word[0].upper() + word[1:] if suspect.word[0].isupper() else word.lower()
    return None


def _as_written(
    suspect: _Suspect,
    most: int,
    term: str,
    strings: Sequence[str],
    language: str | None,
    passages: Sequence[ParentRow],
    holders: int,
) -> str | None:
    """The word of a term that `passages` write and a suspect may be meant for; None without any. Passages in a language
    other than the query's do not count. `holders` is the number of passages that hold the term."""
    rows = [
        row
        for row in passages
        if language is None or row.language is None or row.language.partition("-")[0] == language
    ]

    def is_near(word: str) -> bool:
        return errors_between(suspect.word, word, most) <= most

    words: Counter[str] = Counter()
    for row in rows:
        text = "\n".join((row.title or "", *row.heading_path, row.body))
        counts = {word: count for word, count in Counter(words_of(text)).items() if is_near(word)}
        words.update({word: count for word, count in counts.items() if term in terms(word, row.language)})
    fitting = [word for word in words if may_be_mistyped(word)]
    if rows:  # they may write it in another form
        fitting += [string for string in strings if string not in words and is_listed_word(string)]
    may_be_meant = is_likely if suspect.is_free else is_likely_in_a_name
    fitting = [word for word in fitting if may_be_meant(suspect.word, word)]
    fitting = [word for word in fitting if holders >= _FEW or is_listed_word(word)]
    return min(fitting, key=lambda word: (errors_between(suspect.word, word, most), -words[word], word), default=None)
