"""Stored laws by identifier and day."""

from __future__ import annotations

import asyncio
import json

import pytest

from tests.corpus.corpora import rows
from tests.local_site import SITE, LocalSite, page
from webrag_core.config import Settings
from webrag_core.errors import InvalidInputError
from webrag_core.history.as_of import AsOf
from webrag_core.history.document_apis.legal import LegalApi
from webrag_core.history.document_apis.models import DocumentReply
from webrag_core.indexing.pipeline import Corpus

TEA = "urn:nir:stato:legge:1990-08-07;241"
MILK = "http://data.example/eli/ukpga/2010/15"
TWICE = "/akn/it/act/1991-01-01/1"


def law(title: str, *identifiers: str, **dates: str) -> str:
    stated = {"@type": "Legislation", "name": title, "legislationIdentifier": list(identifiers), **dates}
    return page(
        title,
        f'<script type="application/ld+json">{json.dumps(stated)}</script>'
        '<h2 id="art_1">Article 1</h2><p>Tea is to be brewed with water, and with nothing else.</p>'
        '<h2 id="art_2">Article 2</h2><p>Water is to boil before tea is brewed.</p>',
    )


LAWS = {
    "/tea": law("The tea act", TEA, TWICE, validFrom="1990-09-02", validThrough="2005-06-30"),
    "/milk": law("The milk act", MILK, TWICE),
}


def test_laws_by_identifier_and_day(settings: Settings) -> None:
    async def work() -> None:
        async with Corpus.open(settings, LocalSite(dict(LAWS))) as corpus:
            for path in LAWS:
                await corpus.add(SITE + path)
            before = await rows(corpus.database, "SELECT count(*) FROM document_versions")
            api = LegalApi(corpus.database)

            async def ask(identifier: str, at: str | None = None) -> DocumentReply:
                return (await api.fetch([identifier], None if at is None else AsOf.parse(at)))[0]

            held = await ask(TEA, "1995")
            assert (held.status, held.certainty, held.url) == ("already_stored", "certain", f"{SITE}/tea")
            assert (await ask(f"{TEA}!vig=1995-01-01")).version_id == held.version_id
            for at, outside in (("1980", "not_yet"), ("2010", "repealed"), ("2999", "repealed")):
                gone = await ask(TEA, at)
                assert (gone.status, gone.outside, gone.version_id) == ("no_version_at", outside, None), at
            silent = await ask(MILK, "2015")  # says nothing of its time
            assert (silent.status, silent.outside) == ("no_version_at", "unknown")
            assert (await ask(MILK)).status == "already_stored"
            part = await ask(f"{TEA}~art2!vig=1995-01-01")
            ((text,),) = await rows(
                corpus.database, "SELECT markdown FROM document_versions WHERE id = %s", part.version_id
            )
            assert text[part.char_start : part.char_end].startswith("## Article 2")
            no_part = await ask(f"{TEA}~art9!vig=1995-01-01")
            assert (no_part.status, no_part.code, no_part.version_id) == ("not_found", "no_such_part", None)
            assert await rows(corpus.database, "SELECT count(*) FROM document_versions") == before
            ((version,),) = [[one.version_id for one in await api.versions(TEA)]]
            assert version == held.version_id
            assert [one.url for one in await api.search_titles("milk act")] == [f"{SITE}/milk"]

    asyncio.run(work())


@pytest.mark.slow
def test_what_is_not_stored_says_where_it_could_be_asked_for(settings: Settings) -> None:
    async def work() -> None:
        async with Corpus.open(settings, LocalSite(dict(LAWS))) as corpus:
            for path in LAWS:
                await corpus.add(SITE + path)
            api = LegalApi(corpus.database)
            urn, eli, akn = (
                "urn:nir:stato:legge:2000-01-01;1",
                "http://data.europa.eu/eli/reg/2016/679/oj",
                "/akn/ke/act/2010/1",
            )
            batch = [urn, eli, akn, "nonsense", "", "\0", f"{TEA}!vig=2010-13-45", TWICE, TEA]
            replies = await api.fetch(batch)
            assert [one.identifier for one in replies] == batch
            told = {one.identifier: (one.status, one.code, one.address) for one in replies}
            assert told[urn] == ("not_found", None, f"https://www.normattiva.it/uri-res/N2Ls?{urn}")
            assert told[eli] == ("not_found", None, eli)
            assert told[akn] == ("not_found", None, None)
            for malformed in ("nonsense", "", "\0"):
                assert told[malformed][:2] == ("failed", "malformed")
            assert told[f"{TEA}!vig=2010-13-45"][0] == "failed"
            assert told[TWICE][0] == "failed"  # several pages state it
            assert told[TEA][0] == "already_stored"
            with pytest.raises(InvalidInputError):
                await api.versions("nonsense")
            many = await api.fetch([f"{urn}{number}" for number in range(1_000)])
            assert {one.status for one in many} == {"not_found"}

    asyncio.run(work())
