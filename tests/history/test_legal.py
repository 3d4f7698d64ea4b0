"""Laws by their identifiers: the page that states one, and a part of its text."""

from __future__ import annotations

import asyncio
import json

import pytest

from tests.local_site import SITE, LocalSite, page
from webrag_core.acquisition.legal_identifiers import LegalIdentifier
from webrag_core.config import Settings
from webrag_core.errors import InvalidInputError
from webrag_core.history.as_of import AsOf
from webrag_core.history.legal import page_of_law, part_of
from webrag_core.history.pages import page_at
from webrag_core.indexing.pipeline import Corpus

TEA = "urn:nir:stato:legge:1990-08-07;241"
TWICE = "urn:nir:stato:legge:1991-01-01;1"


def law(title: str, *identifiers: str) -> str:
    stated = {
        "@type": "Legislation",
        "name": title,
        "legislationIdentifier": list(identifiers),
        "validFrom": "1990-09-02",
    }
    return page(
        title,
        f'<script type="application/ld+json">{json.dumps(stated)}</script>'
        '<h2 id="art_1">Article 1</h2><p>Tea is to be brewed with water, and with nothing else.</p>'
        '<h2 id="art_2">Article 2</h2><h3 id="art_2__para_1">First</h3><p>Water is to boil before tea is brewed.</p>'
        '<h2 id="art_3">Article 3</h2><p>Milk is not tea, whatever is said of it.</p>',
    )


LAWS = LocalSite({"/tea": law("The tea act", TEA, TWICE), "/other": law("Another act", TWICE)})


def test_a_law_is_found_and_cut_to_a_part(settings: Settings) -> None:
    async def work() -> None:
        async with Corpus.open(settings, LAWS) as corpus:
            for path in ("tea", "other"):
                await corpus.add(f"{SITE}/{path}")
            async with corpus.database.connection() as connection:
                url = await page_of_law(connection, LegalIdentifier(TEA))
                assert url == f"{SITE}/tea"
                now = await page_at(corpus.database, url, AsOf.parse("2010"), "valid")
                assert now.certainty == "certain"
                assert now.version_id is not None
                assert now.text is not None
                start, end = await part_of(connection, now.version_id, now.text, "art2")
                assert now.text[start:end].startswith("## Article 2")
                assert now.text[start:end].rstrip().endswith("before tea is brewed.")
                start, end = await part_of(connection, now.version_id, now.text, "art_3")
                assert now.text[start:end].startswith("## Article 3")
                assert end == len(now.text)
                with pytest.raises(InvalidInputError, match="no part art9"):
                    await part_of(connection, now.version_id, now.text, "art9")
                with pytest.raises(InvalidInputError, match="no stored page"):
                    await page_of_law(connection, LegalIdentifier("urn:nir:none"))
                with pytest.raises(InvalidInputError, match="several pages"):
                    await page_of_law(connection, LegalIdentifier(TWICE))

    asyncio.run(work())
