"""Recognise soft 404 pages (status 200, "this page does not exist") and shells that only a script fills.

Two independent signs are required before a page is refused as not found: a headline that is the message and nothing
else, and either a text that says so or no text at all. Pages about not being found (a reference of status
codes, a guide to error pages) say too much, explain it, or show code. A soft 404 that is kept is noise; a page that is
refused is evidence lost.
"""

from __future__ import annotations

import re

from webrag_core.conversion.converted_page import ConvertedPage
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
from webrag_core.conversion.placeholder_text import MAX_CHARS, placeholder_text, segments
from webrag_core.language.word_count import word_count

MAX_WORDS = 120
"""Words outside links, headlines not counted, above which a text says more than that there is none."""
MAX_SHELL_WORDS = 40
_MAX_SHELL_CHARS = 8_000
_MAX_MESSAGE_WORDS = 14
_MAX_MESSAGE_CHARS = 120

_NO_ROUTE = re.compile(r"(?:`{3}\w*\s*)?cannot (?:get|head) /\S*(?:\s*`{3})?", re.IGNORECASE)


def says_not_found(page: ConvertedPage) -> bool:
    """Whether the page says that the requested page does not exist, and nothing else.

    Looks at title, first headings and text only; a page with a date of publication, code, or more than MAX_WORDS words
    outside links is a page. Walls and notices are another kind (`walls`).
    """
    if len(page.markdown) > MAX_CHARS or page.published is not None:
        return False
    if _NO_ROUTE.fullmatch(page.markdown.strip()):
        return True
    if "```" in page.markdown:
        return False
    parts = placeholder_text(page.markdown, _is_message)
    if parts.words > MAX_WORDS:
        return False
    text = plain_words(parts.text)
    if ABOUT.search(" ".join((plain_words(page.title or ""), *map(plain_words, parts.headlines), text))):
        return False
    if LEADS.match(text):
        return True
    if not (_is_message(page.title or "") or any(map(_is_message, parts.headlines))):
        return False
    if parts.is_bare:
        return True
    return any(pattern.search(text) for pattern in (STATEMENT, OTHER_STATEMENTS, UNSPACED))


def needs_script(page: ConvertedPage) -> bool:
    """Whether the page says nothing but that it needs JavaScript."""
    if len(page.markdown) > _MAX_SHELL_CHARS or "```" in page.markdown:
        return False
    parts = placeholder_text(page.markdown, _is_message)
    text = plain_words(" ".join((*parts.headlines, parts.text)))
    if word_count(text) > MAX_SHELL_WORDS or re.search(r"\bhow to\b", plain_words(page.title or "")):
        return False
    return NEEDS_SCRIPT.search(text) is not None


def _is_message(headline: str) -> bool:
    """Whether a title or heading is the message: as a whole, or as the part before or after the site's name."""
    return any(map(_is_message_words, segments(headline)))


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
