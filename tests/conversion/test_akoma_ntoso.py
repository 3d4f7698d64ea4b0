"""Legal texts in Akoma Ntoso: what stands in the Markdown, what is stated beside it, and what is refused."""

from __future__ import annotations

import json
import re
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from webrag_core.acquisition.acquirer import AcquiredPage
from webrag_core.acquisition.legal_xml import AKOMA_NTOSO, is_akoma_ntoso
from webrag_core.conversion.akoma_ntoso import akoma_ntoso_to_html
from webrag_core.conversion.convert import convert_page
from webrag_core.conversion.converted_page import ConvertedPage
from webrag_core.errors import FetchError, Reason

ACT = Path(__file__).parent / "data" / "us_act_112-61.akn.xml"
URL = "https://law.example/akn/us/act/2011-11-29/112-61"
NOW = datetime.now(UTC)


def convert(body: bytes) -> ConvertedPage:
    headers = {"content-type": AKOMA_NTOSO}
    return convert_page(AcquiredPage(URL, URL, 200, headers, body, NOW, bytes_raw=len(body)))


def law(body: str, meta: str = "") -> bytes:
    """A small act."""
    return (
        '<?xml version="1.0" encoding="utf-8"?><akomaNtoso xmlns="http://docs.oasis-open.org/legaldocml/ns/akn/3.0">'
        f"<act><meta>{meta}</meta><body>{body}</body></act></akomaNtoso>"
    ).encode()


def statements(body: bytes) -> dict[str, Any]:
    """The JSON-LD of the page."""
    found = re.search(r'<script type="application/ld\+json">(.*?)</script>', akoma_ntoso_to_html(body).decode())
    assert found is not None
    answer: dict[str, Any] = json.loads(found[1])
    return answer


def test_a_real_act_is_read_with_its_sections_numbers_and_links() -> None:
    page = convert(ACT.read_bytes())
    assert page.title == "America's Cup Act of 2011"
    assert page.language == "en"
    assert page.published == datetime(2011, 11, 29, tzinfo=UTC)
    assert "\n## SEC. 2. DEFINITIONS.\n\nIn this Act:\n\n(1) 34th america's cup." in page.markdown
    assert "\n(C) is not a ferry (as defined under section 2101(10b) of title 46, United States Code);" in page.markdown
    assert page.links[0].target_url == "https://law.example/akn/us/usc/eng/main"
    for words in ("palmirani", "maritimeLaw", "Date of Commencement"):  # metadata is no text
        assert words not in page.markdown


def test_what_an_act_says_about_itself_is_handed_on() -> None:
    stated = statements(ACT.read_bytes())
    assert stated["@type"] == "Legislation"
    assert stated["@id"] == "/akn/us/act/2011-11-29/112-61/eng@"
    assert stated["legislationIdentifier"] == ["/akn/us/act/2011-11-29/112-61", "/eli/us/xxx"]
    assert (stated["legislationDate"], stated["validFrom"]) == ("2011-11-29", "2011-11-29")


def test_what_an_act_changes_and_when_it_ends() -> None:
    meta = (
        '<lifecycle><eventRef date="2014-07-17" type="generation"/><eventRef date="2016-12-31Z" type="repeal"/>'
        "</lifecycle><analysis><activeModifications><textualMod><destination href='/akn/uk/act/2000/23/main#sec_11'/>"
        "<destination href='#qtext_1'/></textualMod></activeModifications></analysis>"
    )
    stated = statements(law("<section><num>1</num><content><p>Some words.</p></content></section>", meta))
    assert stated["validThrough"] == "2016-12-31"
    assert stated["legislationChanges"] == [{"@type": "Legislation", "@id": "/akn/uk/act/2000/23/main"}]


def test_numbers_notes_quotes_and_tables() -> None:
    body = """
    <article eId="art_1"><num>Art. 1.</num><heading>Aim<authorialNote><p>as amended</p></authorialNote></heading>
      <paragraph><num>1.</num><content><p>Tea is <b>green</b>.<authorialNote><p>See annex</p></authorialNote></p>
      </content></paragraph>
      <paragraph><num>2.</num><list><intro><p>It holds:</p></intro>
        <point><num>a)</num><content><p>water, replaced by
        <mod><quotedText startQuote="«" endQuote="»">leaves</quotedText></mod>;</p></content></point></list></paragraph>
      <paragraph><num>3.</num><content><p>The following is added:<mod><quotedStructure><article><num>Art. 9.</num>
        <content><p>No milk.</p></content></article></quotedStructure></mod></p></content></paragraph>
      <paragraph><content><table><tr><th><p>Kind</p></th><th><p>Degrees</p></th></tr><tr><td><p>Green</p></td>
        <td><p>80</p></td></tr></table></content></paragraph>
    </article>"""
    text = convert(law(body)).markdown
    assert "## Art. 1. Aim\n\n1\\. Tea is **green**. [See annex]\n\n2\\. It holds:\n\na) water" in text
    assert "a) water, replaced by «leaves»" in text
    assert "3\\. The following is added:\n> Art. 9. No milk." in text
    assert "| Kind | Degrees |\n| --- | --- |\n| Green | 80 |" in text


def test_components_are_part_of_the_document() -> None:
    body = (
        b"<akomaNtoso><documentCollection><preface><p>Three documents.</p></preface></documentCollection>"
        b"<components><component><doc><mainBody><p>The annex.</p></mainBody></doc></component></components>"
        b"</akomaNtoso>"
    )
    assert "Three documents.\n\nThe annex." in convert(body).markdown


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        (b"<akomaNtoso><act>", Reason.PARSE_FAILURE),
        (b"<other><act/></other>", Reason.PARSE_FAILURE),
        (b"<akomaNtoso/>", Reason.PARSE_FAILURE),
        (law("<list>" * 300 + "<p>deep</p>" + "</list>" * 300), Reason.PARSE_FAILURE),
        (law("<list>" * 5_000 + "<p>deep</p>" + "</list>" * 5_000), Reason.PARSE_FAILURE),
        (b"<akomaNtoso>" + b" " * 20_000_000 + b"</akomaNtoso>", Reason.TOO_LARGE),
        (law(""), Reason.EMPTY_PAGE),
    ],
)
def test_what_is_no_legal_text_is_refused(body: bytes, reason: Reason) -> None:
    with pytest.raises(FetchError) as caught:
        convert(body)
    assert caught.value.reason is reason


def test_entities_and_files_are_not_read(tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text("geheim")
    doctype = f'<!DOCTYPE akomaNtoso [<!ENTITY file SYSTEM "{secret.as_uri()}">]>'
    body = f"{doctype}<akomaNtoso><act><body><p>Three plain words &file; more</p></body></act></akomaNtoso>"
    text = convert(body.encode()).markdown
    assert "Three plain words" in text
    assert "geheim" not in text


def test_a_bomb_of_entities_costs_its_page_alone() -> None:
    laughs = "".join(f'<!ENTITY e{n} "{f"&e{n - 1};" * 10 if n else "ha"}">' for n in range(12))
    body = f"<!DOCTYPE akomaNtoso [{laughs}]><akomaNtoso><act><p>Three plain words &e11;</p></act></akomaNtoso>"
    with pytest.raises(FetchError) as caught:
        convert(body.encode())
    assert caught.value.reason is Reason.PARSE_FAILURE


def test_markup_in_a_name_stays_text() -> None:
    meta = '<identification><FRBRWork><FRBRuri value="&lt;/script&gt;&lt;b&gt;x"/></FRBRWork></identification>'
    body = law("<section><num>1</num><heading>&lt;script&gt;</heading><p>Three plain words.</p></section>", meta)
    assert b"</script><b>" not in akoma_ntoso_to_html(body)
    assert statements(body)["legislationIdentifier"] == ["</script><b>x"]


def test_the_kind_of_xml_is_told_by_its_root() -> None:
    assert is_akoma_ntoso(ACT.read_bytes())
    assert is_akoma_ntoso(b"<an:akomaNtoso xmlns:an='x'>")
    assert not is_akoma_ntoso(b"<rss><akomaNtosoLike/></rss>")
