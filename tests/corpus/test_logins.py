"""What is sent to a site behind a log-in is in no table, and a session that ended keeps the stored page."""

from __future__ import annotations

import asyncio
import json

import pytest
from psycopg import sql

from tests.acquisition.local_server import redirect, reply, serving
from tests.corpus.corpora import broken_rules, rows
from webrag_core.config import Settings
from webrag_core.errors import FetchError, Reason
from webrag_core.indexing.pipeline import Corpus

SECRET = "s3ssion-0f-alice-and-bob"
TEXT = reply(
    b"<h1>Rota</h1><p>The night shift begins at ten and ends at six in the morning.</p>",
    *("content-type: text/html", f"set-cookie: sid={SECRET}-2", 'etag: "a"'),
)


def test_no_table_holds_a_secret_and_an_ended_session_keeps_the_page(settings: Settings) -> None:
    async def body() -> None:
        async with serving({"/": TEXT, "/robots.txt": reply(status="404 No"), "/login": TEXT}) as site:
            url, host = f"http://127.0.0.1:{site.port}/", f"127.0.0.1:{site.port}"
            logins = {host: {"headers": {"Authorization": f"Bearer {SECRET}"}, "cookies": {"sid": SECRET}}}
            update = {"webrag_warc": None, "webrag_allow_hosts": host}
            live = Settings.model_validate(
                settings.model_dump() | update | {"webrag_logins": json.dumps(logins), "webrag_acquirer": "http"}
            )
            async with Corpus.open(live) as corpus:
                await corpus.add(url)
                for ended in (redirect("/login"), reply(b"", status="401 No")):
                    site.pages["/"] = ended
                    with pytest.raises(FetchError) as caught:
                        await corpus.add(url, refresh=True)
                    assert caught.value.reason is Reason.SESSION_ENDED
                assert await broken_rules(corpus.database) == set()
                tables = await rows(
                    corpus.database,
                    "SELECT table_schema, table_name FROM information_schema.tables WHERE table_type = 'BASE TABLE'"
                    " AND table_schema NOT IN ('pg_catalog', 'information_schema')",
                )
                assert len(tables) > 20
                async with corpus.database.connection() as connection:
                    for schema, table in tables:
                        query = sql.SQL("SELECT count(*) FROM {} t WHERE strpos(t::text, %s) > 0")
                        found = await connection.execute(query.format(sql.Identifier(schema, table)), (SECRET,))
                        assert await found.fetchone() == (0,), table
                assert any(sent.get("cookie") == f"sid={SECRET}" for _, sent in site.requests)
                texts = await rows(corpus.database, "SELECT outcome, reason FROM fetch_log ORDER BY started_at")
                assert [reason for _, reason in texts][-2:] == ["session_ended"] * 2

    asyncio.run(body())
