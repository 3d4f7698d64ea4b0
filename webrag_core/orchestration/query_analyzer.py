"""Rule-based query analysis: split a question into parts, classify it, and offer other wordings.

The patterns are deliberately few. A query that matches none of them stays whole: a wrong part brings in wrong evidence,
while a missing one costs little, because the original query is always searched too. Four constructions are split
(specification 000, section 7), tried in this order: several questions, advantages and disadvantages, comparisons,
"X and Y for Z". Quoted text is never split. A question that is clearly in another language than English is not
split, and loses the stop words of its own language only.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from itertools import combinations, pairwise
from typing import Final, Literal, get_args

from webrag_core.errors import InvalidInputError
from webrag_core.indexing.terms import terms
from webrag_core.language.detection import detected_beyond_doubt
from webrag_core.language.stop_words import ENGLISH as STOP_WORDS
from webrag_core.language.stop_words import stop_words
from webrag_core.late_pattern import late_pattern
from webrag_core.orchestration.models import Complexity, QueryAnalysis, QueryType

MAX_SUB_QUERIES: Final = 4
"""Searches per round at most, the original query included."""

_MAX_READ: Final = 2_000  # characters; the patterns cost the square of what they read

_QUERY_TYPES: Final[tuple[str, ...]] = get_args(QueryType)

# Words of the request, not of the topic.
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
_CONCEPT = late_pattern(r'"([^"]+)"|“([^”]+)”|`([^`]+)`|([cCfF](?:\+\+|#)(?!\w)|\w+(?:(?:[.:/-]|::)\w+)*)')
_IDENTIFIER = late_pattern(r"\w[._:]+\w|[a-z][A-Z]|\d|[+#]$")

_START = r"(?:^|[.!?]\s+)(?:and |but |so )?"  # of a sentence
_COMPARES = r"\b(?:vs|versus|compar\w+|differen(?:ces?|t from|t than)|better than|pros and cons)\b"
_MEASURES = _START + r"how (?:many|much|long|often|old|far|big|large|fast|high|deep)\b"
_HOW = rf"\bhow to\b|{_START}how\b|^steps? (?:to|for)\b|\b(?:tutorial|guide)\b"
_OPEN = _START + r"(?:why|explain|describe|tell me about|overview)\b|\boverview of\b"
_CLOSED = _START + (r"(?:what|who|whom|whose|when|where|which|is|are|was|were|do|does|did|can|could|has|have)\b")
_TYPE_PATTERNS: Final[tuple[tuple[QueryType, re.Pattern[str]], ...]] = (
    ("comparison", late_pattern(_COMPARES, re.I)),
    ("factual", late_pattern(_MEASURES, re.I)),
    ("how_to", late_pattern(_HOW, re.I)),
    ("exploratory", late_pattern(_OPEN, re.I)),
    ("factual", late_pattern(_CLOSED, re.I)),
)


def analyze_query(
    query: str,
    *,
    mode: Literal["rule_based", "none"] = "rule_based",
    intent: QueryType | None = None,
    constraints: Sequence[str] | None = None,
) -> QueryAnalysis:
    """Split and classify `query`.

    `rule_based` applies the grammar of specification 000 section 7; `none` keeps the query whole. `intent`, if set,
    overrides the query type. `constraints` are only validated; the reranker applies them.

    White space is collapsed. `sub_queries` starts with the query itself, then its parts, at most 4 in all.
    A query of more than 2,000 characters is not split; its type and concepts are those of
    its beginning.

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
    has_grammar = mode == "rule_based" and read == text and detected_beyond_doubt(text) in (None, "en")
    parts, implied = split(text) if has_grammar else ([], None)
    sub_queries = distinct([text, *parts])[:MAX_SUB_QUERIES]
    concepts = key_concepts(read)
    return QueryAnalysis(
        original_query=text,
        sub_queries=sub_queries,
        query_type=intent or implied or _classify(read),
        complexity=complexity_of(sub_queries, concepts),
        key_concepts=concepts,
    )


def complexity_of(sub_queries: Sequence[str], concepts: Sequence[str]) -> Complexity:
    """Complex from 3 parts on (`sub_queries` behind the query itself), or 2 with more than 6 key concepts; moderate
    with 2 parts or more than 4 key concepts; else simple."""
    parts = max(1, len(sub_queries) - 1)
    if parts > 2 or (parts == 2 and len(concepts) > 6):
        return "complex"
    return "moderate" if parts == 2 or len(concepts) > 4 else "simple"


def key_concepts(query: str) -> list[str]:
    """Extract the key concepts: quoted names, code identifiers and content words, as written, distinct, in order.

    Words of the request ("difference", "use") count only when there is nothing else. Empty for stop words
    alone.
    """
    matches = [next(filter(None, match.groups())).strip() for match in _CONCEPT.finditer(query)]
    language = detected_beyond_doubt(query) or "en"
    content = distinct(word for word in matches if word and word.lower() not in stop_words(language))
    if language != "en":
        return content
    return [word for word in content if word.lower() not in _REQUEST_WORDS] or content


def alternative_sub_queries(
    analysis: QueryAnalysis, tried: set[frozenset[str]], offered: Sequence[str] | None = ()
) -> list[str] | None:
    """Return a new set of 2 to 4 sub-queries, the original first. None when no new set is left.

    `offered` holds up to 3 wordings by a model; new ones come first, together. None disables rewriting.

    `tried` holds the sets searched so far; the sub-queries of the analysis count as tried. A set is new if the search
    terms of one sub-query differ from those of all tried ones: word order, stop words and capitals change nothing.
    Order: the key concepts alone; the concepts without code identifiers; the identifiers alone; single concepts;
    pairs; halves. Repeated calls end with None.
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
    """Remove duplicates, ignoring case. The first spelling stays, in its place."""
    first: dict[str, str] = {}
    for text in texts:
        first.setdefault(text.casefold(), text)
    return list(first.values())


def _classify(text: str) -> QueryType:
    """Query type by question words; a bare topic is exploratory."""
    unquoted = _QUOTED.sub("", text)
    return next((kind for kind, pattern in _TYPE_PATTERNS if pattern.search(unquoted)), "exploratory")


# --- the grammar: which queries have parts ---

_MASK = "ꙮ"  # a rare letter: a masked quotation counts as one word
_QUOTED = late_pattern(r'"[^"]*"|“[^”]*”|`[^`]*`')
_MASKED = late_pattern(f"{_MASK}(\\d+){_MASK}")

_AUXILIARY = "is|are|was|were|do|does|did|can|could|should|would|will"
_ASKS = (
    rf"(?:(?:what|how|why|when|where|which|who|whose|{_AUXILIARY}|has|have|may|must)\b|what['’]s\b"
    r"|(?:at|by|for|from|in|on|to|under|with)\s+(?:what|which|whom|whose)\b)"
)
_OPENER = late_pattern(rf"{_ASKS}|(?:explain|describe|show|tell)\b", re.I)
_NEXT_QUESTION = late_pattern(
    rf"""(?:,?\s+and|,|;)\s+(?:also\s+|then\s+)?(?=
        (?:what|how|why)\s+(?:{_AUXILIARY}|to|it|they|i|we|you|many|much|long|often|happens)\b)
    | ,?\s+and\s+(?:also\s+|then\s+)?(?=
        (?:when|where|who)\s+(?:{_AUXILIARY}|to|it|they|i|we|you)\b
        | which\s+(?:one|should|do|does)\b
        | (?:{_AUXILIARY})\s+(?:it|they|i|we|you|there)\b)
    | ,\s+and\s+(?:also\s+|then\s+)?(?={_ASKS})
    """,
    re.I | re.X,
)
_CLAUSE = late_pattern(rf"when\s+(?!(?:{_AUXILIARY})\b)", re.I)  # "when it fails, what happens?" asks one thing
_SENTENCE_END = late_pattern(r"(?<=[^\s?])\?+\s+")
_PRONOUN = late_pattern(
    r"\b(?:it(?!\s+(?:possible|necessary|better|ok|okay|recommended|true|that)\b)|them|they"
    r"|each(?: of them| one)?|both|these|those|(?:this|that)(?=$|\s+(?:for|in|on|when|with)\b))(?=\s|$)",
    re.I,
)
_TOPICS = (
    late_pattern(r"^how (?:do|does|did) (.+?) work\b", re.I),
    late_pattern(r"\bdifferences? between (.+)$", re.I),
    late_pattern(r"^(?:what|who)(?:['’]s| is| are| was| were) (?:an? |the )?(.+)$", re.I),
    late_pattern(r"^(?:how (?:do|can|should|would) (?:i|we|you)|how to) \w+ (?:an? |the )?(.+)$", re.I),
    late_pattern(r"^(?:explain|describe) (?:how )?(?:an? |the )?(.+?)(?: works?)?$", re.I),
)
_TOPIC_WORDS = 6

_GOOD = "pros|advantages|benefits|strengths|upsides"
_BAD = "cons|disadvantages|drawbacks|weaknesses|downsides|limitations|risks"
_PROS_CONS = late_pattern(rf"\b({_GOOD})\s*(?:and|&|/|or|vs\.?)\s*({_BAD})\s+(?:of|to|for|in|with)\s+(.+)$", re.I)
_PROS_CONS_LAST = late_pattern(rf"^(.+?)(?<![\s:,-])[\s:,-]+({_GOOD})\s*(?:and|&|/)\s*({_BAD})$", re.I)

_VERSUS = late_pattern(r"(?<!\s)\s+(?:vs\.?|versus|(?:as )?compared (?:to|with))\s+", re.I)
_ADJECTIVE = "better|worse|faster|slower|cheaper|safer|easier|simpler|more [a-z]+|less [a-z]+"
_PAIRS = (
    late_pattern(r"\bcompare (.+?) (?:to|with|against) (.+)$", re.I),
    late_pattern(r"^how (?:is|are) (.+?) different (?:from|than|to) (.+)$", re.I),
    late_pattern(r"^how (?:does|do) (?!(?:i|we|you)\b)(.+?) (?:differ from|compare (?:to|with|against)) (.+)$", re.I),
    late_pattern(rf"^(?:is|are|why is|why are|when is|when are) (.+?) (?:{_ADJECTIVE}) than (.+)$", re.I),
)
_LISTS = (
    late_pattern(r"\b(?:differences?|comparison|choos(?:e|ing)|decid(?:e|ing)) (?:between|of) (.+)$", re.I),
    late_pattern(r"^(?:please )?compare (.+)$", re.I),
    late_pattern(r"^how (?:do|are) (.+? and .+?) (?:differ|compare|different)$", re.I),
    late_pattern(rf"^(?:which|what) (?:one )?is (?:{_ADJECTIVE})[^,:]*[,:]\s*(.+? or .+)$", re.I),
    late_pattern(r"^(?:should|do|would) (?:i|we|you) (?:use|choose|pick|prefer|learn|recommend) (.+? or .+)$", re.I),
)
_LIST_JOINT = late_pattern(r"(?:(?<!\s)\s+)?,\s*(?:and\s+|or\s+)?|(?<!\s)\s+(?:and|or|&)\s+", re.I)
_CONTEXT = late_pattern(r"(?<!\s)\s+((?:for|in|on|at|when|if|with|under|during|regarding)\s+.+)$", re.I)
_LEAD = frozenset(
    [
        "choose", "compare", "comparing", "comparison", "describe", "difference", "differences", "explain",
        "main", "show", "tell", "use", "using",
    ]
)  # fmt: skip
_TAIL = frozenset(["better", "differ", "different", "faster", "slower"])
_ITEMS = range(2, 4)
_ITEM_WORDS = 8

_FOR = late_pattern(r"^(.+?) and (.+?) for (.+)$", re.I)
_FOR_LEAD = late_pattern(r"^what are (?:the |some )?", re.I)
_NOUN_WORDS = 4
_NO_NOUN = frozenset(
    [
        "are", "can", "create", "do", "does", "find", "get", "has", "have", "how", "is", "list", "make",
        "need", "should", "show", "to", "was", "were",
    ]
)  # fmt: skip
_ONE_THING = frozenset(
    [
        "black white", "copy paste", "cut paste", "divide conquer", "drag drop", "find replace",
        "publish subscribe", "read write", "request response", "research development", "search replace",
        "supply demand", "terms conditions", "trial error",
    ]
)  # fmt: skip


def split(query: str) -> tuple[list[str], QueryType | None]:
    """The parts of `query` (white space collapsed) and the query type that its construction implies.

    2 to 4 parts, without the query itself and without the question mark; no parts and None when it stays
    whole. Pure.
    """
    quotes = _QUOTED.findall(query)
    numbers = iter(range(len(quotes)))
    masked = _QUOTED.sub(lambda _: f"{_MASK}{next(numbers)}{_MASK}", query)
    bare = masked.rstrip(" ?.!")
    implied: QueryType | None = None
    if not (parts := _questions(masked)):
        if parts := _pros_and_cons(bare) or _comparison(bare):
            implied = "comparison"
        elif parts := _two_for_one(bare):
            implied = "exploratory"

    def unmask(match: re.Match[str]) -> str:
        number = int(match.group(1))
        return quotes[number] if number < len(quotes) else match.group()

    parts = [_MASKED.sub(unmask, part) for part in parts]
    return (parts, implied) if all(map(terms, parts)) else ([], None)


def _questions(text: str) -> list[str]:
    """Two to four questions in one query; a pronoun in a later one is replaced by the topic of the first."""
    sentences = _SENTENCE_END.split(text)
    if any(not _OPENER.match(sentence) for sentence in sentences[1:]):
        return []
    questions: list[str] = []
    for sentence in sentences:
        bare = sentence.rstrip(" ?.!")
        asks = _OPENER.match(bare) and not _CLAUSE.match(bare)
        questions += _NEXT_QUESTION.split(bare) if asks else [bare]
    if not 2 <= len(questions) <= 4 or not all(terms(part) for part in questions):
        return []
    topic = _topic(questions[0])
    resolved = [questions[0], *(_PRONOUN.sub(lambda _: topic, part, count=1) for part in questions[1:])]
    return [_as_statement(part) for part in resolved]


def _topic(question: str) -> str:
    for pattern in _TOPICS:
        match = pattern.search(question)
        if match and len(match.group(1).split()) <= _TOPIC_WORDS and terms(match.group(1)):
            return match.group(1)
    return " ".join(word for word in question.split() if word.lower() not in STOP_WORDS)


def _as_statement(question: str) -> str:
    """How a page would put it: "how X works", "when to use X"."""
    question = re.sub(r"^how does (.+) work$", r"how \1 works", question, flags=re.I)
    question = re.sub(r"^how do (.+) work$", r"how \1 work", question, flags=re.I)
    return re.sub(r"^when (?:should|do|would|can|could) (?:i|we|you|one) ", "when to ", question, flags=re.I)


def _pros_and_cons(text: str) -> list[str]:
    if match := _PROS_CONS.search(text):
        good, bad, topic = match.groups()
    elif match := _PROS_CONS_LAST.search(text):
        topic, good, bad = match.groups()
    else:
        return []
    if not terms(topic):
        return []
    words = {"pros": "advantages", "cons": "disadvantages"}
    good, bad = (words.get(word.lower(), word.lower()) for word in (good, bad))
    if compared := _comparison(topic):
        return [f"{good} and {bad} of {item}" for item in compared]
    return [f"{good} of {topic}", f"{bad} of {topic}"]


def _comparison(text: str) -> list[str]:
    """The two or three compared things, each with the context that follows the last ("... for small
    files")."""
    items = _VERSUS.split(text)
    if len(items) > 1:
        items[0] = re.split(r"[,:]\s+", items[0])[-1]
    elif pair := next(filter(None, (pattern.search(text) for pattern in _PAIRS)), None):
        items = list(pair.groups())
    elif listed := next(filter(None, (pattern.search(text) for pattern in _LISTS)), None):
        items = [item for item in _LIST_JOINT.split(listed.group(1)) if item]
    if len(items) not in _ITEMS:
        return []
    context = _CONTEXT.search(items[-1])
    if context and not any(_CONTEXT.search(item) for item in items[:-1]):
        items[-1] = items[-1][: context.start()]
        shared = " " + context.group(1)
    else:
        shared = ""
    items = [_name(item) for item in items]
    if not all(terms(item) and len(item.split()) <= _ITEM_WORDS for item in items):
        return []
    if len({item.casefold() for item in items}) < len(items):
        return []
    return [item + shared for item in items]


def _name(item: str) -> str:
    """A compared thing without the words of the question around it."""
    words = item.strip(" ,;:.").split()
    while len(words) > 1 and words[0].lower() in STOP_WORDS | _LEAD:
        words.pop(0)
    while len(words) > 1 and words[-1].lower() in STOP_WORDS | _TAIL:
        words.pop()
    return " ".join(words)


def _two_for_one(text: str) -> list[str]:
    """ "X and Y for Z" with two noun phrases of one kind: two single words or two longer phrases.

    One word against several ("supervised and unsupervised learning", "install and configure nginx") shares
    its head or object, which a cut would lose; fixed pairs ("research and development") are one thing.
    """
    match = _FOR.match(_FOR_LEAD.sub("", text))
    if not match:
        return []
    first, second, purpose = match.groups()
    sides = [side.lower().split() for side in (first, second)]
    sizes = {min(len(side), 2) for side in sides}
    if len(sizes) > 1 or any(len(side) > _NOUN_WORDS or _NO_NOUN & set(side) for side in sides):
        return []
    if any(f"{a} {b}" in _ONE_THING for a, b in pairwise([sides[0][-1], sides[1][0]])):
        return []
    if any(re.search(r",| (?:and|or|for|in|on|with) ", side) for side in (first, second)):
        return []
    if _OPENER.match(first) or not all(map(terms, (first, second, purpose))):
        return []
    return [f"{first} for {purpose}", f"{second} for {purpose}"]


_JOINED = late_pattern(r";|\band\b", re.I)


def joins_parts(query: str) -> bool:
    """Whether the question joins parts by "and" or a semicolon, so that one passage alone may well not answer it."""
    return _JOINED.search(query) is not None
