"""Untrusted text inside Markdown stays text: no link, no image, no HTML, no heading, no formula.

Page text may hold anything. Blocks and inline code are safe for all of it, since nothing inside code is parsed. In
running text a backslash is not enough: many readers turn bare addresses, @names and dollar signs into links, mentions
and formulas whatever stands before them. Those words become inline code, and the rest is escaped.
"""

from __future__ import annotations

import re

from webrag_core.page_text import one_line, visible

_RUN = re.compile(r"`+")
_LABEL = re.compile(r"([\\`*_{}\[\]()<>#+\-.!|~&:@$^=\"'/])")
_SPECIAL = re.compile(r"([`*_\[\]<>|~&])")
_START = re.compile(r"(#|[+\-=:]|\d{1,9}(?=[.)]))")
_LIVE = re.compile(
    # each begins where a word or a label does: from every character, a long word would cost the cube of its length
    r"""(?<![^\s<>(\[{"'“‘])[^\s<>(\[{"'“‘]*
        (?:[$\\]|(?<=[A-Za-z0-9+.-]):/|//|www\.|(?:mailto|javascript|data|xmpp|tel):|@\w)[^\s<>]*
      | (?<![\w-])(?<![\w-]\.)(?:[\w-]+\.)+[A-Za-z]{2,24}/[^\s<>]*""",
    re.VERBOSE | re.IGNORECASE,
)
_TAIL = re.compile(r"(?<!\\)[.,;:!?'\"”’»]+$")


def prose(text: str) -> str:
    """`text` as running text on one line."""
    line = one_line(text)
    parts: list[str] = []
    position = 0
    for match in _LIVE.finditer(line):
        words = _TAIL.sub("", match[0]) or match[0]
        if words.endswith(")") and "(" not in words:
            words = words[:-1]
        parts += [_escaped(line[position : match.start()]), code(words)]
        position = match.start() + len(words)
    parts.append(_escaped(line[position:]))
    return _marked_start("".join(parts))


def fenced(text: str, language: str = "text") -> str:
    """The visible `text` as a code block, fenced by more backticks than it holds in a row. `language` is ours."""
    shown = visible(text)
    fence = "`" * max(3, _longest_run(shown) + 1)
    return f"{fence}{language}\n{shown}\n{fence}"


def quote(markdown: str) -> str:
    """`markdown` as a block quote."""
    return "\n".join(f"> {line}".rstrip() for line in markdown.split("\n"))


def code(text: str) -> str:
    """`text` on one line as inline code."""
    line = one_line(text) or " "
    fence = "`" * (_longest_run(line) + 1)
    return f"{fence} {line} {fence}" if line.startswith("`") or line.endswith("`") else f"{fence}{line}{fence}"


def link(text: str, url: str) -> str:
    """A link to a canonical URL with `text`, whatever that is made of: links do not nest."""
    label = _LABEL.sub(r"\\\1", one_line(text)) or "page"
    # canonical URLs are ASCII without spaces or angle brackets; what is left would be read as escape or entity
    return f"[{label}](<{url.replace(chr(92), '%5C').replace('&', '&amp;')}>)"


def address(url: str) -> str:
    """A canonical URL as a link to itself."""
    return f"<{url.replace('<', '%3C').replace('>', '%3E')}>"


def _escaped(words: str) -> str:
    return _SPECIAL.sub(r"\\\1", words)


def _marked_start(line: str) -> str:
    """What would make the line a heading, an item or a rule is escaped."""
    match = _START.match(line)
    if match is None:
        return line
    return f"{match[0]}\\{line[match.end() :]}" if match[0].isdecimal() else f"\\{line}"


def _longest_run(text: str) -> int:
    return max((len(run) for run in _RUN.findall(text)), default=0)
