"""Queries made out of a site's structure: what of it is used, what is dropped, and the same ones every time."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from evals.sites.generation import ideas_of
from evals.sites.packing import write_warc
from evals.walks.site_map import SiteMap, key_of, read_site

BASE = "https://docs.example/"
PAGE = """<html><head><title>3.1. Printer Setup — Manual</title></head><body>
<h1>3.1. Printer Setup</h1><p>The printer setup tells the system which devices there are on the desk.</p>
<h2>3.1.1. Setting Up your Printer¶</h2><p>Read this. To set up your printer, plug it in and wait for its lamp.</p>
<h2>Paper Sizes</h2><p>Nothing on this topic is known to us at the time of writing.</p>
<h2>Ink Cartridges</h2><p>The ink cartridges have to be replaced by the owner of the machine.</p>
<h2>Introduction</h2><p>This introduction is long enough to be the quote of something.</p>
<dl><dt>print.copies</dt><dd>How many sheets come out of it. The default is 4.</dd>
<dt>print.colour</dt><dd>Whether ink of several colours is used for a page. The default value is false.</dd>
<dt>mdns_timeout (default: 30s)</dt><dd>Seconds.</dd>
<dt>print.address</dt><dd>Where the printer is looked for. The default is 228.0.0.4 here.</dd>
<dt>copies</dt><dd>A word that is no name of a setting. The default is 7.</dd></dl></body></html>"""


@pytest.fixture
def site(tmp_path: Path) -> SiteMap:
    (tmp_path / "a.html").write_text(PAGE)
    write_warc(tmp_path / "site.warc.gz", [(f"{BASE}a.html", tmp_path / "a.html")])
    return asyncio.run(read_site(tmp_path / "site.warc.gz"))


def test_titles_headings_and_definitions_become_queries(site: SiteMap) -> None:
    ideas = {(idea.style, idea.query): idea.quote for idea in ideas_of(key_of(f"{BASE}a.html"), site)}
    sentence = "The printer setup tells the system which devices there are on the desk."
    assert ideas == {
        ("navigational", "printer setup"): sentence,
        ("keywords", "printer setup"): sentence,
        ("how_to", "How do I set up my printer?"): "To set up your printer, plug it in and wait for its lamp.",
        ("keywords", "ink cartridges"): "The ink cartridges have to be replaced by the owner of the machine.",
        ("numeric", "What is the default of print.copies?"): ("How many sheets come out of it. The default is 4."),
        ("yes_no", "Is print.colour on by default?"): (
            "Whether ink of several colours is used for a page. The default value is false."
        ),
        ("numeric", "What is the default of mdns_timeout?"): "mdns_timeout (default: 30s)",
    }
