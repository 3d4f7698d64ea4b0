"""Query analysis: what splits, what must not, and rewrites that find something new."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from webrag_core.errors import InvalidInputError
from webrag_core.indexing.terms import terms
from webrag_core.orchestration.query_analyzer import alternative_sub_queries, analyze_query

# query -> its parts (the query itself always comes first)
SPLITS = {
    # comparisons
    "X vs Y": ["X", "Y"],
    "C++ vs. C#": ["C++", "C#"],
    "Postgres compared to MySQL": ["Postgres", "MySQL"],
    "What is the difference between X and Y": ["X", "Y"],
    "asyncio vs threading for I/O bound work": ["asyncio for I/O bound work", "threading for I/O bound work"],
    "differences between sort in Python and sort in Java": ["sort in Python", "sort in Java"],
    "What is the difference between asyncio.gather and asyncio.wait in Python 3.11?": [
        "asyncio.gather in Python 3.11",
        "asyncio.wait in Python 3.11",
    ],
    "compare lists, tuples and sets": ["lists", "tuples", "sets"],
    "compare Redis with Memcached": ["Redis", "Memcached"],
    "How does Postgres compare to MySQL?": ["Postgres", "MySQL"],
    "How do Postgres and MySQL differ?": ["Postgres", "MySQL"],
    "How is a TaskGroup different from gather?": ["TaskGroup", "gather"],
    "Is polars faster than pandas for joins?": ["polars for joins", "pandas for joins"],
    "Which is faster, pandas or polars?": ["pandas", "polars"],
    "Should I use asyncio or threads for web scraping?": [
        "asyncio for web scraping",
        "threads for web scraping",
    ],
    "war and peace vs. crime and punishment": ["war and peace", "crime and punishment"],
    # advantages and disadvantages
    "pros and cons of microservices": ["advantages of microservices", "disadvantages of microservices"],
    "What are the benefits and risks of caching in CI?": [
        "benefits of caching in CI",
        "risks of caching in CI",
    ],
    "Redis pros and cons": ["advantages of Redis", "disadvantages of Redis"],
    "pros and cons of React vs Vue": [
        "advantages and disadvantages of React",
        "advantages and disadvantages of Vue",
    ],
    # several questions
    "how does X work and when should I use it": ["how X works", "when to use X"],
    "What is asyncio? How does it work?": ["What is asyncio", "how asyncio works"],
    "What is RAG, how does it work, and what are its limits?": [
        "What is RAG",
        "how RAG works",
        "what are its limits",
    ],
    "What is the difference between locks and queues and when should I use each?": [
        "What is the difference between locks and queues",
        "when to use locks and queues",
    ],
    "Which file lists my volumes, and is a reboot needed?": ["Which file lists my volumes", "is a reboot needed"],
    "In which file are ports set, and by whom may it be read?": [
        "In which file are ports set",
        "by whom may file ports set be read",
    ],
    # two phrases for one purpose
    "indexing and caching for performance": ["indexing for performance", "caching for performance"],
    "random forests and gradient boosting for tabular data": [
        "random forests for tabular data",
        "gradient boosting for tabular data",
    ],
}

WHOLE = [
    "When one task of a group fails, what happens to the others?",
    "How do I see which settings differ from the defaults?",
    "cats and dogs in the rain",
    "cats and dogs",
    "research and development for startups",
    "supervised and unsupervised learning for text",
    "install and configure nginx for production",
    "How do I install and configure nginx for production?",
    "how to use locks and semaphores for synchronization",
    "how and why coroutines fail",
    "when and where to use a mutex",
    "How do I combine select and where clauses",
    "How does asyncio, which is single threaded, run tasks",
    'What does "search and replace, A vs B" do',
    "explain `x and y for z`",
    "What does the ?. operator do",
    "Hello! What is HNSW? Thanks",
    "When was Python 3.11 released and who wrote the notes?",
    "A vs A",
    "vs",
    "difference between a and the",
    "What is the difference?",
    "asyncio.to_thread timeout",
]


@pytest.mark.parametrize(("query", "parts"), SPLITS.items())
def test_splits(query: str, parts: list[str]) -> None:
    assert analyze_query(query).sub_queries == [query, *parts]


@pytest.mark.parametrize("query", WHOLE)
def test_stays_whole(query: str) -> None:
    assert analyze_query(query).sub_queries == [query]


@pytest.mark.parametrize("query", SPLITS)
def test_mode_none_never_splits(query: str) -> None:
    assert analyze_query(query, mode="none").sub_queries == [query]


@pytest.mark.parametrize(
    ("query", "kind"),
    [
        ("What is a task group?", "factual"),
        ("Who maintains pgvector", "factual"),
        ("How many workers does gunicorn start", "factual"),
        ("Hello! What is HNSW? Thanks", "factual"),
        ("How do I cancel a task?", "how_to"),
        ("how does X work and when should I use it", "how_to"),
        ("steps to install nginx", "how_to"),
        ("Redis vs Memcached", "comparison"),
        ("What is the difference between X and Y", "comparison"),
        ("Redis pros and cons", "comparison"),
        ("Which is faster, pandas or polars?", "comparison"),
        ('What does "A vs B" mean', "factual"),
        ("Why is Python slow", "exploratory"),
        ("indexing and caching for performance", "exploratory"),
        ("connection pooling", "exploratory"),
    ],
)
def test_query_type(query: str, kind: str) -> None:
    assert analyze_query(query).query_type == kind
    assert analyze_query(query, intent="exploratory").query_type == "exploratory"


@pytest.mark.parametrize(
    ("query", "concepts"),
    [
        ("How do I use asyncio.to_thread() in Python 3.11?", ["asyncio.to_thread", "Python", "3.11"]),
        ('Who said "to be or not to be" and why', ["said", "to be or not to be"]),
        ("what does `SELECT ... FOR UPDATE` lock", ["SELECT ... FOR UPDATE", "lock"]),
        ("sort in Python and sort in Java", ["sort", "Python", "Java"]),
        ("C# or C++ for a thread-safe I/O queue", ["C#", "C++", "thread-safe", "I/O", "queue"]),
        ("What is the difference?", ["difference"]),
        ("the who", []),
    ],
)
def test_key_concepts(query: str, concepts: list[str]) -> None:
    assert analyze_query(query).key_concepts == concepts


@pytest.mark.parametrize(
    ("query", "complexity"),
    [
        ("What is a task group?", "simple"),
        ("timeout retries backoff jitter limits", "moderate"),
        ("Redis vs Memcached", "moderate"),
        ("compare lists, tuples and sets", "complex"),
        ("asyncio vs threading for network bound scraping jobs on small ARM boards", "complex"),
    ],
)
def test_complexity(query: str, complexity: str) -> None:
    assert analyze_query(query).complexity == complexity


def test_constraints_are_not_searched_for() -> None:
    query = "Redis vs Memcached"
    assert analyze_query(query, constraints=["with code examples"]) == analyze_query(query)


def test_white_space_is_collapsed() -> None:
    assert analyze_query("  X \n vs\tY ").sub_queries == ["X vs Y", "X", "Y"]


@pytest.mark.parametrize("query", ["", "   ", "\n\t"])
def test_empty_query_is_refused(query: str) -> None:
    with pytest.raises(InvalidInputError):
        analyze_query(query)


@pytest.mark.parametrize(
    "wrong",
    [{"mode": "magic"}, {"intent": "poem"}, {"constraints": "code"}, {"constraints": ["ok", " "]}],
)
def test_wrong_arguments_are_refused(wrong: dict[str, object]) -> None:
    with pytest.raises(InvalidInputError):
        analyze_query("What is HNSW?", **wrong)  # type: ignore[arg-type]


pieces = st.sampled_from(
    [
        "X",
        "asyncio",
        "vs",
        "and",
        "for",
        "how does",
        "work",
        "what is",
        "it",
        "?",
        ",",
        '"',
        "`",
        "ꙮ7ꙮ",
        "a",
        "or",
    ]
)


@given(st.lists(pieces, min_size=1, max_size=14).map(" ".join) | st.text(min_size=1))
def test_any_query(query: str) -> None:
    if not query.strip():
        return
    analysis = analyze_query(query)
    assert analysis.sub_queries[0] == analysis.original_query == " ".join(query.split())
    assert len(analysis.sub_queries) <= 4
    assert len({q.casefold() for q in analysis.sub_queries}) == len(analysis.sub_queries)
    if len(analysis.sub_queries) > 1:
        assert all(terms(part) for part in analysis.sub_queries), "no part without content"

    tried: set[frozenset[str]] = set()
    while (rewrite := alternative_sub_queries(analysis, tried)) is not None:
        known = {frozenset(terms(q)) for queries in [*tried, analysis.sub_queries] for q in queries}
        assert rewrite[0] == analysis.original_query
        assert 2 <= len(rewrite) <= 4
        assert any(frozenset(terms(q)) not in known for q in rewrite)
        tried.add(frozenset(rewrite))
        assert len(tried) < 10, "must come to an end"


def test_rewrites_in_order() -> None:
    analysis = analyze_query("How do I use asyncio.gather with a timeout?")
    tried: set[frozenset[str]] = set()
    found = []
    while (rewrite := alternative_sub_queries(analysis, tried)) is not None:
        found.append(rewrite[1:])
        tried.add(frozenset(rewrite))
    assert found == [["asyncio.gather timeout"], ["timeout"], ["asyncio.gather"]]


@pytest.mark.parametrize("query", ["the who", "HNSW", "What is HNSW?"])
def test_no_rewrite_when_nothing_differs(query: str) -> None:
    assert alternative_sub_queries(analyze_query(query), set()) is None


@pytest.mark.parametrize(
    ("question", "concepts"),
    [
        ("Wie viele Elemente hat die Warteschlange von asyncio?", ["viele", "Elemente", "Warteschlange", "asyncio"]),
        ("¿Cuál es el tamaño máximo de la cola?", ["Cuál", "tamaño", "máximo", "cola"]),
        ("Was ist der Unterschied between Threads und Tasks?", ["Unterschied", "between", "Threads", "Tasks"]),
    ],
)
def test_a_question_in_another_language_loses_its_own_stop_words_only(question: str, concepts: list[str]) -> None:
    analysis = analyze_query(question)
    assert analysis.key_concepts == concepts
    assert analysis.sub_queries == [question]
