"""The stable views agree with the tables."""

from __future__ import annotations

import asyncio
import hashlib

import pytest

from tests.acquisition.served_pages import HOME, ServedPages, html
from tests.corpus.corpora import rows
from webrag_core.config import Settings
from webrag_core.errors import FetchError
from webrag_core.indexing.pipeline import Corpus

A, B, LOST = f"{HOME}a", f"{HOME}b", f"{HOME}lost"
COLUMNS = {
    "v_period": "doc_id version seen_from seen_last seen_until",
    "v_validity": "doc_id version kind valid_from valid_until basis char_start char_end",
    "v_edge": "edge_id doc_id version kind src_kind src_key dst_kind dst_key strength char_start char_end seen_from"
    " seen_until label statement",
    "v_feedback": "feedback_id answer_id sentence citation kind value text suggested actor actor_kind weight state"
    " created_at",
    "v_exposure": "answer_id rank chunk_id agent shown propensity",
    "v_document": "doc_id url_canonical version is_current status reason content_sha256 text fetched_at updated_at",
    "v_chunk": "chunk_id doc_id version level ord start_off end_off text n_expected",
    "v_embedding": "chunk_id model dim vec",
    "v_request": "url_submitted run_id state reason attempts",
    "v_sentence": "answer_id ordinal text proof support citations",
    "v_fetch": "url hop status reason bytes_raw bytes_decoded started_at",
    "v_task": "answer_id iteration id agent kind params status code message milliseconds passages findings pages"
    " trace_id",
    "v_breaker": "name state failures opened_at retry_at last_reason last_failure_at",
    "v_answer": "answer_id query action rule citations",
}


def test_the_views_agree_with_the_tables(settings: Settings) -> None:
    async def run() -> None:
        site = ServedPages({A: html("A", "The first text of it.")}, {B: A})
        async with Corpus.open(settings, site) as corpus:
            await corpus.add(B, run_id="r1")
            site.pages[A] = html("A", "The second text of it.")
            await corpus.add(B, run_id="r1", refresh=True)
            with pytest.raises(FetchError):
                await corpus.add(LOST)
            database = corpus.database

            columns = await rows(
                database,
                "SELECT table_name, string_agg(column_name, ' ' ORDER BY ordinal_position)"
                " FROM information_schema.columns WHERE table_schema = 'contract' GROUP BY 1",
            )
            assert dict(columns) == COLUMNS

            documents = await rows(
                database,
                "SELECT url_canonical, version, is_current, status, reason, content_sha256, text"
                " FROM contract.v_document ORDER BY url_canonical, version",
            )
            assert [row[:5] for row in documents] == [
                (A, 1, False, "ready", None),
                (A, 2, True, "ready", None),
                (LOST, None, False, "failed", "not_found"),
            ]
            assert all(hashlib.sha256(text.encode()).hexdigest() == digest for *_, digest, text in documents[:2])

            whole = await rows(
                database,
                "SELECT c.level, bool_and(c.text = substring(d.text FROM c.start_off + 1 FOR c.end_off - c.start_off)),"
                " count(*) = max(n_expected) FROM contract.v_chunk c"
                " JOIN contract.v_document d USING (doc_id, version) WHERE d.is_current GROUP BY 1 ORDER BY 1",
            )
            assert whole == [("child", True, True), ("parent", True, True)]

            vectors = await rows(
                database,
                "SELECT count(*) = (SELECT count(*) FROM contract.v_chunk WHERE level = 'child'),"
                " bool_and(vector_dims(vec) = dim) FROM contract.v_embedding",
            )
            assert vectors == [(True, True)]

            requests = await rows(
                database, "SELECT DISTINCT url_submitted, run_id, state, reason, attempts FROM contract.v_request"
            )
            assert sorted(requests, key=str) == [
                (B, "r1", "fetched", None, 2),
                (LOST, None, "failed", "not_found", 1),
            ]
            fetches = "SELECT url, hop, status, bytes_raw = bytes_decoded FROM contract.v_fetch ORDER BY started_at"
            assert await rows(database, fetches) == [(B, 1, "200", True)] * 2 + [(LOST, 0, "404", None)]

    asyncio.run(run())
