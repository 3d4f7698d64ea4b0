"""What a page that may be a placeholder says: its headlines, and its text apart from links, quotes and pictures."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from webrag_core.conversion.not_found_phrases import plain_words
from webrag_core.language.word_count import word_count

MAX_CHARS = 30_000
"""What is longer is a page, however much of it is links."""
BARE_WORDS = 12
"""Words without any sentence up to which a text says nothing: the name of a server, a way back."""
_HEADLINES = 3

_WORD = re.compile(r"\w+")
_ENDS = (".", "!", "?", "。")
_SENTENCE_WORDS = 4
_IMAGE = re.compile(r"!\[([^\[\]]*)\]\([^()\s]*\)")
_LINK = re.compile(r"\[([^\[\]]*)\]\([^()\s]*(?:\([^()\s]*\)[^()\s]*)*\)")
_QUOTE = re.compile(r"`[^`\n]*`|“[^“”\n]*”|„[^„“”\n]*[“”]|«[^«»\n]*»|(?<!\w)\"[^\"\n]*\"(?!\w)")
_HEADING = re.compile(r"#{1,6}\s+(.*)")
_SEPARATOR = re.compile(
    r"(?<!\s)\s+[-–—/]+\s+|(?:(?<!\s)\s+)?[|·•»«⋅:;()\[\]!?.,\u2026]+(?:\s+|$)|(?:^|(?<!\s)\s+)[(\[]|[：！。]"
)


@dataclass(frozen=True, slots=True)
class PlaceholderText:
    """The first headings of a page (its title is not among them), and the rest of its Markdown, without quotes and the
    marks of links. `words` are those outside links, `links` the number of links."""

    headlines: tuple[str, ...]
    text: str
    words: int
    links: int

    @property
    def is_bare(self) -> bool:
        """Whether the text says nothing."""
        return self.words <= BARE_WORDS and not _holds_sentence(self.text)


def placeholder_text(markdown: str, is_message: Callable[[str], bool]) -> PlaceholderText:
    """Read a page. Its headlines are the first headings, and the first lines that are a message without a heading."""
    headlines: list[str] = []
    rest: list[str] = []
    lines = [line.strip() for line in markdown.splitlines() if line.strip()]
    for index, line in enumerate(lines):
        heading = _HEADING.fullmatch(line)
        words = heading[1] if heading else line
        if len(headlines) < _HEADLINES and (heading or index < _HEADLINES):
            shown = _LINK.sub(r"\1", _IMAGE.sub(" ", words))
            if heading or is_message(shown):
                headlines.append(shown)
                continue
        rest.append(words)
    text = _QUOTE.sub(" ", _IMAGE.sub(" ", "\n".join(rest)))
    outside, links = _LINK.subn(" ", text)
    return PlaceholderText(tuple(headlines), _LINK.sub(r"\1", text), word_count(outside), links)


def segments(headline: str) -> list[str]:
    """A headline in plain words: the whole, its first and its last part, as the name of the site may stand at either
    end. Empty for no words."""
    parts = [words for part in _SEPARATOR.split(headline) if (words := plain_words(part or ""))]
    return [plain_words(headline), parts[0], parts[-1]] if parts else []


def _holds_sentence(text: str) -> bool:
    """Whether a line ends like a sentence and has the fourth word of the text, or one after it. Linear."""
    words = 0
    for line in text.split("\n"):
        here = len(_WORD.findall(line))
        words += here
        if here and words >= _SENTENCE_WORDS and line.rstrip().endswith(_ENDS):
            return True
    return False
