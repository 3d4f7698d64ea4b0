"""Whether a unit of the evidence speaks of the thing that a question is about, or of a look-alike.

Each discriminator is looked for in the unit's words, in what it stands under (lead, headings, from the nearest), in the
title and in the address of its page. The first of these levels that names any value of the kind decides; a unit
whose words or whose page name the right value never counts as a look-alike's.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal
from urllib.parse import unquote, urlsplit

from webrag_core.answering.units import Unit
from webrag_core.answering.wanted.discriminators import Discriminator
from webrag_core.answering.wanted.sizes import sizes_in, states_size
from webrag_core.answering.wanted.versions import OPEN_END, versions_in
from webrag_core.indexing.terms import terms
from webrag_core.language.symbols import count_symbol

Stance = Literal["carries", "neutral", "rival"]
_ANY_HEAD = frozenset(("", "version", "release", "v", "docs", "documentation", "manual", "stable", "the", "in"))
_CODE_SHAPE = re.compile(r"([^\W\d_]{1,12}-?)(\d{1,6})([^\W_]{0,3})")
_IDENTIFIER = re.compile(r"(?<![\w-])[$-]{0,2}(?=\w*[-_.:])[^\W\d]\w*+(?:[-.:]++\w++)*+(?:\(\))?(?![\w-])")
_JOINTS = re.compile(r"[-_.:]+")
_LEAST_PREFIX = 5  # letters of a name that a longer form of it begins with
_EXTENSION = re.compile(r"\s+(?:[A-Z][a-z]{1,7}|[A-Z]{1,4}\d*|\d{1,3})\b(?!\s*[:.%])")


@dataclass(frozen=True, slots=True)
class Levels:
    """Where a unit can say what it is about: its words, then what it stands under, the nearest first."""

    words: str
    around: tuple[str, ...]
    passage: str


def levels_of(unit: Unit) -> Levels:
    """The levels of a unit: lead, headings (from the nearest), title, address of its page."""
    path = unquote(urlsplit(unit.chunk.source_url).path).replace("/", " ").replace("-", " ")
    around = (unit.lead, *reversed(unit.heading_path), unit.chunk.title or "", path)
    return Levels(unit.text, tuple(filter(None, around)), unit.chunk.text)


def stance_of(wanted: Discriminator, levels: Levels) -> Stance:
    """Whether a unit carries a discriminator, carries another value of its kind instead, or neither."""
    verdicts = [_verdict(wanted, levels.words, levels.passage, is_text=True)]
    verdicts += [_verdict(wanted, text, levels.passage, is_text=False) for text in levels.around]
    if verdicts[0] is True:
        return "carries"
    nearest = next((verdict for verdict in verdicts[1:] if verdict is not None), None)
    if nearest is True:
        return "carries"
    if nearest is False or verdicts[0] is False:
        return "rival"
    return "neutral"


def mentions(thing: Discriminator, text: str) -> bool:
    """Whether `text` has a code, a number or a version as a whole word."""
    return bool(_mentions(thing.folded, text))


def stands_around(wanted: Discriminator, levels: Levels) -> bool:
    """Whether what a unit stands under names the thing: that its words name it again says nothing."""
    return any(_verdict(wanted, text, levels.passage, is_text=False) for text in levels.around)


def _verdict(wanted: Discriminator, text: str, passage: str, *, is_text: bool) -> bool | None:
    """True: `text` names the thing. False: it names another of its kind. None: neither. `is_text`: running text, in
    which a number without a name before it may be a quantity."""
    if wanted.kind == "version":
        return _version_verdict(wanted, text, is_text=is_text)
    if wanted.kind == "code":
        return _code_verdict(wanted, text, passage)
    if wanted.kind == "number":
        return _number_verdict(wanted, text, passage)
    if wanted.kind == "size":
        if states_size(text, wanted.text):
            return True
        return False if any(size.unit == wanted.head for size in sizes_in(text)) else None
    if wanted.kind == "identifier":
        if _mentions(wanted.folded, text):
            return True
        return False if not is_text and _is_sibling(wanted.folded, text.strip().casefold()) else None
    if wanted.kind == "sign":
        return True if count_symbol(text, wanted.text) else None
    return True if holds_name(text, wanted.text) else None


def _is_sibling(identifier: str, text: str) -> bool:
    """Whether `text` is another identifier that begins or ends alike (`min-cache-ttl` beside `max-cache-ttl`), and no
    member of this one (`queue.get`)."""
    if not _IDENTIFIER.fullmatch(text):
        return False
    names, others = _parts_of(identifier), _parts_of(text)
    if not names or not others or others[: len(names)] == names:
        return False
    return names[0] == others[0] or names[-1] == others[-1]


def _parts_of(identifier: str) -> tuple[str, ...]:
    return tuple(filter(None, _JOINTS.split(identifier.rstrip("()"))))


def _version_verdict(wanted: Discriminator, text: str, *, is_text: bool) -> bool | None:
    named = [
        version
        for version in versions_in(text)
        if _same_head(version.head, wanted.head)
        or (not is_text and version.head in _ANY_HEAD)
        or version.head in ("version", "release")
    ]  # fmt: skip
    if any(version.holds(wanted.version) for version in named):
        return True
    named = [version for version in named if not (is_text and version.is_open)]  # "2.4 and later" tells, too
    return False if named else None


def _same_head(head: str, other: str) -> bool:
    if other in ("", "version", "release"):
        return True
    if not head:
        return False
    return head.startswith(other) or other.startswith(head)


def _code_verdict(wanted: Discriminator, text: str, passage: str) -> bool | None:
    verdict = _extension_verdict(wanted, wanted.folded, text, passage)
    if verdict is not None:
        return verdict
    shape = _CODE_SHAPE.fullmatch(wanted.folded)
    if shape is None:
        return None
    return False if _codes_like(shape, text) else None


def _codes_like(shape: re.Match[str], text: str) -> list[str]:
    """The codes in `text` with the letters of a folded code, and as many digits."""
    codes = (match for match in _CODE_SHAPE.finditer(text) if match[1].casefold() == shape[1])
    return [match[0] for match in codes if len(match[2]) == len(shape[2])]


def _number_verdict(wanted: Discriminator, text: str, passage: str) -> bool | None:
    verdict = _extension_verdict(wanted, f"{wanted.head} {wanted.text}", text, passage)
    if verdict is not None:
        return verdict
    others = re.search(rf"(?<!\w){re.escape(wanted.head)}s?\s+\d{{1,5}}(?![\w.]?\d)(?!{OPEN_END})", text, re.IGNORECASE)
    return None if others is None else False


def _extension_verdict(wanted: Discriminator, token: str, text: str, passage: str) -> bool | None:
    """True: `text` names the token with the extension that is wanted, if any. False: with another one, or with one
    where none is wanted, unless the passage names it without, too. None: it does not name the token."""
    ends = _mentions(token, text)
    if not ends:
        return None
    if wanted.any_extension:
        return True
    if wanted.extension:
        extension, folded = f" {wanted.extension.casefold()}", text.casefold()
        return any(folded.startswith(extension, end) for end in ends)
    if not all(_EXTENSION.match(text, end) for end in ends):
        return True
    return any(not _EXTENSION.match(passage, end) for end in _mentions(token, passage))


def _mentions(token: str, text: str) -> list[int]:
    """Where each whole mention of a folded token ends in `text`."""
    folded = text.casefold()
    if len(folded) != len(text):  # a letter that folds to two would move all places behind it
        folded = text.lower() if len(text.lower()) == len(text) else text
    ends = []
    at = folded.find(token)
    while at >= 0:
        end = at + len(token)
        before, after = folded[max(0, at - 1) : at], folded[end : end + 1]
        if not (_joins(token[0], before) or _joins(token[-1], after)):
            ends.append(end)
        at = folded.find(token, at + 1)
    return ends


def _joins(edge: str, beside: str) -> bool:
    """Whether the character beside a token belongs to the same word."""
    return edge.isalnum() and (beside.isalnum() or beside in ("_", "-")) and beside != ""


def values_beside(wanted: Discriminator, levels: Sequence[Levels]) -> list[str]:
    """Other values of a discriminator's kind, distinct, as the units and what they stand under write them."""
    values: dict[str, None] = {}
    for text in (text for level in levels for text in (level.words, *level.around)):
        if wanted.kind == "version":
            values |= dict.fromkeys(named.text for named in versions_in(text) if _same_head(named.head, wanted.head))
        elif wanted.kind == "code" and (shape := _CODE_SHAPE.fullmatch(wanted.folded)):
            values |= dict.fromkeys(_codes_like(shape, text))
        elif wanted.kind == "size":
            values |= dict.fromkeys(size.text for size in sizes_in(text) if size.unit == wanted.head)
        elif wanted.kind == "number":
            pattern = rf"(?<!\w){re.escape(wanted.head)}s?\s+(\d{{1,5}})(?![\w.]?\d)"
            values |= dict.fromkeys(re.findall(pattern, text, re.IGNORECASE))
    return list(values)


def holds_name(text: str, name: str) -> bool:
    """Whether `text` has a name, in this form or with the same stem."""
    if _mentions(name.casefold(), text):
        return True
    stems = set(_stems_of(name))
    return bool(stems) and stems <= set(_stems_of(text))


def carries_name(levels: Levels, name: str) -> bool:
    """Whether a name stands in a unit, around it, or in its passage."""
    return any(holds_name(text, name) for text in (levels.words, *levels.around, levels.passage))


def names_another(levels: Levels, name: str) -> bool:
    """Whether what stands around a unit has another name than `name` that begins alike: Ana Brand beside Ana Brandt.
    Ask it of units that do not carry `name`."""
    first, _, last = name.partition(" ")
    return bool(last) and any(re.search(rf"(?<!\w){re.escape(first)}\s+[^\W\da-z_]\w+", text) for text in levels.around)


def may_hold_name(text: str, name: str) -> bool:
    """Whether `text` has a word that a name begins with, or that begins with it: `Postgres` for `PostgreSQL`."""
    folded = name.casefold()
    return any(
        min(len(word), len(folded)) >= _LEAST_PREFIX and (word.startswith(folded) or folded.startswith(word))
        for word in _folded_words(text)
    )


@lru_cache(maxsize=4096)
def _stems_of(text: str) -> tuple[str, ...]:
    return tuple(terms(text))


@lru_cache(maxsize=4096)
def _folded_words(text: str) -> frozenset[str]:
    return frozenset(re.findall(r"\w+", text.casefold()))
