"""Symbols in a question that mean what they are, letter for letter: operators, options, prefixed names.

`&&`, `--dry-run`, `*args`, `.htaccess`, `$PATH`, `@property`, `#include`, `!=`. Words are cut out of them for search,
so what makes them what they are would be lost. A call (`get()`) is its name: pages write it with arguments.
"""

from __future__ import annotations

import re
from functools import lru_cache

from webrag_core.late_pattern import late_pattern

_QUOTED = late_pattern(r"`([^`\s]{1,80})`|\"([^\"\s]{1,80})\"|“([^”\s]{1,80})”|«([^»\s]{1,80})»|'([^'\s]{1,80})'(?!\w)")
_OPENING, _CLOSING = "([{<\"'“„«‘`", ")]}\"'”»’`.,;:!?…"
_OPERATOR = late_pattern(r"(?=.*[&|=!<>+*/%^~:@#$\\])[^\w\s\u0080-\uffff]{2,6}")
_FEELING = late_pattern(r"[!?.…-]+|[:;=8]['-]?[()\[\]DPp/|]+|[()\[\]{}\"'`.,;!?]+")
_PREFIXED = late_pattern(r"(?:--?|::?|[.@#$%&*!~\\]|\*\*|~?/\.?)[^\W\d_][\w-]*(?:[./=:-]+\w+)*")
_MARK = late_pattern(r"[^\w\s\u0080-\uffff]")
_MOST = 6  # tokens of a question
_MOST_CHARS, _MOST_OF_TOKEN = 2_000, 80
_CLOSE_TO_OPERATORS = "=&|<>!"


def symbol_tokens(question: str) -> list[str]:
    """The tokens of a question that are to be looked for as they are, distinct, in order. What is quoted may be a
    single symbol."""
    text = question[:_MOST_CHARS]
    tokens: dict[str, None] = {}
    for match in re.finditer(rf"{_QUOTED.pattern}|\S+", text):
        quoted = next(filter(None, match.groups()), "")
        token = quoted or _bare(match[0][: _MOST_OF_TOKEN + 1])
        if len(token) > _MOST_OF_TOKEN:
            continue
        is_symbolic = any(pattern.fullmatch(token) for pattern in (_OPERATOR, _PREFIXED))
        if (is_symbolic and not _FEELING.fullmatch(match[0])) or (quoted and _MARK.fullmatch(token)):
            tokens[token] = None
    return list(tokens)[:_MOST]


def _bare(written: str) -> str:
    """A token without the marks of the sentence around it, where it is not made of them alone (`$?`)."""
    token = written.lstrip(_OPENING).rstrip(_CLOSING)
    if len(token) > 1 or any(map(str.isalnum, token)):
        return token
    return written[:-1] if len(written) > 2 and written[-1] in _CLOSING else written


def count_symbol(text: str, token: str) -> int:
    """How often `text`, without marks of Markdown, holds a token of `symbol_tokens`, as a whole and in its case:
    `!=` is not in `!==`, `-rf` not in `--perf-rf`."""
    return len(_pattern(token).findall(text)) if token in text else 0


@lru_cache(maxsize=256)
def _pattern(token: str) -> re.Pattern[str]:
    first, last = token[0], token[-1]
    if _OPERATOR.fullmatch(token) or _MARK.fullmatch(token):
        near = re.escape("".join(sorted(set(token) | set(_CLOSE_TO_OPERATORS))))
        return re.compile(rf"(?<![{near}]){re.escape(token)}(?![{near}])")
    before = rf"(?<![\w{re.escape(first)}])" if first.isalnum() or first == "_" else rf"(?<![\w{re.escape(first)}-])"
    after = r"(?!\w|-\w)" if last.isalnum() or last == "_" else ""
    return re.compile(f"{before}{re.escape(token)}{after}")
