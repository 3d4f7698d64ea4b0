"""Recognise soft 404 pages (status 200, "this page does not exist") and shells that only a script fills.

Two independent signs are required before a page is refused as not found: a headline that is the message and nothing
else, and either a text that says so or no text at all. Pages about not being found (a reference of status
codes, a guide to error pages) say too much, explain it, or show code. A soft 404 that is kept is noise; a page that is
refused is evidence lost.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from webrag_core.conversion.html import ConvertedPage
from webrag_core.conversion.not_found_phrases import (
    ABOUT,
    LEADS,
    MESSAGE_WORDS,
    MISSED,
    NEEDS_SCRIPT,
    NOTS,
    OTHER_HEADLINES,
    OTHER_STATEMENTS,
    OTHER_WORDS,
    STATEMENT,
    UNSPACED,
    UNSPACED_MESSAGE,
    plain_words,
)

MAX_WORDS = 120
"""Words outside links, headlines not counted, above which a text says more than that there is none."""
BARE_WORDS = 12
"""Words without any sentence up to which a text says nothing: the name of a server, a way back."""
MAX_SHELL_WORDS = 40
_MAX_CHARS = 30_000  # what is longer is a page, however much of it is links
_MAX_MESSAGE_WORDS = 14
_MAX_MESSAGE_CHARS = 120
_HEADLINES = 3

_SENTENCE = re.compile(r"(?:\w+\W+){3}\w[^\n]*[.!?。]\s*$", re.MULTILINE)
_WORD = re.compile(r"\w+")
_UNSPACED_CHARACTER = re.compile("[\u0e00-\u0eff\u3040-\u30ff\u3400-\u9fff]")
_IMAGE = re.compile(r"!\[([^\[\]]*)\]\([^()\s]*\)")
_LINK = re.compile(r"\[([^\[\]]*)\]\([^()\s]*(?:\([^()\s]*\)[^()\s]*)*\)")
_QUOTE = re.compile(r"`[^`\n]*`|“[^”\n]*”|„[^“”\n]*[“”]|«[^»\n]*»|(?<!\w)\"[^\"\n]*\"(?!\w)")
_HEADING = re.compile(r"#{1,6}\s+(.*)")
_SEPARATOR = re.compile(r"\s+[-–—/]+\s+|\s*[|·•»«⋅:;()\[\]!?.,\u2026]+(?:\s+|$)|(?:^|\s+)[(\[]|[：！。]")
_NO_ROUTE = re.compile(r"(?:`{3}\w*\s*)?cannot (?:get|head) /\S*(?:\s*`{3})?", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class _Parts:
    headlines: tuple[str, ...]  # the title is not among them
    text: str  # Markdown without headlines, quotes and marks of links
    words: int  # of that text, outside links


def word_count(text: str) -> int:
    """Count the words of a text; two characters are one word where a script writes no spaces."""
    return len(_WORD.findall(text)) + len(_UNSPACED_CHARACTER.findall(text)) // 2


def says_not_found(page: ConvertedPage) -> bool:
    """Whether the page says that the requested page does not exist, and nothing else.

    Looks at title, first headings and text only; a page with a date of publication, code, or more than MAX_WORDS words
    outside links is a page. Login walls, maintenance and overload notices count as pages.
    """
    if len(page.markdown) > _MAX_CHARS or page.published is not None:
        return False
    if _NO_ROUTE.fullmatch(page.markdown.strip()):
        return True
    if "```" in page.markdown:
        return False
    parts = _parts(page.markdown)
    if parts.words > MAX_WORDS:
        return False
    text = plain_words(parts.text)
    if ABOUT.search(" ".join((plain_words(page.title or ""), *map(plain_words, parts.headlines), text))):
        return False
    if LEADS.match(text):
        return True
    if not (_is_message(page.title or "") or any(map(_is_message, parts.headlines))):
        return False
    if parts.words <= BARE_WORDS and _SENTENCE.search(parts.text) is None:
        return True
    return any(pattern.search(text) for pattern in (STATEMENT, OTHER_STATEMENTS, UNSPACED))


def needs_script(page: ConvertedPage) -> bool:
    """Whether the page says nothing but that it needs JavaScript."""
    if len(page.markdown) > _MAX_CHARS or "```" in page.markdown:
        return False
    parts = _parts(page.markdown)
    text = plain_words(" ".join((*parts.headlines, parts.text)))
    if word_count(text) > MAX_SHELL_WORDS or re.search(r"\bhow to\b", plain_words(page.title or "")):
        return False
    return NEEDS_SCRIPT.search(text) is not None


def _parts(markdown: str) -> _Parts:
    """Headlines are the first headings, and the first line where it is a message without being a heading."""
    headlines: list[str] = []
    rest: list[str] = []
    lines = [line.strip() for line in markdown.splitlines() if line.strip()]
    for index, line in enumerate(lines):
        heading = _HEADING.fullmatch(line)
        shown = _LINK.sub(r"\1", _IMAGE.sub(" ", heading[1] if heading else line))
        if len(headlines) < _HEADLINES and (heading or (index < _HEADLINES and _is_message(shown))):
            headlines.append(shown)
        else:
            rest.append(heading[1] if heading else line)
    text = _QUOTE.sub(" ", _IMAGE.sub(" ", "\n".join(rest)))
    return _Parts(tuple(headlines), _LINK.sub(r"\1", text), word_count(_LINK.sub(" ", text)))


def _is_message(headline: str) -> bool:
    """Whether a title or heading is the message: as a whole, or as the part before or after the site's name."""
    segments = [words for part in _SEPARATOR.split(headline) if (words := plain_words(part or ""))]
    if not segments:
        return False
    return any(map(_is_message_words, (plain_words(headline), segments[0], segments[-1])))


def _is_message_words(words: str) -> bool:
    each = words.split()
    if len(each) > _MAX_MESSAGE_WORDS or len(words) > _MAX_MESSAGE_CHARS:
        return False
    if MESSAGE_WORDS.issuperset(each):
        return "404" in each or not (NOTS.isdisjoint(each) or MISSED.isdisjoint(each))
    if UNSPACED.search(words):
        return UNSPACED_MESSAGE.fullmatch(words) is not None
    others, count = OTHER_HEADLINES.subn(" ", words)
    return OTHER_WORDS.issuperset(others.split()) if count else STATEMENT.fullmatch(words) is not None
