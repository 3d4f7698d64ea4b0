"""Every table of the corpus, listed once: whose it is, what of pages it holds, how rows go, what `verify` checks.

`forget`, `prune`, the page of the views and the tests read this list. A table of the schema that is missing here, or an
entry without a table, fails `tests/corpus/test_tables.py`; so do words of a page that stay after it was forgotten.
Files with text of pages are listed in `page_files`.

The order matters: rows go in it, so that what is found by the rows of another table goes before them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Literal, LiteralString

from webrag_core.config import Settings
from webrag_core.corpus.stored_pages import LINKS_TO

Subject = Literal["document", "urls", "source", "answer"]
"""What may be removed. A page is a document where it is stored, and its URLs wherever they are named."""


@dataclass(frozen=True, slots=True)
class Rows:
    """Rows that go with a subject: a condition on the parameter of its name (`urls` is an array), and the name under
    which they are counted; None = they are not. `corpus.forget` has a function for tables that need more than that."""

    where: LiteralString
    counted: str | None


@dataclass(frozen=True, slots=True)
class Retention:
    """A category of `prune`: rows `x` that may go, older than `before` where the condition says so."""

    name: str
    where: LiteralString
    days: Callable[[Settings], float | None]
    """None keeps everything."""
    change: LiteralString | None = None
    """What is set instead of deleting the rows."""
    history: str | None = None
    """Name of the horizon that is moved first."""


@dataclass(frozen=True, slots=True)
class Table:
    """A table. Rows about a page go by `document`, `urls` or `source`, or with those of the table `goes_with`; where
    rows stay, the function `redaction` takes the page's words out of them, or `stays` says why they may."""

    name: str
    key: tuple[str, ...]
    owner: str
    """The module that writes it."""
    words: tuple[str, ...] = ()
    """Columns that can hold words of a page, or its address."""
    document: Rows | None = None
    urls: Rows | None = None
    source: Rows | None = None
    answer: Rows | None = None
    goes_with: str | None = None
    redaction: str | None = None
    stays: str | None = None
    retention: tuple[Retention, ...] = ()
    invariants: tuple[str, ...] = ()
    """Rules of `corpus.verification` about its rows."""
    per_model: bool = False
    """One table for each embedding model: its name goes on with the model's number."""

    def rows(self, subject: Subject) -> Rows | None:
        """Which rows go with a subject; None = none, or with those of another table."""
        return {"document": self.document, "urls": self.urls, "source": self.source, "answer": self.answer}[subject]


_OF_DOCUMENT: LiteralString = "document_id = %(document)s"
_OF_SOURCE: LiteralString = "source_id = %(source)s"
_OF_ANSWER: LiteralString = "answer_id = %(answer)s"
_OF_VERSIONS: LiteralString = "version_id IN (SELECT id FROM document_versions WHERE document_id = %(document)s)"
_OF_OLD_ANSWER: LiteralString = (
    "EXISTS (SELECT FROM answer_runs a WHERE a.id = x.answer_id AND a.started_at < %(before)s)"
)
_TEXT_IS_PRUNED: LiteralString = (
    "EXISTS (SELECT FROM document_versions v WHERE v.id = x.version_id AND v.pruned_at IS NOT NULL)"
)

_LEDGER = (
    Table(
        "fetch_log",
        ("id",),
        "webrag_core.corpus.documents",
        words=("url", "final_url"),
        urls=Rows("url = ANY(%(urls)s) OR final_url = ANY(%(urls)s)", "ledger_lines"),
        retention=(
            Retention(
                "ledger_lines", "x.ended_at < %(before)s", lambda s: s.ledger_retention_days, history="fetch_log"
            ),
        ),
        invariants=("ledger-knows-document", "ledger-leads-to-document", "sightings-lie-in-periods"),
    ),
    Table(
        "corpus_log",
        ("id",),
        "webrag_core.corpus.documents",
        document=Rows(_OF_DOCUMENT, "outbox_lines"),
        source=Rows(_OF_SOURCE, "outbox_lines"),
        retention=(
            # never beyond what the slowest known reader has read
            Retention(
                "outbox_lines",
                "x.logged_at < %(before)s AND x.written_by < coalesce((SELECT min(r.horizon) FROM outbox_readers r),"
                " '18446744073709551615'::xid8)",
                lambda s: s.outbox_retention_days,
                history="corpus_log",
            ),
        ),
        invariants=("outbox-knows-version",),
    ),
    Table(
        "refresh_runs",
        ("id",),
        "webrag_core.corpus.refresh_store",
        words=("warnings",),
        source=Rows(_OF_SOURCE, "refresh_runs"),
        redaction="webrag_core.corpus.forgotten_words.redact_warnings",
        retention=(
            # the last refresh of a source, and of each of its shards, says when it is due
            Retention(
                "refreshes",
                "x.started_at < %(before)s AND EXISTS (SELECT FROM refresh_runs n WHERE n.source_id = x.source_id"
                " AND n.shard = x.shard AND n.started_at > x.started_at)",
                lambda s: s.ledger_retention_days,
            ),
        ),
        invariants=("refresh-balances",),
    ),
    Table(
        "removed_lines",
        ("run_id",),
        "webrag_core.corpus.forget",
        stays="how many lines of a run were removed: numbers, for its balance",
        retention=(
            Retention(
                "removed_line_counts",
                "NOT EXISTS (SELECT FROM refresh_runs r WHERE r.run_id = x.run_id)"
                " AND NOT EXISTS (SELECT FROM fetch_log f WHERE f.run_id = x.run_id)",
                lambda s: s.ledger_retention_days,
            ),
        ),
        invariants=("refresh-balances",),
    ),
    Table("outbox_readers", ("name",), "webrag_core.corpus.outbox", stays="who reads the outbox, and how far"),
    Table("retention_horizons", ("history",), "webrag_core.corpus.retention", stays="how far histories are pruned"),
    Table("removals", ("id",), "webrag_core.corpus.forget", stays="the proof of a removal: digests and numbers"),
    Table("corpus_identity", ("id",), "webrag_core.corpus.removal_list", stays="a random number"),
    Table("forgotten_urls", ("url_sha256",), "webrag_core.corpus.forget", stays="digests, so that no page comes back"),
    Table("removal_mark", ("id",), "webrag_core.corpus.forget", stays="a random word"),
)
_ANSWERS = (
    Table(
        "answer_rounds",
        ("answer_id", "round"),
        "webrag_core.orchestration.answers",
        words=("chunks", "candidates"),
        answer=Rows(_OF_ANSWER, "answer_rounds"),
        redaction="webrag_core.corpus.forgotten_words.redact_rounds",
        retention=(Retention("answer_rounds", _OF_OLD_ANSWER, lambda s: s.answer_round_retention_days),),
    ),
    Table(
        "route_tasks",
        ("answer_id", "iteration", "id"),
        "webrag_core.routing.stored_tasks",
        words=("params", "error", "output"),
        answer=Rows(_OF_ANSWER, "route_tasks"),
        redaction="webrag_core.corpus.forgotten_words.redact_tasks",
        retention=(Retention("route_tasks", _OF_OLD_ANSWER, lambda s: s.answer_round_retention_days),),
    ),
    Table(
        "exposures",
        ("answer_id", "rank"),
        "webrag_core.corpus.retention",  # no longer written
        document=Rows("chunk_id IN (SELECT c.id FROM chunks c WHERE c.document_id = %(document)s)", "exposures"),
        answer=Rows(_OF_ANSWER, "exposures"),
        retention=(Retention("exposures", _OF_OLD_ANSWER, lambda s: s.answer_round_retention_days),),
        invariants=("shown-passages-are-quoted",),
    ),
    Table(
        "feedback",
        ("id",),
        "webrag_core.feedback.store",
        words=("text", "suggested"),
        # what is about a quote, or a sentence made of one, is found by the quotes
        document=Rows(
            "suggested_version IN (SELECT v.id FROM document_versions v WHERE v.document_id = %(document)s)"
            " OR EXISTS (SELECT FROM citations c JOIN document_versions v ON v.id = c.version_id"
            "  WHERE v.document_id = %(document)s AND c.answer_id = feedback.answer_id"
            "  AND (c.number = feedback.citation OR EXISTS (SELECT FROM sentence_citations n"
            "   WHERE n.answer_id = c.answer_id AND n.number = c.number AND n.ordinal = feedback.sentence)))",
            "feedback",
        ),
        answer=Rows(_OF_ANSWER, "feedback"),
        redaction="webrag_core.corpus.forgotten_words.redact_feedback",
        retention=(
            Retention(
                "rejected_feedback",
                "x.state = 'rejected' AND x.created_at < %(before)s",
                lambda s: s.answer_round_retention_days,
            ),
        ),
        invariants=("suggestions-stand-in-their-text",),
    ),
    Table(
        "answer_sentences",
        ("answer_id", "ordinal"),
        "webrag_core.answering.stored",
        words=("text",),
        document=Rows(
            "(answer_id, ordinal) IN (SELECT n.answer_id, n.ordinal FROM sentence_citations n"
            " JOIN citations c USING (answer_id, number) JOIN document_versions v ON v.id = c.version_id"
            " WHERE v.document_id = %(document)s)",
            None,
        ),
        answer=Rows(_OF_ANSWER, "answer_sentences"),
    ),
    Table(
        "sentence_citations",
        ("answer_id", "ordinal", "number"),
        "webrag_core.answering.stored",
        goes_with="answer_sentences",
    ),
    Table(
        "citations",
        ("answer_id", "number"),
        "webrag_core.orchestration.answers",
        words=("heading",),
        document=Rows(_OF_VERSIONS, "citations"),
        answer=Rows(_OF_ANSWER, "citations"),
        invariants=("needed-text-is-kept",),
    ),
    Table(
        "citation_checks",
        ("answer_id", "number", "against_version"),
        "webrag_core.history.citations",
        words=("facts_changed",),
        goes_with="citations",
    ),
    Table(
        "answer_shares",
        ("id",),
        "webrag_core.history.shares",
        answer=Rows(_OF_ANSWER, "links_to_answers"),
        goes_with="answer_runs",
        retention=(Retention("links_to_answers", "x.expires_at < %(before)s", lambda s: 0),),
    ),
    Table(
        "answer_runs",
        ("id",),
        "webrag_core.orchestration.answers",
        words=("seed_url", "query", "options", "reason", "plan", "prose", "warnings"),
        answer=Rows("id = %(answer)s", "answers"),
        redaction="webrag_core.corpus.forgotten_words.redact_runs",
        stays="a question and what is left of its answer",
    ),
)
_WATCHES = (
    # what was in a page stays in no watch: one of the page goes with it, as does one of a source that is asked
    Table(
        "watches",
        ("id",),
        "webrag_core.watches.store",
        words=("url", "heading", "question"),
        urls=Rows("url = ANY(%(urls)s)", "watches"),
        source=Rows(
            "EXISTS (SELECT FROM sources s WHERE s.id = %(source)s"
            " AND (s.key = ANY(watches.sources) OR in_section(watches.url, s.place)))",
            "watches",
        ),
        redaction="webrag_core.corpus.forgotten_words.redact_watches",
        stays="questions to all sources",
    ),
)
_VERSIONS = (
    Table(
        "document_versions",
        ("id",),
        "webrag_core.corpus.documents",
        words=("markdown", "title", "description", "archive_url"),
        document=Rows(_OF_DOCUMENT, "versions"),
        retention=(
            Retention(
                "texts",
                "x.superseded_at < %(before)s AND x.pruned_at IS NULL"
                " AND NOT EXISTS (SELECT FROM citations c WHERE c.version_id = x.id)"
                " AND NOT EXISTS (SELECT FROM feedback f WHERE f.suggested_version = x.id AND f.state <> 'rejected')"
                " AND NOT EXISTS (SELECT FROM documents d WHERE d.current_version = x.id)"
                " AND NOT EXISTS (SELECT FROM watches w WHERE w.version_id = x.id)",
                lambda s: s.version_retention_days,
                change="markdown = NULL, pruned_at = now()",
            ),
        ),
        invariants=("version-hash", "needed-text-is-kept", "current-version-of-its-document"),
    ),
    Table(
        "version_markup",
        ("version_id",),
        "webrag_core.corpus.markup",
        words=("content", "urls"),
        goes_with="document_versions",
        redaction="webrag_core.corpus.markup.forget_in_markup",
        retention=(Retention("markup", _TEXT_IS_PRUNED, lambda s: s.version_retention_days),),
        invariants=("stated-edges-have-their-markup",),
    ),
    Table(
        "version_periods",
        ("document_id", "seen_from"),
        "webrag_core.corpus.periods",
        goes_with="documents",
        invariants=("periods-follow-each-other", "periods-of-their-source", "sightings-lie-in-periods"),
    ),
    Table(
        "version_validity",
        ("version_id", "kind", "valid", "basis"),
        "webrag_core.corpus.validity",
        goes_with="document_versions",
        invariants=("statements-stand-in-their-text",),
    ),
)
_GRAPH = (
    Table(
        "graph_edges",
        ("id",),
        "webrag_core.indexing.graph.edges",
        words=("label", "statement"),
        redaction="webrag_core.corpus.forget.remove_edges",
        retention=(
            # past edges go with the text that proves them
            Retention(
                "past_edges", f"x.seen_until IS NOT NULL AND {_TEXT_IS_PRUNED}", lambda s: s.version_retention_days
            ),
        ),
        invariants=(
            "edges-stand-in-their-text",
            "stated-edges-have-their-markup",
            "live-edges-are-of-the-current-version",
            "edges-are-counted",
            "edges-have-nodes",
            "edges-have-a-page",
        ),
    ),
    Table(
        "graph_nodes",
        ("id",),
        "webrag_core.indexing.graph.edges",
        words=("key", "label"),
        redaction="webrag_core.corpus.forget.remove_edges",
        invariants=("edges-have-nodes",),
    ),
    Table(
        "graph_documents",
        ("document_id",),
        "webrag_core.indexing.graph.edges",
        goes_with="documents",
        invariants=("edges-are-counted",),
    ),
)
_INDEX = (
    # a cached vector goes unless a chunk of another page has the same text: that of a superseded text has no chunk
    Table(
        "embedding_cache",
        ("model_id", "text_sha256"),
        "webrag_core.indexing.embedding_models",
        document=Rows(
            "NOT EXISTS (SELECT FROM chunks o WHERE o.embed_sha256 = embedding_cache.text_sha256"
            " AND o.document_id <> %(document)s)",
            "cached_vectors",
        ),
        retention=(
            Retention(
                "cached_vectors",
                "NOT EXISTS (SELECT FROM chunks c WHERE c.embed_sha256 = x.text_sha256)",
                lambda s: 0,
            ),
        ),
    ),
    Table(
        "texts_without_vector",
        ("model_id", "text_sha256"),
        "webrag_core.indexing.unembedded",
        document=Rows(
            "NOT EXISTS (SELECT FROM chunks o WHERE o.embed_sha256 = texts_without_vector.text_sha256"
            " AND o.document_id <> %(document)s)",
            None,
        ),
        retention=(
            Retention(
                "texts_without_vector",
                "NOT EXISTS (SELECT FROM chunks c WHERE c.embed_sha256 = x.text_sha256)",
                lambda s: 0,
            ),
        ),
        invariants=("vectors",),
    ),
    Table(
        "window_vectors",
        ("text_sha256",),
        "webrag_core.indexing.window_vectors",
        document=Rows(
            "NOT EXISTS (SELECT FROM chunks o WHERE o.embed_sha256 = window_vectors.text_sha256"
            " AND o.document_id <> %(document)s)",
            "window_vectors",
        ),
        retention=(
            Retention(
                "window_vectors",
                "NOT EXISTS (SELECT FROM chunks c WHERE c.embed_sha256 = x.text_sha256)",
                lambda s: 0,
            ),
        ),
        invariants=("window-vectors-have-unit-length",),
    ),
    Table(
        "vectors_",
        ("chunk_id",),
        "webrag_core.indexing.embedding_models",
        document=Rows(_OF_DOCUMENT, "vectors"),
        invariants=("vectors",),
        per_model=True,
    ),
    Table(
        "embedding_models",
        ("id",),
        "webrag_core.indexing.embedding_models",
        stays="models, of which `prune` drops the retired ones with their vectors",
    ),
    Table(
        "lexical_postings",
        ("chunk_id",),
        "webrag_core.indexing.lexical",
        document=Rows(_OF_DOCUMENT, "lexical_postings"),
        invariants=("postings-of-current-parents",),
    ),
    Table(
        "lexical_documents",
        ("document_id",),
        "webrag_core.indexing.lexical",
        document=Rows(_OF_DOCUMENT, "lexical_documents"),
        invariants=("lexical-parent-count", "sizes-of-sources"),
    ),
    Table(
        "lexical_terms",
        ("id",),
        "webrag_core.indexing.lexical",
        words=("term",),
        stays="single words, which lead to no page; `forget --scrub` drops those that no page has",
    ),
    Table("lexical_rules", ("rules",), "webrag_core.indexing.lexical", stays="languages whose rules wrote the index"),
    Table("counted_terms", ("one",), "webrag_core.indexing.lexical", stays="a number of parents"),
    Table(
        "chunks",
        ("id",),
        "webrag_core.indexing.chunks",
        words=("heading_path", "body"),
        document=Rows(_OF_DOCUMENT, "chunks"),
        invariants=(
            "slice",
            "parents-cover",
            "parent-exists",
            "children-partition",
            "chunk-count",
            "ready-has-chunks",
            "gone-is-out-of-the-index",
        ),
    ),
    Table(
        "link_candidates",
        ("id",),
        "webrag_core.corpus.documents",
        words=("target_url", "anchor_text", "context", "heading_path"),
        document=Rows(_OF_VERSIONS, "links"),
        urls=Rows(LINKS_TO, "links"),
    ),
)
_DOCUMENTS = (
    Table(
        "url_aliases",
        ("url",),
        "webrag_core.corpus.documents",
        words=("url",),
        document=Rows(_OF_DOCUMENT, "aliases"),
        invariants=("alias-is-no-document",),
    ),
    Table(
        "work_members",
        ("work_id", "document_id"),
        "webrag_core.corpus.works",
        words=("label",),
        document=Rows(_OF_DOCUMENT, None),
    ),
    Table(
        "works",
        ("id",),
        "webrag_core.corpus.works",
        words=("key", "title"),
        goes_with="work_members",
    ),
    Table(
        "documents",
        ("id",),
        "webrag_core.corpus.documents",
        words=("canonical_url",),
        document=Rows("id = %(document)s", "documents"),
        invariants=(
            "current-version-of-its-document",
            "kind-of-current-version",
            "months-of-current-version",
            "ledger-knows-document",
            "newest-version-is-noted",
            "outbox-knows-version",
        ),
    ),
    Table("page_kinds", ("id",), "webrag_core.store.migrate", stays="languages and types that pages have"),
    Table("page_months", ("id",), "webrag_core.store.migrate", stays="months of the dates that pages have"),
    Table("document_sizes", ("document_id",), "webrag_core.store.migrate", goes_with="documents"),
    Table("document_flag_sizes", ("document_id", "flags"), "webrag_core.store.migrate", goes_with="documents"),
)
_SOURCES = (
    Table(
        "absent_map_files",
        ("source_id", "url"),
        "webrag_core.corpus.refresh_store",
        source=Rows(_OF_SOURCE, None),
    ),
    Table(
        "site_map_pages",
        ("source_id", "url"),
        "webrag_core.corpus.refresh_store",
        words=("url", "title", "description", "words"),
        urls=Rows("url = ANY(%(urls)s)", "map_entries"),
        source=Rows(_OF_SOURCE, "site_map_pages"),
    ),
    Table(
        "inventory_symbols",
        ("source_id", "page_url", "name", "role"),
        "webrag_core.corpus.inventory",
        words=("page_url", "name", "anchor"),
        urls=Rows("page_url = ANY(%(urls)s)", "inventory_symbols"),
        source=Rows(_OF_SOURCE, "inventory_symbols"),
    ),
    Table(
        "skipped_urls",
        ("source_id", "url"),
        "webrag_core.corpus.refresh_store",
        words=("url",),
        urls=Rows("url = ANY(%(urls)s)", "skipped_urls"),
        goes_with="sources",
    ),
    Table("change_signals", ("source_id", "signal"), "webrag_core.corpus.refresh_store", goes_with="sources"),
    Table(
        "sources",
        ("id",),
        "webrag_core.corpus.sources",
        # a refresh that runs may have stored a page since: the source stays with it, and the removal can be run again
        source=Rows("id = %(source)s AND NOT EXISTS (SELECT FROM documents WHERE source_id = %(source)s)", "sources"),
    ),
    Table(
        "source_sizes",
        ("id",),
        "webrag_core.store.migrate",
        goes_with="sources",
        invariants=("sizes-of-sources",),
    ),
    Table(
        "month_sizes",
        ("id",),
        "webrag_core.store.migrate",
        goes_with="sources",
        invariants=("sizes-of-months",),
    ),
)
_WORK = (
    Table("host_paces", ("host",), "webrag_core.store.leases", stays="when hosts may be asked again"),
    Table("host_leases", ("ticket",), "webrag_core.store.leases", stays="requests that are under way"),
    Table("breakers", ("name",), "webrag_core.store.breakers", stays="endpoints that fail"),
    Table("spending", ("day", "provider"), "webrag_core.store.spending", stays="what endpoints were asked for"),
    Table("endpoints_used", ("name",), "webrag_core.providers.announcement", stays="endpoints with a key"),
)

MIGRATIONS = Table("schema_migrations", ("name",), "webrag_core.store.migrate", stays="which migrations were applied")
"""What only says how far the schema is."""
TABLES = (*_LEDGER, *_WATCHES, *_ANSWERS, *_VERSIONS, *_GRAPH, *_INDEX, *_DOCUMENTS, *_SOURCES, *_WORK, MIGRATIONS)


def rows_of(subject: Subject) -> Iterator[tuple[Table, Rows]]:
    """The tables of which rows go with a subject, in the order in which they go."""
    for table in TABLES:
        rows = table.rows(subject)
        if rows is not None:
            yield table, rows


def table_of(name: str) -> Table:
    """The entry of a table of the schema. Raises KeyError for one that is not listed."""
    return _BY_NAME[_MODEL.sub("", name)]


_MODEL = re.compile(r"(?<=^vectors_)[0-9]+$")
_BY_NAME = {table.name: table for table in TABLES}

VIEWS = {
    "v_answer": "Answers with their quotes, as JSON.",
    "v_breaker": "Endpoints that fail, and when they are tried again.",
    "v_chunk": "Parents and children: slices of a version of a page, with offsets in code points.",
    "v_document": "Pages, one row for each version of their text.",
    "v_edge": "The graph: what a page says of itself and of others, with the sentence.",
    "v_embedding": "Vectors of the live embedding model.",
    "v_exposure": "Passages that an answer of an earlier version considered; nothing is written any more.",
    "v_feedback": "What people and models said about answers.",
    "v_fetch": "Requests to sites, one row each, with outcome and reason.",
    "v_period": "From when to when a page was seen with a text, or without any.",
    "v_request": "Addresses that were asked for, by run.",
    "v_sentence": "Sentences of answers in prose, with their proofs.",
    "v_task": "Tasks of plans, and how they ended.",
    "v_validity": "What texts state of their own time.",
}
"""Views of schema `contract`, and what each is for."""
