"""Small digits keep their value: cents, minutes, fractions, exponents, ordinals and notes."""

from __future__ import annotations

import pytest

from webrag_core.conversion.html import convert_html


def line(html: str, language: str = "en") -> str:
    page = f"<html lang={language}><body><main><p>Words before it.</p><p>{html}</p></main></body></html>"
    return (
        convert_html(page.encode(), url="https://site.example/").markdown.removeprefix("Words before it.\n\n").strip()
    )


@pytest.mark.parametrize(
    ("language", "html", "expected"),
    [
        ("de", "Lampe: 12<sup>99</sup> €", "Lampe: 12,99 €"),
        ("de", "Lampe: 12<sup>,99</sup> €", "Lampe: 12,99 €"),
        ("de", "<span>49</span><sup>90</sup><span>€</span>", "49,90€"),
        ("de", "1.299<sup>00</sup> EUR", "1.299,00 EUR"),
        ("de-CH", "CHF 12<sup>50</sup>", "CHF 12.50"),
        ("pl", "19<sup>99</sup> zł", "19,99 zł"),
        ("fr", "19<sup>99 €</sup>", "19,99 €"),
        ("en", "$19<sup>99</sup>", "$19.99"),
        ("de", "<sup>$</sup>19<sup>99</sup>", "$19.99"),
        ("en", "1,299<sup>00</sup> USD", "1,299.00 USD"),
        ("en", "<b>£</b> <b>5</b><sup>05</sup> each", "**£** **5**.05 each"),
        ("en", "<span itemprop=price>12<sup>99</sup></span>", "12.99"),
        ("en", "$19<small>99</small>", "$19.99"),
        ("en", "<span class=price-whole>12</span><span class=price-cents>99</span>", "12.99"),
        ("en", "65<sup>00</sup>", "65.00"),
    ],
)
def test_cents_have_the_mark_of_the_language(language: str, html: str, expected: str) -> None:
    assert line(html, language) == expected


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        ("9<sup>30</sup> bis 18<sup>00</sup> Uhr", "9:30 bis 18:00 Uhr"),
        ("von 8<sup>15</sup>-12<sup>45</sup>", "von 8:15-12:45"),
        ("um 7<sup>05</sup>", "um 7:05"),
        ("17<sup>30</sup> h", "17:30 h"),
        ("8<sup>30</sup> to 5 p.m.", "8:30 to 5 p.m."),
    ],
)
def test_minutes_are_minutes(html: str, expected: str) -> None:
    assert line(html, "de") == expected


@pytest.mark.parametrize(
    ("language", "html", "expected"),
    [
        ("en", "m<sup>2</sup>, 20 m<sup>2</sup>, 10<sup>6</sup>, x<sup>2</sup>", "m^2, 20 m^2, 10^6, x^2"),
        ("en", "2<sup>32</sup> addresses, 10<sup>12</sup> USD", "2^32 addresses, 10^12 USD"),
        ("en", "2<sup>10</sup>, 2<sup>16</sup> or 2<sup>20</sup>", "2^10, 2^16 or 2^20"),
        ("en", "2<sup>15</sup> to 2<sup>30</sup>", "2^15 to 2^30"),
        ("en", "about 60 feet<sup>2</sup>, 9 inch<sup>3</sup>", "about 60 feet^2, 9 inch^3"),
        ("en", "10<sup>-12</sup> €", "10^-12 €"),
        ("en", "speed<sup>2</sup>", "speed^2"),
        ("fr", "le 1<sup>er</sup> et la 2<sup>e</sup>, n<sup>o</sup> 7", "le 1er et la 2e, no 7"),
        ("es", "1<sup>a</sup> 3<sup>o</sup> 4<sup>ta</sup>", "1a 3o 4ta"),
        ("de", "§ 12<sup>a</sup>, § 5<sup>bis</sup>", "§ 12a, § 5bis"),
        ("en", "2<sup>a</sup> and 3<sup>nd</sup>", "2^a and 3nd"),
        ("en", "Note<sup>1</sup> and other<sup>2</sup> words", "Note[1] and other[2] words"),
        ("en", "costs 5<sup><a href=#n12>12</a></sup> €", "costs 5[12] €"),
        ("en", "2<sup>1</sup>/<sub>2</sub> cups, <sup>3</sup>&frasl;<sub>4</sub> cup", "2 1/2 cups, 3/4 cup"),
        ("en", "a 1<sup>1/2</sup> inch pipe, 2<sup>1/2</sup> = 1.41", "a 1 1/2 inch pipe, 2^(1/2) = 1.41"),
    ],
)
def test_exponents_ordinals_notes_and_fractions(language: str, html: str, expected: str) -> None:
    assert line(html, language) == expected


@pytest.mark.slow
@pytest.mark.parametrize(
    "html",
    ["9<sup>30</sup>" * 20_000, "<b></b>" * 20_000 + "9<sup>30</sup>", "1<sup>99" * 200, "<sup>1</sup>/" * 9_000],
)
def test_hostile_digits_end_well(html: str) -> None:
    assert "9" in line(html) or "1" in line(html)
