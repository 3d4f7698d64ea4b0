"""Where the sentences of running text end: marks of all scripts, without those of abbreviations, numbers and names.

Lines are not read as ends, Markdown around a sentence belongs to it. Linear in the length of the text.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable

from webrag_core.language.abbreviations import abbreviations
from webrag_core.language.ordinals import BEFORE_ORDINAL, CAPITALISED, MONTHS, NUMBERED, ONLY_BEFORE_ORDINAL, WITH_STOP
from webrag_core.language.sentence_starters import starters

Language = str | None | Callable[[], str | None]
"""ISO 639, None where none is clear, or where to get it: it is looked at only where it matters."""

_EMOJI = "\u2600-\u27bf\u2b00-\u2bff\U0001f000-\U0001faff"
_BULLETS = "✅✔☑❌✖✘➤➡▶⭐👉📌🔹🔸🔷🔶"
_JOINERS = "\ufe0f\u200d\U000e0020-\U000e007f"
_HAN_KANA = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
_MARKS = ".!?…‽⁇⁈⁉;\u037e؟۔।॥։።၊။៕។"
_WIDE = "。！？｡．"
_CLOSING = "\"'”’»›)\\]*_`}“」』）】》〉"
_OPENING = "\"'“‘«‹„‚‟(\\[*_`¿¡「『（【《<"
_DASH = r"[–—−]{1,2}|-{1,2}(?=\s)|,,|[«»„“\"]|\(\.\.\.\)|\[(?:…|\.\.\.)\]"  # what may stand apart before a sentence
_REFERENCE = r"(?<=\])\([^()\s]*+\)|\[[^\[\]\s]{1,6}\]| ?\[\d{1,3}\]"  # the address of a link, the mark of a footnote
_END = re.compile(
    rf"(?=[{_MARKS}{_WIDE}{_EMOJI}])"  # most places are passed at once
    rf"(?:(?:(?<![{_MARKS}])(?P<mark>[{_MARKS}]++)|(?<![{_EMOJI}{_JOINERS}])(?P<emoji>[{_EMOJI}][{_EMOJI}{_JOINERS}]*+))"
    rf"(?P<closing>[{_CLOSING}]*+(?:\s(?:''|[»”])(?=\s))?+(?:{_REFERENCE})*+)"
    rf"(?P<gap>\s++)(?=(?P<opening>(?:(?:{_DASH})\s?+)?[{_OPENING}]*+)(?P<first>\S))"
    rf"|(?<![{_WIDE}])[{_WIDE}]++(?P<wide>[{_CLOSING}]*+)\s*+(?=\S)"
    rf"|(?<=[{_HAN_KANA}])[!?.]++(?P<narrow>[{_CLOSING}]*+)(?=[{_HAN_KANA}]))"
)
_EMOJI_BEHIND = re.compile(rf"(?![{_BULLETS}])[{_EMOJI}][{_EMOJI}{_JOINERS}]*+(?:\s++(?=\S)|\Z)")
_EMOJI_FIRST = re.compile(rf"[\s>*+-]{{0,8}}[{_EMOJI}]")
_LETTER = re.compile(r"[^\W\d_]")
_WORD = re.compile(r"[^\W_]+(?:[.'’-][^\W_]+)*")
_BEFORE = 48  # characters that are looked at before a mark
_TOKEN = re.compile(r"[^\s(\[{\"“„«‘‹/*_`|,;:–—]*\Z")
_ELISION = re.compile(r"[^\W\d_]{1,5}['’](?=[^\W\d_]{2})")  # l'art.
_NUMBER = re.compile(r"[^\W\d_]?\d+(?:[.,/:-]\d+)*|[IVXLC]{1,6}(?!\w)")
_SECTION = re.compile(r"\d{1,3}(?:\.\d{1,3})+")
_CAPTION = re.compile(r"[\s*_>|]*[^\W\d_]+\s+[\d.]+")  # Table 2.1. Views
_DIGITS = re.compile(r"\d{1,3}")
_ROMAN = re.compile(r"[IVX]{1,6}|[ivx]{1,5}")
_INITIALS = re.compile(r"[^\W\d_](?:[.-]{1,2}[^\W\d_]{1,2})*")
_WHOLE_WORD = re.compile(
    r"(?<!\S)(?:[^\W\d_]{3,}(?P<vowel>[aeiouyàèéìòùáíóúąęěůαειηουωάέήίόύώаеиоуыэюяі])|[^\W\d_]{7,})\Z"
)
_VOWEL = re.compile("[aeiouyæøœıаеиоуыэюяіїєαεηιουω]", re.IGNORECASE)
_CASED = re.compile(r"[A-Za-z\u00c0-\u024f\u0370-\u03ff\u0400-\u052f\u0531-\u0587\u1e00-\u1fff]")
_NO_STOPS = re.compile(r"[\u0e00-\u0eff\u1780-\u17ff]")  # Thai, Lao, Khmer: a full stop only shortens a word
_INDIC = re.compile(r"[\u0900-\u0dff]")
_PARTICLE = re.compile(r"[とっのはがをにもなでだや]")
_ZONE = re.compile(
    r"(?:[A-Z]{2,5}|Eastern|Pacific|Central|Mountain|(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)days?)(?!\w)"
)


def sentence_ends(text: str, language: Language = None) -> list[int]:
    """Offsets at which sentences of `text` end, white space behind them included, ascending; the last one, which the
    text ends, is not among them."""
    return _Ends(text, language).all()


class _Ends:
    def __init__(self, text: str, language: Language) -> None:
        self._text = text
        self._given = language
        self._code: str | None = None
        self._known = False
        self._last = 0  # end of the last sentence
        self._looked = 0  # up to where the current sentence holds no letter
        self._lettered = False

    @property
    def language(self) -> str | None:
        """The text's language, got once."""
        if not self._known:
            given = self._given() if callable(self._given) else self._given
            self._code = None if given is None else given.partition("-")[0].lower()
            self._known = True
        return self._code

    def all(self) -> list[int]:
        """Every end."""
        ends: list[int] = []
        for match in _END.finditer(self._text):
            end = self._end(match)
            if end is not None and end > self._last:
                self._last = self._looked = end
                self._lettered = False
                ends.append(end)
        return ends

    def _end(self, match: re.Match[str]) -> int | None:
        """The end at a mark; None where the sentence goes on."""
        if not self._has_letter(match.start()):
            return None  # "...", the number of a section or list item
        if match["wide"] is not None:
            return None if match["wide"] and _PARTICLE.match(self._text, match.end()) else match.end()
        if match["narrow"] is not None:
            return match.end()
        if match["emoji"] is not None:
            return match.end() if self._begins(match) and self._is_starter(match) else None
        if not self._begins(match):
            return None
        if ";" in match["mark"] and not "\u0370" <= self._text[match.start() - 1] <= "\u03ff":
            return None  # the question mark of Greek alone
        if match["mark"] == "." and self._goes_on(match):
            return None
        return self._behind_emoji(match)

    def _has_letter(self, place: int) -> bool:
        if not self._lettered and place > self._looked:
            self._lettered = _LETTER.search(self._text, self._looked, place) is not None
            self._looked = place
        return self._lettered

    def _begins(self, match: re.Match[str]) -> bool:
        """Whether what follows can begin a sentence."""
        first = match["first"]
        if first.isalpha():
            if not first.islower() or "`" in match["opening"]:
                return True
            return match["emoji"] is None and self._is_lower_case(match)
        if first in "@§$€£<":
            return True
        return first.isalnum() or unicodedata.category(first) in ("So", "Sc")

    def _is_lower_case(self, match: re.Match[str]) -> bool:
        """Whether sentences begin with small letters here: behind a question, or where this one began so itself."""
        if match["closing"] or match["opening"]:
            return False
        if ("?" in match["mark"] and not self._text[match.start() - 1].isspace()) or self._text.startswith(
            ("http", "www."), match.end()
        ):
            return True
        if match["mark"] != ".":
            return False
        letter = _LETTER.search(self._text, self._last, match.start())
        if letter is not None and letter[0].islower():
            return True
        whole = _WHOLE_WORD.search(self._text, max(self._last, match.start() - _BEFORE), match.start())
        return whole is not None and (bool(whole["vowel"]) or self._is_starter(match))

    def _behind_emoji(self, match: re.Match[str]) -> int:
        """The end at a mark, with the emoji that stand behind it, unless the sentence begins with some itself."""
        if match["opening"] == '" ' and self._text.count('"', self._last, match.start()) % 2:
            return match.end() + 2  # a closing one with a blank before it
        behind = _EMOJI_BEHIND.match(self._text, match.end())
        if behind is None or match["opening"] or _EMOJI_FIRST.match(self._text, self._last):
            return match.end()
        return behind.end()

    def _next(self, match: re.Match[str]) -> str:
        """The word that follows."""
        word = _WORD.match(self._text, match.end() + len(match["opening"]))
        return word[0] if word else ""

    def _is_starter(self, match: re.Match[str]) -> bool:
        word = self._next(match)
        if len(word) == 1 and self._text[match.end() + len(match["opening"]) + 1 :][:1] == ".":
            return False  # another initial
        return word.partition("'")[0].partition("’")[0].lower() in starters(self.language)

    def _goes_on(self, match: re.Match[str]) -> bool:
        """Whether a full stop belongs to a number, an initial or an abbreviation."""
        mark = match.start()
        before = self._text[max(self._last, mark - _BEFORE) : mark]
        token = _TOKEN.search(before)
        word = token[0] if token else ""
        if not word or not (word[-1].isalnum() or unicodedata.category(word[-1]).startswith("M")):
            return False
        if _NO_STOPS.search(word):
            return True
        if before[: len(before) - len(word)].endswith("(") and not match["closing"]:
            return True  # (engl. …
        rest = before[: len(before) - len(word)].rstrip(' \t\n("„“«*_')
        previous = rest.rpartition(" ")[2].rpartition("\n")[2]
        if word[0].isdigit():
            return self._is_ordinal(word, previous, match)
        if match["closing"] and match["closing"][0] in "`":
            return False
        word = _ELISION.sub("", word)
        return "'" not in word and "’" not in word and self._is_abbreviated(word, previous, match)

    def _is_ordinal(self, word: str, previous: str, match: re.Match[str]) -> bool:
        if "." in word and _SECTION.fullmatch(word) and not match["closing"]:
            sentence = self._text[self._last : match.start()] if match.start() - self._last < _BEFORE else ""
            return (
                previous.endswith(",")
                or _CAPTION.fullmatch(sentence) is not None
                or "`" in match["opening"]
                or (word.count(".") > 1 and not self._is_starter(match))
            )
        if not _DIGITS.fullmatch(word) or match["closing"]:
            return False
        if previous.endswith(":"):
            return True  # an enumeration: 1. … 2. …
        following = self._next(match).lower()
        if match["first"] == "§":
            return True
        if self.language == "hu" and previous.lower() in MONTHS:
            return True
        if len(word) < 3 and following in MONTHS and self.language in {*WITH_STOP, None}:
            return True
        if self.language is None:
            return previous.lower() in ONLY_BEFORE_ORDINAL and match["first"].isalpha()
        if self.language not in {*CAPITALISED, "tr"}:
            return False
        if following in starters(self.language) or not match["first"].isalpha():
            return False
        if self.language == "tr":
            return len(word) < 3 and previous.lower() not in NUMBERED
        return previous.lower() in BEFORE_ORDINAL or previous.rstrip(".").isdigit() or not previous

    def _is_abbreviated(self, word: str, previous: str, match: re.Match[str]) -> bool:
        lower = word.lower().rpartition(".-")[2]  # Dipl.-Ing.
        if _is_ordinary(word) and abbreviations(None).keys().isdisjoint((lower, previous.lower() + lower)):
            return False  # in every language: to look for the text's own takes longer than all of the rest
        known = abbreviations(self.language)
        kind = known.get(lower)
        if kind is None or len(lower) < 3:
            kind = known.get(previous.lower() + lower, kind)  # z. B.
        follows_number = previous[-1:].isdigit()
        if kind == "inside" or (len(lower) == 1 and f"{lower}.{self._next(match).lower()}" in known):
            return True  # Dr. Meier, v. Chr.
        number = _NUMBER.match(self._text, match.end() + len(match["opening"]))
        if number is not None and kind == "before_number":
            return not (follows_number and len(lower) == 1)
        if kind == "last":
            return _ZONE.match(self._text, match.end()) is not None and lower in ("a.m", "p.m")
        if kind == "doubtful":
            return not self._is_starter(match)
        if _ROMAN.fullmatch(word) and len(word) > 1:
            return self.language in WITH_STOP and match["first"].isalpha() and not self._is_starter(match)
        if "." in word and _INDIC.match(word):
            return True
        if _INITIALS.fullmatch(word):
            if not _CASED.match(word):
                return True
            if word[0].islower() and len(word) == 1 and follows_number:
                return False  # 5 m.
            return not self._is_starter(match)
        if kind == "before_number":
            return False
        # an abbreviation that no list has: up to four letters without a vowel, no acronym, no unit behind a number
        if (
            self.language in ("en", None)
            or len(word) > 4
            or not word.isalpha()
            or follows_number
            or not _CASED.match(word)
            or _has_vowel(word)
        ):
            return False
        return (word.islower() and not self._is_starter(match)) or (number is not None and not word.isupper())


def _is_ordinary(word: str) -> bool:
    """Whether its letters are those of no abbreviation, initial or Roman number."""
    return word.isalpha() and len(word) > 1 and (len(word) > 4 or _has_vowel(word)) and not _ROMAN.fullmatch(word)


def _has_vowel(word: str) -> bool:
    return _VOWEL.search(unicodedata.normalize("NFD", word)) is not None
