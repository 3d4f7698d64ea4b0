"""Complete a question with words of the question that it follows, by rules. Pure functions on texts.

Only words of questions are carried over, never those of pages. What cannot be put in the place of a pronoun stands in
brackets behind the question. A question that is complete in itself stays as it is.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from webrag_core.language.detection import detected_beyond_doubt
from webrag_core.language.dialogue import english, romance_and_german
from webrag_core.language.stop_words import stop_words

LONGEST = 600
"""Characters of either question, from which on nothing is carried over: a text so long says what it is about."""

_KNOWN = ("en", *romance_and_german.LANGUAGES)
# shares of function words from which they decide: that their language is one of these, against what the letters say
_FUNCTION_WORDS, _MOSTLY_FUNCTION_WORDS = 0.3, 0.5
_WORD = re.compile(r"\w+(?:[.:/_-]+\w+|['’](?!s\b)\w+)*")


@dataclass(frozen=True, slots=True)
class Resolved:
    """A question as it is to be read. `carried` are the words that stand in it and not in what was typed, in order;
    without any, `text` is what was typed."""

    text: str
    carried: tuple[str, ...] = ()


def resolve(earlier: str, question: str) -> Resolved:
    """`question` with what it leaves open, out of `earlier`, a complete question."""
    before, typed = " ".join(earlier.split()), " ".join(question.split())
    if not before or not typed or max(len(before), len(typed)) > LONGEST:
        return Resolved(question)
    language = _language(before, typed)
    completed = None
    if language == "en":
        completed = english.completed(before, typed)
    elif language in romance_and_german.LANGUAGES:
        completed = romance_and_german.completed(before, typed, language)
    carried = () if completed is None else added_words(typed, completed, language)
    return Resolved(completed, carried) if completed is not None and carried else Resolved(question)


def added_words(typed: str, completed: str, language: str | None = "en") -> tuple[str, ...]:
    """The words of `completed` that `typed` has not, without function words, each once, in order."""
    there = {word.casefold() for word in _WORD.findall(typed)} | stop_words(language or "en")
    added = (word for word in _WORD.findall(completed) if word.casefold() not in there)
    return tuple(dict.fromkeys(added))


def _language(before: str, typed: str) -> str:
    """That of both questions, by their function words, else by their letters; English where it is not clear, since most
    names and short questions pass for it."""
    words = [word.casefold() for word in _WORD.findall(f"{before} {typed}")]
    counts = {code: sum(word in stop_words(code) for word in words) for code in _KNOWN}
    likeliest = max(_KNOWN, key=lambda code: counts[code])
    detected = detected_beyond_doubt(before) or detected_beyond_doubt(typed) or "en"
    least = _FUNCTION_WORDS if detected in _KNOWN else _MOSTLY_FUNCTION_WORDS
    is_alone = sum(count == counts[likeliest] for count in counts.values()) == 1
    return likeliest if is_alone and counts[likeliest] >= least * len(words) else detected
