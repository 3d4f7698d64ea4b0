"""Conversion of real pages: nothing that matters is lost."""

from __future__ import annotations

import asyncio
import re
from collections import Counter

import lxml.html
import pytest

from benchmarks.corpus.conversion import headings, headings_of
from tests.conftest import FROZEN_SITE
from webrag_core.acquisition.warc import WarcAcquirer
from webrag_core.conversion.html import convert_html
from webrag_core.indexing.chunker import chunk_markdown

SITE = "https://docs.python.org/3.11/"
PAGES = """
    contents.html faq/programming.html glossary.html howto/annotations.html howto/descriptor.html
    howto/regex.html howto/unicode.html library/asyncio-task.html library/asyncio.html library/codecs.html
    library/contextlib.html library/datetime.html library/functions.html library/itertools.html
    library/re.html library/sqlite3.html library/statistics.html library/turtle.html reference/datamodel.html
    reference/expressions.html reference/grammar.html tutorial/classes.html tutorial/floatingpoint.html
    using/windows.html whatsnew/3.11.html
"""
CODE = re.compile(r"^ *```.*?^ *```$|`[^`\n]*`", re.DOTALL | re.MULTILINE)
RELATIVE_LINK = re.compile(r"\]\((?!<?https?://)")
LINK = re.compile(r"\[((?:[^\[\]\\]|\\.)*)\]\([^)\s]*\)")


@pytest.fixture(scope="module")
def site() -> WarcAcquirer:
    return WarcAcquirer(FROZEN_SITE)


def inked(text: str) -> str:
    return "".join(text.split())


def words(text: str) -> str:
    """Text without white space and Markdown marks."""
    return re.sub(r"[\s`*_\\¶]", "", LINK.sub(r"\1", LINK.sub(r"\1", text)))


@pytest.mark.slow
@pytest.mark.parametrize("path", PAGES.split())
def test_code_terms_and_headings_survive(site: WarcAcquirer, path: str) -> None:
    page = asyncio.run(site.fetch(SITE + path))
    converted = convert_html(page.body, url=page.final_url)
    [main] = lxml.html.document_fromstring(page.body.decode()).xpath("//*[@role='main']")
    verbatim, plain = inked(converted.markdown), words(converted.markdown)
    for pre in main.iter("pre"):
        code = inked(pre.text_content())
        for prompt in pre.xpath("descendant::span[@class='gp'][not(starts-with(normalize-space(), '>>>'))]"):
            prompt.drop_tree()
        assert code in verbatim or inked(pre.text_content()) in verbatim
    for term in main.iter("dt"):
        assert words(term.text_content()) in plain
    assert headings(converted.markdown) == Counter(headings_of(main))  # none lost, and none made of running text
    assert "¶" not in converted.markdown
    assert not RELATIVE_LINK.search(CODE.sub("", converted.markdown))
    assert converted.title
    assert all(link.target_url.startswith(("http://", "https://")) for link in converted.links)


@pytest.mark.parametrize("path", PAGES.split()[3::6])
def test_chunks_of_real_pages(site: WarcAcquirer, path: str) -> None:
    page = asyncio.run(site.fetch(SITE + path))
    text = convert_html(page.body, url=page.final_url).markdown
    parents = chunk_markdown(text, parent_max=1000, child_target=256)
    assert all(parent.token_count <= 1000 for parent in parents)
    assert all(child.token_count <= 256 for parent in parents for child in parent.children)
    assert inked("".join(text[parent.char_start : parent.char_end] for parent in parents)) == inked(text)
