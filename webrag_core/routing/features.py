"""What a plan is made from: the question, and what the corpus holds of it. One round of reading, no model."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime

from psycopg import AsyncConnection

from webrag_core.acquisition.legal_identifiers import parse_legal_identifier
from webrag_core.acquisition.urls import canonicalise, site_roots
from webrag_core.config.fetching import FetchingSettings
from webrag_core.corpus.acquirers import same_web
from webrag_core.corpus.freshness import ANSWERED_AT
from webrag_core.errors import FetchError, InvalidInputError
from webrag_core.history.document_apis.identifiers import named_source
from webrag_core.orchestration.models import QueryType
from webrag_core.orchestration.query_analyzer import analyze_query
from webrag_core.origin import ANSWER, current_origin
from webrag_core.retrieval.graph.keys import resolve_keys
from webrag_core.routing.intents import Intent, intent_of, names_in
from webrag_core.routing.question import Question
from webrag_core.routing.question_dates import as_of, since_of, until_of

_NO_PLUGINS_FOR = frozenset({"mcp", ANSWER})
"""Origins of questions that no plugin is asked for: what a model writes must not reach other services without a person,
and a second plan, which does not know who asked for the first, needs no second look."""
_ADDRESS = re.compile(r"https?://[^\s<>\"`]{1,500}")

_STATE = f"""
WITH stored AS NOT MATERIALIZED (
    SELECT * FROM documents
    WHERE current_version IS NOT NULL AND status <> 'gone' AND acquirer = ANY(%(acquirers)s::text[])
), below AS (
    SELECT d.id FROM stored d JOIN unnest(%(roots)s::text[]) AS r (root) ON starts_with(d.canonical_url, r.root)
    LIMIT 10000
), seeds AS (
    SELECT d.id, d.current_version, {ANSWERED_AT} AS last_answered FROM stored d
    WHERE d.canonical_url = ANY(%(urls)s::text[])
    OR d.id IN (SELECT a.document_id FROM url_aliases a WHERE a.url = ANY(%(urls)s::text[]))
), links AS (
    SELECT DISTINCT l.target_url FROM link_candidates l JOIN seeds s ON s.current_version = l.version_id
    JOIN unnest(%(roots)s::text[]) AS r (root) ON starts_with(l.target_url, r.root)
    WHERE NOT l.nofollow LIMIT 500
)
SELECT (SELECT count(*) FROM seeds),
       (SELECT count(*) FROM seeds WHERE %(max_age)s::float IS NOT NULL
        AND (last_answered >= now() - make_interval(secs => %(max_age)s::float)) IS NOT TRUE),
       (SELECT count(*) FROM below),
       (SELECT count(*) FROM links),
       (SELECT count(*) FROM links l WHERE EXISTS (SELECT FROM stored d WHERE d.canonical_url = l.target_url)
        OR EXISTS (SELECT FROM url_aliases a JOIN stored d ON d.id = a.document_id WHERE a.url = l.target_url)),
       EXISTS (SELECT FROM documents WHERE current_version IS NOT NULL),
       array(SELECT key FROM sources),
       EXISTS (SELECT FROM version_periods WHERE seen_until IS NOT NULL)
"""  # noqa: S608


@dataclass(frozen=True, slots=True)
class RouteFeatures:
    """Numbers that plans are made from: counts, or 1 and 0 for yes and no; `stored_links` is a share in [0, 1].

    Of the addresses: `stored_urls` are stored, `stale_urls` older than WEBRAG_MAX_AGE; `site_pages` are the stored
    pages of their sites (up to 10,000), `stored_links` the share of their links within the site that are stored.
    """

    urls: int = 0
    stored_urls: int = 0
    stale_urls: int = 0
    site_pages: int = 0
    stored_links: float = 0.0
    any_stored: int = 0
    any_past: int = 0
    parts: int = 1


@dataclass(frozen=True, slots=True)
class Read:
    """A question that was read: its features, and what they were made from.

    `keys` are names that the graph knows, `pages` stored pages whose addresses stand in the text: they are read about,
    never fetched. `at`, `since` and `until` are dates of the question's text; `at` is the
    caller's, where there is one. `known_sources` are the keys of all stored sources.
    """

    question: Question
    urls: tuple[str, ...]
    features: RouteFeatures
    parts: tuple[str, ...]
    kind: QueryType
    intent: Intent | None
    keys: tuple[str, ...]
    identifiers: tuple[str, ...]
    at: str | None
    since: str | None
    until: str | None
    known_sources: frozenset[str]
    pages: tuple[str, ...] = ()

    @property
    def roots(self) -> list[str]:
        """Roots of the sites of the addresses."""
        return site_roots(self.urls)


@dataclass(frozen=True, slots=True)
class CorpusState:
    """What the corpus holds of a question: as the fields of `RouteFeatures` of these names, the keys that the graph
    knows of its `names_asked`, and the stored pages whose addresses stand in its text (`addresses_in`)."""

    stored_urls: int = 0
    stale_urls: int = 0
    site_pages: int = 0
    stored_links: float = 0.0
    any_stored: bool = False
    any_past: bool = False
    sources: frozenset[str] = frozenset()
    keys: tuple[str, ...] = ()
    pages: tuple[str, ...] = ()


async def read_question(
    connection: AsyncConnection,
    question: Question,
    settings: FetchingSettings,
    acquirer: str,
    *,
    now: datetime | None = None,
) -> Read:
    """Read the question, and what the corpus holds of it. `acquirer` is the one that pages would be fetched by: copies
    of a snapshot do not stand in for live pages. Raises FetchError(INVALID_URL)."""
    urls = _addresses(question)
    cursor = await connection.execute(
        _STATE,
        {
            "roots": site_roots(urls),
            "urls": list(urls),
            "acquirers": same_web(acquirer),
            "max_age": settings.webrag_max_age if question.max_age is None else question.max_age,
        },
        prepare=False,  # the plan depends on how many addresses there are
    )
    row = await cursor.fetchone()
    assert row is not None
    stored, stale, site_pages, links, stored_links, any_stored, sources, any_past = row
    state = CorpusState(
        stored_urls=stored,
        stale_urls=stale,
        site_pages=site_pages,
        stored_links=stored_links / links if links else float(stored == len(urls) > 0),
        any_stored=any_stored,
        any_past=any_past,
        sources=frozenset(sources),
        keys=await _known_names(connection, names_asked(question.text)),
        pages=await _stored_pages(connection, addresses_in(question.text)),
    )
    return read_with(question, state, (now or datetime.now(UTC)).date())


def read_with(question: Question, state: CorpusState, today: date) -> Read:
    """The question read against a known state of the corpus. Pure. Raises FetchError(INVALID_URL)."""
    urls = _addresses(question)
    intent = intent_of(question.text)
    identifiers = _identifiers(question)
    analysis = analyze_query(question.text)
    at = question.at if question.at is not None else as_of(question.text, today)
    return Read(
        question=question,
        urls=urls,
        features=RouteFeatures(
            urls=len(urls),
            stored_urls=state.stored_urls,
            stale_urls=state.stale_urls,
            site_pages=state.site_pages,
            stored_links=state.stored_links,
            any_stored=int(state.any_stored),
            any_past=int(state.any_past),
            parts=max(1, len(analysis.parts)),
        ),
        parts=tuple(analysis.parts) or (question.text,),
        kind=analysis.query_type,
        intent=intent,
        keys=state.keys,
        identifiers=identifiers,
        at=at,
        since=since_of(question.text, today),
        until=until_of(question.text, today),
        known_sources=state.sources,
        pages=state.pages,
    )


def names_asked(text: str) -> Sequence[str]:
    """Names in a question that may be keys of the graph: the thing that it is about, and what is spelled as code."""
    intent = intent_of(text)
    thing = [intent.thing] if intent is not None and intent.thing and intent.kind not in ("quotes", "cell") else []
    return list(dict.fromkeys(name.strip() for name in (*thing, *names_in(text)) if name.strip()))


def addresses_in(text: str, most: int = 4) -> list[str]:
    """Addresses that stand in a question, canonical; at most `most`."""
    addresses = []
    for match in _ADDRESS.findall(text)[:most]:
        try:
            addresses.append(canonicalise(match.rstrip(".,;:!?)\"'")))
        except FetchError:  # no address after all
            continue
    return list(dict.fromkeys(addresses))


async def _stored_pages(connection: AsyncConnection, addresses: Sequence[str]) -> tuple[str, ...]:
    if not addresses:
        return ()
    cursor = await connection.execute(
        "SELECT a.url FROM unnest(%(urls)s::text[]) WITH ORDINALITY AS a (url, place)"
        " WHERE EXISTS (SELECT FROM documents d WHERE d.canonical_url = a.url)"
        " OR EXISTS (SELECT FROM url_aliases u WHERE u.url = a.url) ORDER BY a.place",
        {"urls": list(addresses)},
    )
    return tuple(row[0] for row in await cursor.fetchall())


def _addresses(question: Question) -> tuple[str, ...]:
    return tuple(dict.fromkeys(canonicalise(url) for url in question.urls))


async def _known_names(connection: AsyncConnection, names: Sequence[str]) -> tuple[str, ...]:
    """Keys of the graph that the names stand for, each once; of ambiguous ones none."""
    try:
        matches = await resolve_keys(connection, names)
    except (InvalidInputError, FetchError):  # a name that is no key
        return ()
    keys = (match.answer.node for match in matches if match.answer.status == "found" and match.answer.node is not None)
    return tuple(dict.fromkeys(f"{node.kind}:{node.key}" for node in keys))


def _identifiers(question: Question) -> tuple[str, ...]:
    """Identifiers of laws among the words of the question and its addresses, and those for plugins among its words.
    Raises PluginError where two packages have the plugin's name."""
    words = [word.strip("?.,;()") for word in question.text.split()]
    urls = [url.strip("?.,;()") for url in question.urls]
    identifiers = [text for text in (*words, *urls) if _is_law(text)]
    if current_origin() not in _NO_PLUGINS_FOR:
        identifiers += [word for word in words if named_source(word) is not None]
    return tuple(dict.fromkeys(identifiers))


def _is_law(word: str) -> bool:
    try:
        return parse_legal_identifier(word) is not None
    except InvalidInputError:  # one with a day that does not exist
        return False
