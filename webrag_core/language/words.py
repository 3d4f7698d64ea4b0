"""How a word becomes a search term: one set of rules (`Rules`) for each language that needs its own.

A script that one language dominates is treated as that language wherever it stands: Latin words on a Chinese or Russian
page are English as a rule, Cyrillic ones on an English page Russian. `DEFAULT` is that table. A language that shares
its script with a dominant one (German with English, Ukrainian with Russian) has rules of its own, and one that has no
stemmer leaves its words as they are (`UNSTEMMED`): better no stem than that of another language.
"""

from __future__ import annotations

import re
import threading
import unicodedata
from collections.abc import Collection
from functools import lru_cache

import Stemmer

from webrag_core.language.scripts import FORMAT, script_of_word
from webrag_core.language.stop_words import stop_words

DEFAULT = "en"
"""Rules of English, and of every other language that dominates its script or writes without spaces."""

UNSTEMMED = "und"
"""Rules of languages that have no stemmer but share their script with one that has."""

_DOMINANT = {
    "Latin": "en",
    "Cyrillic": "ru",
    "Greek": "el",
    "Arabic": "ar",
    "Devanagari": "hi",
    "Tamil": "ta",
    "Armenian": "hy",
}
_STEMMERS = {
    "ar": "arabic",
    "ca": "catalan",
    "cs": "czech",
    "da": "danish",
    "de": "german",
    "el": "greek",
    "en": "english",
    "eo": "esperanto",
    "es": "spanish",
    "et": "estonian",
    "eu": "basque",
    "fa": "persian",
    "fi": "finnish",
    "fr": "french",
    "ga": "irish",
    "hi": "hindi",
    "hu": "hungarian",
    "hy": "armenian",
    "id": "indonesian",
    "it": "italian",
    "lt": "lithuanian",
    "ne": "nepali",
    "nl": "dutch",
    "no": "norwegian",
    "pl": "polish",
    "pt": "portuguese",
    "ro": "romanian",
    "ru": "russian",
    "sr": "serbian",
    "st": "sesotho",
    "sv": "swedish",
    "ta": "tamil",
    "tr": "turkish",
    "yi": "yiddish",
}
_SAME = {"nb": "no", "nn": "no"}
_WRITTEN_IN = {
    "Arabic": "ar arz azb ckb fa mzn pnb ps sd ug ur",
    "Armenian": "hy",
    "Bengali": "as bn bpy",
    "Burmese": "my",
    "Cyrillic": "ba be bg bxr ce cv kk kv ky mhr mk mn mrj myv os ru sah sr tg tt tyv uk xal",
    "Devanagari": "bh gom hi mai mr ne new sa",
    "Ethiopic": "am",
    "Georgian": "ka xmf",
    "Greek": "el",
    "Gujarati": "gu",
    "Gurmukhi": "pa",
    "Han": "wuu yue zh",
    "Hangul": "ko",
    "Hebrew": "he yi",
    "Kana": "ja",
    "Kannada": "kn",
    "Khmer": "km",
    "Lao": "lo",
    "Malayalam": "ml",
    "Oriya": "or",
    "Sinhala": "si",
    "Tamil": "ta",
    "Telugu": "te",
    "Thaana": "dv",
    "Thai": "th",
    "Tibetan": "bo",
}
_SCRIPTS = {code: script for script, codes in _WRITTEN_IN.items() for code in codes.split()}  # of others: Latin
_SEVERAL = frozenset({"az", "bs", "ja", "kk", "ku", "mn", "pa", "sd", "sr", "tg", "uz"})  # are written in several
# where an accent is left out as often as it is typed, or tells no words apart
_FOLDED = frozenset({"en", "es", "fr", "it", "pt", "ca", "ro", "ga"})
# marks that scripts may leave out: points, tones of Greek, vowels of Arabic and Hebrew
_UNPOINTED = frozenset({"Arabic", "Hebrew", "Greek"})
_FORMAT = re.compile(f"[{FORMAT}\u0640]")  # and the tatweel, which only makes an Arabic word longer
_CACHE_SIZE = 20_000


@lru_cache(maxsize=256)
def rules_of(language: str | None) -> str:
    """Name of the rules for texts of this language (ISO 639), one of few; `DEFAULT` for None (no language is clear:
    code, names, numbers)."""
    if language is None:
        return DEFAULT
    code = language.partition("-")[0].lower()
    code = _SAME.get(code, code)
    script = _SCRIPTS.get(code, "Latin")
    if code == _DOMINANT.get(script) or (script not in _DOMINANT and code not in _STEMMERS):
        return DEFAULT
    return code if code in _STEMMERS else UNSTEMMED


def writes_in(language: str, scripts: Collection[str]) -> bool:
    """Whether one of `scripts` is a script of `language`."""
    return language in _SEVERAL or _SCRIPTS.get(language, "Latin") in scripts


def normalised(word: str) -> str:
    """Compatibility forms made plain (NFKC), without invisible characters and the tatweel. Case and accents stay."""
    return unicodedata.normalize("NFKC", _FORMAT.sub("", word))


class Rules:
    """Stop words and stems of one set of rules; thread-safe."""

    def __init__(self, name: str) -> None:
        self.name = name
        self._stemmers: dict[str, Stemmer.Stemmer] = {}
        self._lock = threading.Lock()  # stemmers are stateful
        self._terms: dict[str, str] = {}

    def is_stop_word(self, word: str) -> bool:
        """Whether `word` is a function word, in any case."""
        word = self._lower(word)
        language = self._language(word)
        return language is not None and word in stop_words(language)

    def term(self, word: str) -> str:
        """The term of a normalised word: "" for a stop word, else its stem in lower case. What holds digits is only
        made lower case."""
        term = self._terms.get(word)
        if term is None:
            if len(self._terms) >= _CACHE_SIZE:
                self._terms.clear()
            term = self._terms[word] = self._made(self._lower(word))
        return term

    def _lower(self, word: str) -> str:
        if self.name == "tr":  # two letters i
            word = word.replace("İ", "i").replace("I", "ı")
        return word.lower()

    def _language(self, word: str) -> str | None:
        """Whose stemmer and stop words the word gets; None = nobody's."""
        if self.name == UNSTEMMED:
            return None
        script = "Latin" if word.isascii() else script_of_word(word)
        script_of_language = _SCRIPTS.get(self.name, "Latin")
        if self.name != DEFAULT and (script == script_of_language or (self.name == "sr" and script == "Latin")):
            return self.name
        return _DOMINANT.get(script)

    def _made(self, word: str) -> str:
        language = self._language(word)
        if language is not None and word in stop_words(language):
            return ""
        has_digits = not word.isalpha() and any(character.isdigit() or character == "_" for character in word)
        if language is not None and not has_digits:
            with self._lock:
                word = str(self._stemmer(language).stemWord(word)) or word
        return word if word.isascii() else self._folded(word, language)

    def _stemmer(self, language: str) -> Stemmer.Stemmer:
        if language not in self._stemmers:
            self._stemmers[language] = Stemmer.Stemmer(_STEMMERS[language], 0)  # `_terms` remembers what is asked again
        return self._stemmers[language]

    def _folded(self, word: str, language: str | None) -> str:
        script = script_of_word(word)
        if script in _UNPOINTED or (script == "Latin" and language in _FOLDED):
            plain = (item for item in unicodedata.normalize("NFD", word) if unicodedata.category(item) != "Mn")
            return unicodedata.normalize("NFC", "".join(plain)) or word
        return word.replace("ё", "е") if script == "Cyrillic" else word


@lru_cache(maxsize=64)
def rules(name: str) -> Rules:
    """The rules by name (see `rules_of`)."""
    return Rules(name)
