"""Query analysis without a model: what is asked, in which parts, and what else could be asked instead.

The patterns are deliberately few. A query that none of them fits stays whole, because a wrong part pulls in
wrong evidence while a missing one costs little: the original query is always searched too.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from itertools import combinations
from typing import Final, Literal, get_args

from webrag_core.errors import InvalidInputError
from webrag_core.indexing.terms import STOP_WORDS, terms
from webrag_core.orchestration import query_grammar
from webrag_core.orchestration.models import QueryAnalysis, QueryType

MAX_SUB_QUERIES: Final = 4
"""Searches per round at most, the original query included."""

_MAX_READ: Final = 2_000  # characters; the patterns cost the square of what they read

_QUERY_TYPES: Final[tuple[str, ...]] = get_args(QueryType)

# Words that say what to do with a topic, not what the topic is.
_REQUEST_WORDS = frozenset(
    re.findall(
        r"\w+",
        """
    advantages advantage benefits better best compare compared comparison cons describe difference differences
    differ different disadvantages drawbacks explain give happens list many much need overview pros should
    show tell tradeoffs use used using versus vs want way ways work works
        """,
    )
)
_CONCEPT = re.compile(r'"([^"]+)"|“([^”]+)”|`([^`]+)`|([cCfF](?:\+\+|#)(?!\w)|\w+(?:(?:[.:/-]|::)\w+)*)')
_IDENTIFIER = re.compile(r"\w[._:]+\w|[a-z][A-Z]|\d|[+#]$")

_START = r"(?:^|[.!?]\s+)(?:and |but |so )?"  # of a sentence
_COMPARES = r"\b(?:vs|versus|compar\w+|differen(?:ces?|t from|t than)|better than|pros and cons)\b"
_MEASURES = _START + r"how (?:many|much|long|often|old|far|big|large|fast|high|deep)\b"
_HOW = rf"\bhow to\b|{_START}how\b|^steps? (?:to|for)\b|\b(?:tutorial|guide)\b"
_OPEN = _START + r"(?:why|explain|describe|tell me about|overview)\b|\boverview of\b"
_CLOSED = _START + (r"(?:what|who|whom|whose|when|where|which|is|are|was|were|do|does|did|can|could|has|have)\b")
_TYPE_PATTERNS: Final[tuple[tuple[QueryType, re.Pattern[str]], ...]] = (
    ("comparison", re.compile(_COMPARES, re.I)),
    ("factual", re.compile(_MEASURES, re.I)),
    ("how_to", re.compile(_HOW, re.I)),
    ("exploratory", re.compile(_OPEN, re.I)),
    ("factual", re.compile(_CLOSED, re.I)),
)


def analyze_query(
    query: str,
    *,
    mode: Literal["rule_based", "none"] = "rule_based",
    intent: QueryType | None = None,
    constraints: Sequence[str] | None = None,
) -> QueryAnalysis:
    """Split and classify `query`.

    `rule_based` applies the grammar of specification 000 section 7; `none` keeps the query whole. `intent`,
    when given, is the query type. `constraints` are only checked: they are the reranker's business, and glued
    to a sub-query they would be searched for as if they were its topic.

    White space is collapsed. `sub_queries` starts with the query itself, then its parts, 4 in all at most.
    `complexity`: complex from 3 parts on, or 2 with more than 6 key concepts; moderate with 2 parts or more
    than 4 key concepts; else simple. A query of more than 2,000 characters is no question that has parts: it stays
    whole, and its type and concepts are those of its beginning.

    Raises InvalidInputError for an empty query, an unknown mode or intent, and constraints that are not a
    list of non-empty texts.
    """
    text = " ".join(query.split())
    if not text:
        raise InvalidInputError("the query is empty")
    if mode not in ("rule_based", "none"):
        raise InvalidInputError(f"unknown decomposition mode {mode!r}; known: rule_based, none")
    if intent is not None and intent not in _QUERY_TYPES:
        raise InvalidInputError(f"unknown intent {intent!r}; known: {', '.join(_QUERY_TYPES)}")
    if constraints is not None and (
        isinstance(constraints, str) or any(not isinstance(c, str) or not c.strip() for c in constraints)
    ):
        raise InvalidInputError("constraints must be a list of non-empty texts")

    read = text[:_MAX_READ]
    parts, implied = query_grammar.split(text) if mode == "rule_based" and read == text else ([], None)
    sub_queries = distinct([text, *parts])[:MAX_SUB_QUERIES]
    concepts = key_concepts(read)
    n_parts = max(1, len(sub_queries) - 1)
    complexity: Literal["simple", "moderate", "complex"] = "simple"
    if n_parts > 2 or (n_parts == 2 and len(concepts) > 6):
        complexity = "complex"
    elif n_parts == 2 or len(concepts) > 4:
        complexity = "moderate"
    return QueryAnalysis(
        original_query=text,
        sub_queries=sub_queries,
        query_type=intent or implied or _classify(read),
        complexity=complexity,
        key_concepts=concepts,
    )


def key_concepts(query: str) -> list[str]:
    """What the query is about: quoted names, code identifiers and content words, as written, each once, in
    order.

    Words of the request ("difference", "use") count only when there is nothing else. Empty for stop words
    alone.
    """
    found = [next(filter(None, match.groups())).strip() for match in _CONCEPT.finditer(query)]
    content = distinct(word for word in found if word and word.lower() not in STOP_WORDS)
    return [word for word in content if word.lower() not in _REQUEST_WORDS] or content


def alternative_sub_queries(
    analysis: QueryAnalysis, tried: set[frozenset[str]], offered: Sequence[str] | None = ()
) -> list[str] | None:
    """Another set of 2 to 4 sub-queries, the original first, that can find something new; None if there is
    none.

    `offered` are wordings that a model has thought of, 3 at most: those still new come first, and together. None =
    the query is searched as it is, so there is never another set.

    `tried` holds the sets searched so far (the analysis' own counts without being named). A set is new if one
    of its sub-queries has search terms that none of the tried ones had: other word order, stop words or
    capitals find the same pages, and what earlier rounds found is kept anyway. In this order: the key
    concepts alone; the concepts without code identifiers; the identifiers alone; single concepts; pairs;
    halves. So repeated calls come to an end.
    """
    if offered is None:
        return None
    original, concepts = analysis.original_query, analysis.key_concepts
    names = [concept for concept in concepts if _IDENTIFIER.search(concept)]
    plain = [concept for concept in concepts if concept not in names]
    half = len(concepts) // 2
    rewrites: list[list[str]] = [
        list(offered[: MAX_SUB_QUERIES - 1]),
        [" ".join(concepts)],
        [" ".join(plain)] if names else [],
        [" ".join(names)] if plain else [],
        concepts if len(concepts) <= 3 else [],
        [" ".join(pair) for pair in combinations(concepts, 2)] if len(concepts) == 3 else [],
        [" ".join(concepts[:half]), " ".join(concepts[half:])] if len(concepts) > 3 else [],
    ]
    tried_queries = {"", *analysis.sub_queries}.union(*tried)
    searched = {frozenset(terms(query)) for query in tried_queries}
    for rewrite in rewrites:
        if any(frozenset(terms(query)) not in searched for query in rewrite):
            return distinct([original, *filter(None, rewrite)])
    return None


def distinct(texts: Iterable[str]) -> list[str]:
    """The texts without repetitions, whatever the capitals; the first spelling stays, where it stood."""
    first: dict[str, str] = {}
    for text in texts:
        first.setdefault(text.casefold(), text)
    return list(first.values())


def _classify(text: str) -> QueryType:
    """Query type by question words; a bare topic is exploratory."""
    unquoted = query_grammar.QUOTED.sub("", text)
    return next((kind for kind, pattern in _TYPE_PATTERNS if pattern.search(unquoted)), "exploratory")
