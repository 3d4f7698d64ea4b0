"""Discriminators of a question: what chooses among look-alikes. Versions, numbered things (branch 12), sizes that name
a thing (8-day ticket), codes (X210), identifiers (`max-cache-ttl`), signs (`&&`, `.htaccess`) and names."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass, replace
from typing import Literal

from webrag_core.answering.wanted.sizes import sizes_in
from webrag_core.answering.wanted.versions import Version, version_of
from webrag_core.language.detection import detected_beyond_doubt
from webrag_core.language.stop_words import stop_words
from webrag_core.language.symbols import symbol_tokens

Kind = Literal["version", "number", "size", "code", "identifier", "sign", "name"]
_CODE = r"[^\W\d_]{1,12}-?\d{1,6}[^\W_]{0,3}"
_TOKEN = re.compile(
    r"(?P<quoted>`[^`\n]{1,80}`)"
    r"|(?P<option>(?<![\w-])--?[A-Za-z][\w-]*)"
    r"|(?P<identifier>(?<![\w.@/-])(?:\$\w+|(?=\w*(?:_|::|\.[^\W\d]))\w++(?:(?:::|\.(?=[^\W\d]))\w++)*+(?:\(\))?"
    r"|[a-z]+(?:-[a-z0-9]+){2,6}|\w+\(\)|[a-z]+[A-Z]\w+)(?![\w-]))"
    r"|(?P<version>(?<![\w.,-])(?!\d\d?\.\d\d?\.\d{4})[vV]?\d{1,5}(?:\.\d{1,5})+(?![\w-]|,\d|\s?%))"
    rf"|(?P<code>(?<![\w.-]){_CODE}(?![\w-]))"
    r"|(?P<number>(?<![\w.,-])\d{1,5}(?![\w,-]|\.\d|\s?%))"
    r"|(?P<word>[^\W\d_][\w'’+#&-]*)"
)
# words behind which a number tells which of many, and not how much
_COUNTED = frozenset(
    re.findall(
        r"\w+",
        """
    act annex appendix article branch building bus chapter class clause exercise exhibit figure flight form gate grade
    hall house level line lot model module number paragraph part phase platform release room route rule schedule season
    section series step stop style table terminal title tram track type unit version volume ward window zone
    abschnitt absatz anlage artikel bus filiale gleis halle haus kapitel linie modell paragraph raum satz stufe tabelle
    teil typ version zimmer
        """,
    )
)
_INITIALS = re.compile(r"\w(?:\.\w)+")  # e.g, U.S, a.m
_ORDINAL = re.compile(r"\d+(?:st|nd|rd|th|s)", re.I)
_UNIT_AFTER = re.compile(
    r"\s*(?:%|°|€|\$|£|(?:[kmgt]i?b|[mkcµ]?m|[mk]?g|[mkc]?l|kw?h?|mah|hz|bits?|bytes?|pixels?|people|persons?|seconds?"
    r"|minutes?|hours?|days?|weeks?|months?|years?|times|euros?|dollars?|inch(?:es)?|feet|miles?)\b)",
    re.I,
)
_MOST = 12  # discriminators of a question
_ACRONYM = re.compile(r"[A-Z]{2,5}s?")  # may be written out on the page
_NO_NAMES = frozenset(
    re.findall(
        r"\w+",
        """
    i ok faq mr mrs dr sir madam dear hi hello team thanks monday tuesday wednesday thursday friday saturday sunday
    mondays tuesdays wednesdays thursdays fridays saturdays sundays january february march april may june july august
    september october november december christmas easter
        """,
    )
)
_NOUNS_CAPITALISED = frozenset(("de", "lb"))


@dataclass(frozen=True, slots=True)
class Discriminator:
    """A token of a question that chooses. `text` as it is written, `head` the word before it, folded ("" without): of a
    version the product, of a number what is counted, of a size its unit. `extension` is the name behind a code or a
    number (X200 Mini); with `any_extension` each of them will do."""

    kind: Kind
    text: str
    head: str = ""
    extension: str = ""
    any_extension: bool = False

    @property
    def version(self) -> Version:
        """Of the kind `version`."""
        return version_of(self.text.lstrip("vV"))

    @property
    def folded(self) -> str:
        """For comparisons, without its quotation marks and case."""
        return self.text.strip("`").casefold()

    @property
    def label(self) -> str:
        """As people read it: a number with its head, a code with its extension."""
        text = f"{self.head} {self.text}" if self.kind == "number" else self.text.strip("`")
        return f"{text} {self.extension}".rstrip()


def discriminators_of(question: str) -> list[Discriminator]:
    """The first discriminators of a question, distinct, in order. Names are capitalised words that do not begin a
    sentence, in languages that write other nouns small, and no acronyms; a question that is capitalised throughout has
    none."""
    results: dict[Discriminator, None] = {}
    before = ""
    tokens = list(_TOKEN.finditer(question))
    words = [match["word"] for match in tokens if match["word"]]
    language = detected_beyond_doubt(question)
    in_names = language not in _NOUNS_CAPITALISED and not all(word[0].isupper() for word in words[1:])
    for match in tokens:
        kind, text = match.lastgroup or "word", match[0]
        if kind == "word":
            if in_names and _is_name(text, starts_sentence=_starts(question, match.start()), language=language):
                name = text.removesuffix("'s").removesuffix("’s")
                last = next(reversed(results), None)
                joined = None
                if last is not None and question[: match.start()].endswith(f"{last.text} "):
                    joined = _joined(last, name)
                if last is not None and joined is not None:
                    del results[last]
                results[joined or Discriminator("name", name)] = None
            before = text
            continue
        item = _discriminator(kind, text, before, bool(_UNIT_AFTER.match(question, match.end())))
        if item is not None:
            results[item] = None
        before = "" if kind in ("number", "version") else text
    results |= {Discriminator("size", size.text, size.unit): None for size in sizes_in(question)}
    written = {item.folded for item in results}
    signs = [sign for sign in question if unicodedata.category(sign) == "So"]
    for sign in (*signs, *symbol_tokens(question)):
        if sign.casefold() not in written:
            results[Discriminator("sign", sign)] = None
    return list(results)[:_MOST]


def _joined(item: Discriminator, name: str) -> Discriminator | None:
    """A discriminator together with the name behind it; None where they are two things."""
    if item.kind in ("code", "number") and not item.extension:
        return replace(item, extension=name)
    return replace(item, text=f"{item.text} {name}") if item.kind == "name" and " " not in item.text else None


def _discriminator(kind: str, text: str, before: str, measures: bool) -> Discriminator | None:
    head = before.casefold()
    if kind in ("quoted", "option", "identifier"):
        return None if _INITIALS.fullmatch(text) else Discriminator("identifier", text)
    if measures:  # 5 km, 2.5 %
        return None
    if kind == "version":
        return Discriminator("version", text, "" if head in stop_words("en") else head)
    if kind == "code":
        return None if _ORDINAL.fullmatch(text) else Discriminator("code", text)
    named = any(map(str.isupper, before)) and head not in stop_words("en")
    is_year = len(text) == 4 and text[:2] in ("18", "19", "20")
    if (named and not is_year) or head in _COUNTED:
        return Discriminator("number", text, head)
    return None


def _is_name(word: str, *, starts_sentence: bool, language: str | None) -> bool:
    bare = re.split("['’]", word.casefold())[0]
    if not word[0].isupper() or len(bare) < 2 or bare in _NO_NAMES or _ACRONYM.fullmatch(word):
        return False
    return not starts_sentence and bare not in stop_words(language or "en")


def _starts(question: str, position: int) -> bool:
    head = question[:position].rstrip(" \"'“„«(¿¡")
    return not head or head[-1] in ".!?:)-–—" or "\n" in question[len(head) : position]
