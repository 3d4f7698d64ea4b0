"""Names of symbols: what a signature declares, and what a piece of code in running text refers to."""

from __future__ import annotations

import re
from functools import lru_cache

from webrag_core.late_pattern import late_pattern

MAX_NAME = 160
"""Characters of a qualified name."""

_NAME = r"[^\W\d][\w$]*(?:(?:\.|::)[\w$]+)*"
_COMMAND = r"[A-Z][A-Z0-9_]+(?: [A-Z][A-Z0-9_]+){1,3}"  # CREATE INDEX
_OPTION = r"--?[A-Za-z][\w-]*"
_IS_NAME = late_pattern(_NAME)
_IS_COMMAND = late_pattern(_COMMAND)
_IS_OPTION = late_pattern(_OPTION)
_REFERENCE = late_pattern(rf"(?:(?:await|async|new)\s+|@)?(?P<name>{_NAME}|{_COMMAND}|{_OPTION})(?P<call>\([^()]*\))?")
_SIGNATURE_END = late_pattern(r"[(\[<{=,;!]|->|(?<!:):(?!:)|\s\.\.\.")
_BETWEEN = late_pattern(r"[\s*&]+")
_LONGEST_HEAD = 6  # words before the name: more are a sentence
# words that declare, and name nothing by themselves; values, which everything mentions
_KEYWORDS = frozenset(
    {"async", "class", "const", "def", "enum", "fn", "func", "function", "impl", "interface", "let", "macro", "mod",
     "module", "pub", "static", "struct", "trait", "type", "union", "unsafe", "use", "var"}
)  # fmt: skip
_VALUES = frozenset({"None", "True", "False", "NULL", "null", "nil", "true", "false", "self", "this"})
# what generators put before a name in the fragment of a link
_FRAGMENT_PREFIX = late_pattern(
    r"(?:module-|cmdoption-|envvar-|c\.|std-|(?:method|tymethod|variant|structfield|associatedconstant|fn|macro)\.)"
)


@lru_cache(maxsize=8_192)
def declared_name(signature: str) -> str | None:
    """Name that a signature declares: `class asyncio.Queue(maxsize=0)` -> asyncio.Queue. None when it is none."""
    text = signature.strip().lstrip("@")
    if _IS_COMMAND.fullmatch(text):
        return text
    end = _SIGNATURE_END.search(text)
    words = [word for word in _BETWEEN.split(text[: end.start()] if end else text) if word]
    if not 0 < len(words) <= _LONGEST_HEAD:
        return None
    if _IS_OPTION.fullmatch(words[0]):
        return words[0]
    name = words[-1]
    if not all(_IS_NAME.fullmatch(word) for word in words) or name in _KEYWORDS or len(name) > MAX_NAME:
        return None
    return name


@lru_cache(maxsize=8_192)
def referred_name(code: str) -> tuple[str, bool] | None:
    """(name, whether it is called) that a span of code in running text refers to: `get()`, `asyncio.Queue`, `--all`.

    None for anything else, and for values such as None.
    """
    match = _REFERENCE.fullmatch(code.strip())
    if match is None or match["name"] in _VALUES or not 1 < len(match["name"]) <= MAX_NAME:
        return None
    return match["name"], match["call"] is not None


def linked_name(name: str, fragment: str) -> str:
    """The qualified name when the fragment of a link is one with the same last part: `get`, `queue.get` and
    #asyncio.Queue.get are asyncio.Queue.get. Else `name`."""
    place = _FRAGMENT_PREFIX.sub("", fragment, count=1)
    names = parts(place)
    if len(names) > 1 and names[-1] == parts(name)[-1] and _IS_NAME.fullmatch(place) and len(place) <= MAX_NAME:
        return place
    return name


def looks_like_code(text: str) -> bool:
    """Whether a term without code marks is a symbol all the same: an option, a call, a dotted or joined name."""
    return bool(_IS_OPTION.match(text)) or (
        bool(re.match(rf"{_NAME}(?:\(|$)", text)) and any(mark in text for mark in ("_", ".", "::", "("))
    )


def qualify(scope: str, name: str) -> str:
    """`name` within `scope`, as a reader would write it."""
    return f"{scope} {name}" if " " in scope or name.startswith("-") else f"{scope}.{name}"


def parts(name: str) -> list[str]:
    """The parts of a qualified name."""
    return re.split(r"\.|::| ", name)
