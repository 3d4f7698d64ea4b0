"""What a question is about beside its words: who uses a thing, what is in it, what changed. English; pure."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from webrag_core.indexing.graph.names import looks_like_code
from webrag_core.late_pattern import late_pattern

Kind = Literal[
    "quotes",
    "last_change",
    "page_then",
    "said_then",
    "replaced",
    "uses",
    "contains",
    "holds",
    "related",
    "changed",
    "still",
    "cell",
]

_THING = r"(?:the |an? )?(?P<thing>[^?!]{1,120}?)"
_KIND = r"(?: (?:class|function|method|module|setting|option|command|section|chapter|page|parameter|object))?"
_END = r"\s*[?.!]*\s*$"
_PLACE = r"(?:pages?|documents?|sections?|chapters?|articles?|places?|functions?|classes|modules?|files?)"
_MEMBERS = (
    r"(?:methods?|functions?|classes|attributes?|members?|options?|commands?|sections?|subsections?|chapters?"
    r"|articles?|parts?|pages?)"
)
_USE = (
    r"(?:uses?|mentions?|cites?|links? to|refers? to|references?|talks? about|speaks? of|calls?|depends? on"
    r"|documents?|describes?)"
)
_USED = r"(?:used|mentioned|cited|linked|referred to|referenced|called|documented|described)"
_CELL = (
    r"(?:default|default value|maximum|minimum|max|min|port|data type|type|unit|exit code|exit status|return code"
    r"|status code|size|length|limit|range|value)"
)
_PAGE = r"(?:the )?(?:page )?(?:at |on )?https?://[^\s<>\"`]{1,500}"
_SPEAKS = r"(?:(?:the |these |those )?(?:pages?|docs?|documents?|documentation|manual|handbook|site|website) )?"
_THEN = r",? (?:as of|as at|as on|back in|in|on) [^?!]{1,40}[?.!]*\s*$"

# the first that matches counts
_PATTERNS: tuple[tuple[Kind, str], ...] = (
    ("quotes", r"\b(?:quotes?|citations?|sentences?) (?:of|in|from) (?:the )?answer #?(?P<thing>\d{1,9})\b"),
    ("last_change", rf"\b(?:last|latest|most recent) (?:change|edit|update|revision) (?:of|to|in) {_PAGE}"),
    ("last_change", rf"^when (?:did|was|has) {_PAGE} (?:been )?(?:last|most recently) "
                    rf"(?:changed?|updated?|edit(?:ed)?|revised?){_END}"),
    ("page_then", rf"^what (?:did|was|stood) {_PAGE} (?:say|look like|show|state|contain|read){_THEN}"),
    ("page_then", rf"^what (?:was|stood) on {_PAGE}{_THEN}"),
    ("page_then", rf"^(?:show|give)(?: me)? {_PAGE}{_THEN}"),
    ("said_then", rf"^what (?:did|was) {_SPEAKS}(?:say|said|state|stated|write|written) (?:about|of) {_THING}{_KIND}"
                  rf"{_THEN}"),
    ("replaced", rf"^(?:what|which \w+) (?:has )?(?:replace[sd]?|supersede[sd]?) {_THING}{_KIND}{_END}"),
    ("replaced", rf"^what (?:was|is|were|has been) {_THING} (?:replaced|superseded) (?:by|with){_END}"),
    ("replaced", rf"^what (?:should|can|do|must) (?:i|we|you|one) use instead of {_THING}{_KIND}{_END}"),
    ("uses", rf"^(?:who|what|which {_PLACE}|what {_PLACE}) (?:else )?(?:all )?{_USE} {_THING}{_KIND}{_END}"),
    ("uses", rf"^where (?:else )?(?:is|are) {_THING} {_USED}{_END}"),
    ("contains", rf"^(?:what|which) (?:are )?(?:the |all )*{_MEMBERS}(?: are| is)?(?: there)? (?:of|in|under|below)"
                 rf" {_THING}{_KIND}{_END}"),
    ("contains", rf"^(?:what|which) (?:the |all )*{_MEMBERS} (?:does|do) {_THING}{_KIND} (?:have|contain|hold){_END}"),
    ("contains", rf"^what is (?:under|inside|below) {_THING}{_KIND}{_END}"),
    ("contains", rf"^(?:list|show)(?: me)? (?:the |all )*{_MEMBERS} (?:of|in|under) {_THING}{_KIND}{_END}"),
    ("holds", rf"^(?:what|which) (?:page|chapter|section|class|module|part) (?:holds?|contains?|has) {_THING}{_END}"),
    ("related", rf"^(?:what|which \w+) (?:is|are) (?:related to|similar to|near|close to) {_THING}{_KIND}{_END}"),
    ("related", rf"^what else is there (?:beside|besides|like|near) {_THING}{_KIND}{_END}"),
    ("changed", r"\bwhat(?:'s| has| have| is)? (?:changed|new|different)\b"),
    ("changed", r"\bwhat (?:changes|did .{1,80} change)\b"),
    ("changed", r"^how (?:has|have|did) .{1,120}\bchanged?\b"),
    ("still", r"^(?:is|are|does|do|can|has) .{1,200}\bstill\b"),
    ("cell", rf"^(?:what|which)(?:'s| is| are)?(?: the)? (?:\w+ ){{0,2}}{_CELL} (?:of|for|does|is|has) {_THING}{_END}"),
    ("cell", rf"\b{_CELL} (?:of|for) {_THING}{_END}"),
)  # fmt: skip
_COMPILED = tuple((kind, late_pattern(pattern, re.IGNORECASE)) for kind, pattern in _PATTERNS)
_QUOTED = late_pattern(r"[`\"“]([^`\"”]{1,80})[`\"”]|'([\w.:()-]{2,80})'")
_TOKEN = late_pattern(r"(?<![\w:.-])[\w:.-]*\w(?:\(\))?")  # begins only where a run begins: linear
_CAPITALS = late_pattern(r"[A-Z][A-Z0-9_]{2,}")
_HUMPS = late_pattern(r"(?=\w+\Z)[A-Za-z]+?[a-z][A-Z]\w*")


@dataclass(frozen=True, slots=True)
class Intent:
    """What kind of question it is, and of which thing, if it names one."""

    kind: Kind
    thing: str | None


def intent_of(question: str) -> Intent | None:
    """None for a question that wants an explanation like any other."""
    text = " ".join(question.split())
    for kind, pattern in _COMPILED:
        match = pattern.search(text)
        if match is not None:
            thing = match.groupdict().get("thing")
            return Intent(kind, None if thing is None else thing.strip("`\"'“” "))
    return None


def names_in(text: str, most: int = 4) -> Sequence[str]:
    """Names that a question spells as code: quoted, dotted, with underscores, in capitals; at most `most`."""
    quoted = [match or other for match, other in _QUOTED.findall(text)]
    tokens = [match.group().rstrip(".:-") for match in _TOKEN.finditer(text)]
    coded = [
        token for token in tokens if looks_like_code(token) or _CAPITALS.fullmatch(token) or _HUMPS.fullmatch(token)
    ]
    return list(dict.fromkeys(name.removesuffix("()") for name in (*quoted, *coded) if len(name) > 1))[:most]
